"""Sizes of files relative to the memory of the server: `2x`, resolved to bytes as the plan is read.

A plan stores the bytes: what a run did does not depend on how it was written.
"""

import math
import re
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo

from bakeoff.core.units import LARGEST
from bakeoff.plan.settings.fields import Size, is_resolved

_FACTOR = re.compile(r"([0-9]{1,40}(?:\.[0-9]{1,40})?)\s*[x×]")


def _relative(value: Any, info: ValidationInfo) -> Any:
    """Bytes of `1.5x`, rounded up; anything else as it is. Raises ValueError without the server's memory."""
    factor = _FACTOR.fullmatch(value.strip()) if isinstance(value, str) and not is_resolved(info) else None
    if factor is None:
        return value
    memory = info.data.get("server_memory")  # a field of FileSettings, and so read before those of a kind
    if memory is None:
        raise ValueError(
            f"{value!r} is relative to the memory of the server, which is not known: give --server-memory 16GiB, "
            'too (in a plan file server_memory = "16GiB"), or a size in bytes'
        )
    wanted = math.ceil(Fraction(factor[1]) * memory)
    if wanted == 0:
        raise ValueError(f"{value!r} is nothing: write a factor above 0, such as 1.5x")
    return _parsed(value, wanted)


def _on_ladder(value: Any, info: ValidationInfo) -> Any:
    """As `_relative`, and up to the next size that doubling file_min comes to: not less than was asked for."""
    wanted, smallest = _relative(value, info), info.data.get("file_min")
    if wanted is value or smallest is None:
        return wanted
    steps = (math.ceil(Fraction(wanted, smallest)) - 1).bit_length()
    return _parsed(value, smallest << steps)


def _parsed(text: str, count: int) -> int:
    if count > LARGEST:
        raise ValueError(f"{text!r} of the server's memory is larger than any file: write a smaller factor")
    return count


RelativeSize = Annotated[Size, BeforeValidator(_relative)]
LadderSize = Annotated[Size, BeforeValidator(_on_ladder)]
