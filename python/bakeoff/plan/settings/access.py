"""Access specifications: lines of size, share, reads, random, delay, burst, align and reply, as in Iometer.

The shipped ones are in `access.toml`; people bring theirs as Iometer .icf files (bakeoff.formats.importers.file.icf).
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Self, cast

from pydantic import Field, model_validator

from bakeoff.core.errors import PlanError
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.plan.settings.fields import Strict

SIZE_MAX = (1 << 30) - 1
LINES_MAX = 100
NAME_MAX = 128
FIELDS = ("size", "share", "read", "random", "delay_ms", "burst", "align", "reply")
MIB = 1 << 20


class AccessLine(Strict):
    """One line: sizes in bytes, shares in percent. A reply goes the other way in the same transaction."""

    size: int = Field(ge=1, le=SIZE_MAX)
    share: float = Field(ge=0, le=100)
    read: float = Field(ge=0, le=100)
    random: float = Field(ge=0, le=100)
    delay_ms: float = Field(0.0, ge=0, le=3_600_000)
    burst: int = Field(1, ge=1, le=1_000_000)
    align: int = Field(0, ge=0, le=SIZE_MAX)
    reply: int = Field(0, ge=0, le=SIZE_MAX)

    def row(self) -> tuple[float, ...]:
        """The values in the order of FIELDS."""
        return tuple(getattr(self, name) for name in FIELDS)


class AccessSpec(Strict):
    """A named access specification; the shares of its lines sum to 100."""

    name: str = Field(min_length=1, max_length=NAME_MAX, pattern=r"^[^,\r\n\t]+$")
    lines: tuple[AccessLine, ...] = Field(min_length=1, max_length=LINES_MAX)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        total = sum(line.share for line in self.lines)
        if abs(total - 100) > 0.01:
            raise ValueError(f"the shares of {self.name} sum to {total:g}, not to 100 percent")
        return self

    @property
    def size(self) -> int | None:
        """The size of its transfers, bytes, where they all have one."""
        sizes = {line.size for line in self.lines if line.share > 0}
        return sizes.pop() if len(sizes) == 1 else None


def spec_of(name: str, rows: Sequence[Sequence[float]]) -> AccessSpec:
    """A specification of rows in the order of FIELDS; the last four of a row may be left out."""
    table = [dict(zip(FIELDS, row, strict=False)) for row in rows]
    return AccessSpec.model_validate({"name": name, "lines": table})


@cache
def shipped() -> Mapping[str, AccessSpec]:
    """The shipped specifications by name, in the order of the file."""
    text = (files("bakeoff.plan.settings") / "access.toml").read_text(encoding="utf-8")
    tables = cast(list[dict[str, Any]], tomllib.loads(text)["access"])
    return {table["name"]: spec_of(table["name"], table["lines"]) for table in tables}


def find(name: str) -> AccessSpec:
    """A shipped specification; capitals do not matter. Raises PlanError with the nearest name."""
    for known, spec in shipped().items():
        if known.casefold() == name.strip().casefold():
            return spec
    raise PlanError(f"there is no access specification {name!r}: {did_you_mean(name, list(shipped()))}")


PATTERNS: Mapping[str, tuple[float, float]] = {
    "sequential_read": (100, 0),
    "sequential_write": (0, 0),
    "random_read": (100, 100),
    "random_write": (0, 100),
    "mixed": (50, 50),
}


def pattern_spec(pattern: str, size: int, mixed_read: float, mixed_random: float) -> AccessSpec:
    """One block size of one of the five patterns. Random transfers begin at multiples of their size."""
    read, random = (mixed_read, mixed_random) if pattern == "mixed" else PATTERNS[pattern]
    return spec_of(pattern, [(size, 100, read, random, 0, 1, size if random else 0, 0)])
