"""Regions of a surface that are reported apart: ranges of file size and record size, with a name."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

from bakeoff.core.units import exact_size, parse_size
from bakeoff.plan.settings.fields import Strict, is_resolved

FORM = "write NAME=files<=2MiB,records<=32KiB, with one to four of files<=, files>=, records<= and records>="
_LIMIT = re.compile(r"(files|records)\s*(<=|>=)\s*(\S+)")


class Region(Strict):
    """Cells with files and records of these sizes in bytes; None: no limit on that side."""

    name: str = Field(min_length=1, max_length=40)
    file_least: int | None = None
    file_most: int | None = None
    record_least: int | None = None
    record_most: int | None = None

    @property
    def plan_text(self) -> str:
        """As a plan file has it: what `parse_region` reads."""
        limits = {"files<=": self.file_most, "files>=": self.file_least}
        limits |= {"records<=": self.record_most, "records>=": self.record_least}
        return f"{self.name}=" + ",".join(
            f"{form}{exact_size(size)}" for form, size in limits.items() if size is not None
        )


SMALL_OFFICE = Region(name="small office", file_most=2 << 20, record_most=32 << 10)


def parse_region(text: str) -> Region:
    """The region of `small-office=files<=2MiB,records<=32KiB`. Raises ValueError that shows the form."""
    name, _, limits = text.partition("=")
    bounds: dict[str, Any] = {}
    for part in limits.split(","):
        match = _LIMIT.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a region: {FORM}")
        key = f"{match[1].removesuffix('s')}_{'most' if match[2] == '<=' else 'least'}"
        if key in bounds:
            raise ValueError(f"{text!r} names a limit twice: {FORM}")
        bounds[key] = parse_size(match[3])
    if not re.fullmatch(r"[\w][\w .+-]{0,39}", name.strip()):
        raise ValueError(f"{text!r} is not a region: {FORM}")
    region = Region(name=name.strip(), **bounds)
    for least, most in ((region.file_least, region.file_most), (region.record_least, region.record_most)):
        if least is not None and most is not None and least > most:
            raise ValueError(f"{text!r} is empty: its smallest size is larger than its largest")
    return region


def _regions(value: Any, info: ValidationInfo) -> Any:
    if is_resolved(info):
        return value
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, (str, Region)) for word in words):
        return value
    regions = tuple(word if isinstance(word, Region) else parse_region(word) for word in words)
    names = [region.name for region in regions]
    if len(set(names)) != len(names):
        raise ValueError("regions: give each a name of its own")
    return regions


Regions = Annotated[tuple[Region, ...], BeforeValidator(_regions)]
