"""What a comparison has found, as data: `report/narrate` has the words of each sort."""

from __future__ import annotations

import re
from collections.abc import Mapping

NARRATED: Mapping[str, bool] = {"narrated": True}
"""Metadata of a field of values that JSON has in words alone: the data of the same stand elsewhere in it."""
OMITTED: Mapping[str, bool] = {"omitted": True}
"""Metadata of a field that JSON does not have, as it has the same elsewhere, or in words."""


class Fact:
    """Something that is told in words: numbers, names and kinds. Its class is its `kind`."""

    @property
    def kind(self) -> str:
        """The name of its class in small letters: `not_complete`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()
