"""CSV files of tools, whose columns are known by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.grids.grid import GridRow
from bakeoff.formats.foreign.grids.text import delimited
from bakeoff.formats.foreign.making import RowMaker
from bakeoff.formats.foreign.printed import Rounding
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.units import Unit

Names = Mapping[str, tuple[str, Unit]]


def heading_and_lines(source: Source) -> tuple[GridRow, Sequence[GridRow]]:
    """The first line of a CSV file, and those below it. Raises PlanError where nothing is below it."""
    rows = delimited(source.lines(), ",").rows
    if len(rows) < 2:
        raise PlanError("a heading and lines below it were expected: is all of the file there?")
    return rows[0], rows[1:]


def places(heading: Iterable[str]) -> dict[str, int]:
    """Where each column stands, by its name in small letters."""
    found: dict[str, int] = {}
    for place, name in enumerate(heading):
        found.setdefault(name.strip(" '\t").lower(), place)
    return found


def fill(row: RowMaker, line: GridRow, where: Mapping[str, int], names: Names, rounding: Rounding = "nearest") -> None:
    """Puts the figures of a line into a row, as far as it has them. Raises PlanError for one that is no number."""
    for column, (metric, unit) in names.items():
        place = where.get(column)
        text = "" if place is None else line.cell(place)
        if text and text.lower() not in ("n/a", "-", "nan"):
            row.put(metric, text, unit, line.line, "exact" if unit.quantity in ("count", "bytes") else rounding)
