"""Rows of foreign tables, made number by number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bakeoff.formats.foreign.printed import Printed, Rounding, counted, printed
from bakeoff.formats.foreign.source import refused
from bakeoff.formats.foreign.table import ForeignRow, ForeignValue
from bakeoff.formats.foreign.units import NO_UNIT, Unit


def value_of(
    text: str, unit: Unit, line: int, heading: str = "", column: int = 0, rounding: Rounding = "nearest"
) -> ForeignValue:
    """A printed number. Raises PlanError that names its line; no result is less than 0."""
    try:
        number = printed(text, rounding=rounding)
    except ValueError as error:
        raise refused(line, f"{heading or 'a figure'}: {error}") from None
    if number.value < 0:
        raise refused(line, f"{heading or 'a figure'}: {text[:40]} is less than nothing")
    return ForeignValue(number, unit, line, column, heading)


def json_value(value: Any, unit: Unit, path: str) -> ForeignValue | None:
    """A number of a JSON text, with the digits that it has there; None for anything else, also for less than 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e100:
        return None
    if isinstance(value, int):
        return ForeignValue(Printed(str(value), float(value), float(value), float(value)), unit, 0, 0, path)
    return ForeignValue(printed(repr(value)), unit, 0, 0, path)


def count_of(value: float, unit: Unit, line: int = 0, heading: str = "") -> ForeignValue:
    """A number that the reader made of others, or of many lines."""
    return ForeignValue(counted(float(value)), unit, line, 0, heading)


@dataclass
class RowMaker:
    """A row while it is read."""

    line: int = 1
    contender: str = ""
    part: str = ""
    load: dict[str, ForeignValue] = field(default_factory=dict)
    values: dict[str, ForeignValue] = field(default_factory=dict)

    def put(self, name: str, text: str, unit: Unit, line: int, rounding: Rounding = "nearest") -> None:
        """One metric; what is told twice counts as told first."""
        self.values.setdefault(name, value_of(text, unit, line, name, rounding=rounding))

    def exactly(self, name: str, text: str, unit: Unit, line: int) -> None:
        """One count, which is not rounded."""
        self.put(name, text, unit, line, "exact")

    def of_text(self, name: str, printed: object, unit: Unit, line: int) -> None:
        """One metric, cut to its digits, that a JSON object may hold as text; what it does not hold is left out."""
        if isinstance(printed, str) and printed:
            self.put(name, printed, unit, line, "exact" if unit.quantity in ("count", "bytes") else "down")

    def under(self, name: str, text: str, unit: Unit = NO_UNIT, line: int = 0) -> None:
        """The load."""
        self.load[name] = value_of(text, unit, line, name, rounding="exact")

    def of_json(self, found: Mapping[str, Any], names: Iterable[tuple[str, str, Unit]], path: str = "") -> None:
        """Those of `names` (metric, key, unit) that are numbers in an object."""
        for metric, key, unit in names:
            value = json_value(found.get(key), unit, f"{path}.{key}" if path else key)
            if value is not None:
                self.values.setdefault(metric, value)

    def made(self) -> ForeignRow:
        """The row."""
        return ForeignRow(self.contender, self.load, self.values, self.line, self.part)


def objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a JSON list; none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def inner(value: Any, *keys: str) -> Mapping[str, Any]:
    """The object at a path of keys; an empty one where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
