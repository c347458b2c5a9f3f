"""What all tables of a paper file have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from bakeoff.plan.input.messages import did_you_mean


class StrictTable(BaseModel):
    """A table of which every key is known."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def known(fields: Mapping[str, str], *others: str) -> Callable[[Any], Any]:
    """Refuses keys that are none of `fields` and none of `others`."""

    def check(given: Any) -> Any:
        for key in given if isinstance(given, dict) else ():
            if key not in fields and key not in others:
                raise ValueError(f"unknown key {key!r}: {did_you_mean(key, (*fields, *others))}")
        return given

    return check
