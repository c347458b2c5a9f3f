"""A file of results as the checks read it: for each contender and part columns of printed numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

import numpy as np

from bakeoff.audit.interval import Bools, Floats, Interval
from bakeoff.audit.smooth import Curve, curve_along
from bakeoff.core.units import format_binary
from bakeoff.formats.foreign.bulk.figures import Figures, Listed, first_alike
from bakeoff.formats.foreign.bulk.rows import BlockRows
from bakeoff.formats.foreign.table import CLIENTS, DURATION, ForeignRow, ForeignTable
from bakeoff.formats.foreign.units import Unit

# In whole numbers, one by one: their digits are all there are.
COUNTS = ("operations", "requests", "replies", "errors", "clients", "connections")


@dataclass(frozen=True)
class Place:
    """Where a number stands: the `line` of `file` from 1, its row and heading in words, and its digits."""

    file: str
    line: int
    row: str
    heading: str
    text: str
    column: int = 0


@dataclass(frozen=True)
class Column:
    """The figures of one metric, or one load, down the rows of a table; `cells` are None where there is none.

    `printed` are the digits as they stand; `base` is that in bytes, seconds and a second. A tool that makes percentiles
    of a histogram knows them no better than by the `share` and the `apart` (in base units) of its bins.
    """

    name: str
    cells: Figures
    is_load: bool = False
    share: float = 0.0
    apart: float = 0.0

    @cached_property
    def printed(self) -> Interval:
        """In the unit that is printed. Counts are exact."""
        value = self.cells.value
        if self.is_load or self.is_set:
            return Interval.of(value)
        exact = self.cells.integer if self.name in COUNTS else np.zeros(len(value), dtype=bool)
        return Interval(np.where(exact, value, self.cells.low), np.where(exact, value, self.cells.high))

    @cached_property
    def is_set(self) -> bool:
        """Whether it is a duration that somebody chose: the same whole number everywhere, of several rows."""
        if self.name != DURATION or len(self.cells) < 2:
            return False
        known = ~np.isnan(self.cells.value)
        return len(np.unique(self.cells.codes[known])) == 1 and bool(self.cells.integer[known].all())

    @cached_property
    def cut(self) -> Interval:
        """The printed digits as they are where a tool left the others out instead of rounding."""
        half = (self.printed.high - self.printed.low) / 2
        return Interval(self.printed.low, self.printed.high + half)

    @property
    def factors(self) -> Floats:
        """From the printed unit to the base of its quantity."""
        return self.cells.factors

    @cached_property
    def base(self) -> Interval:
        """In bytes, seconds, a second, shares."""
        return self._binned(self.printed * Interval.of(self.factors))

    @cached_property
    def base_cut(self) -> Interval:
        """The same, where digits were left out."""
        return self._binned(self.cut * Interval.of(self.factors))

    def _binned(self, value: Interval) -> Interval:
        return value.widened(self.apart + self.share * np.abs(value.middle)) if self.share or self.apart else value

    @cached_property
    def known(self) -> Bools:
        """Where there is a number."""
        return self.printed.known

    @cached_property
    def unit(self) -> Unit:
        """The unit of the first number."""
        return self.cells.unit

    def letters(self, row: int) -> float:
        """By how much a number is more than its digits: 1,024 of the size `4` where rows are KiB."""
        cell = self.cells[row]
        if cell is None or not self.is_load:
            return 1.0
        try:
            return cell.number.value / float(cell.number.text)
        except (ValueError, ZeroDivisionError):
            return 1.0

    def words(self, row: int) -> str:
        """A number as one says it: `6232.9 IOPS`, `32 KiB`."""
        cell = self.cells[row]
        if cell is None:
            return ""
        if self.is_load and cell.unit.quantity == "bytes":
            return format_binary(cell.value)
        return f"{cell.number.text} {cell.unit.name}".strip()

    @cached_property
    def heading(self) -> str:
        """What the file calls it."""
        return self.cells.heading or self.name

    def text(self, row: int) -> str:
        """The digits of a number as they stand; empty where there is none."""
        cell = self.cells[row]
        return "" if cell is None else cell.number.text

    @cached_property
    def decimals(self) -> int:
        """The most digits that stand behind a point."""
        return int(self.cells.decimals.max(initial=0))


@dataclass(frozen=True)
class Table:
    """What one file has of one contender and one `part` of the work ("" for all of it).

    `exact` tables are printed by a program that calculates columns from each other, so that they must fit. `summaries`
    are the rows of the contender, of all parts, that were calculated from others; `changes` those of the file that say
    how much a row is more or less than another.
    """

    file: str
    contender: str
    part: str
    rows: Sequence[ForeignRow]
    columns: Mapping[str, Column]
    exact: bool = False
    stated: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    summaries: tuple[ForeignRow, ...] = ()
    changes: tuple[ForeignRow, ...] = ()

    @property
    def measured(self) -> tuple[Column, ...]:
        """The columns of what was measured."""
        return tuple(column for column in self.columns.values() if not column.is_load)

    @property
    def loads(self) -> tuple[Column, ...]:
        """The columns of what was chosen."""
        return tuple(column for column in self.columns.values() if column.is_load)

    @cached_property
    def axis(self) -> Column | None:
        """The load that is another one in each row; None without any."""
        return next((column for column in self.loads if column.name != "block" and _differ(column)), None)

    @cached_property
    def curves(self) -> Mapping[str, Curve | None]:
        """What was measured along the axis, by column; None where that is too little. Rows with other loads besides are
        on other curves: that of most rows is it.
        """
        if self.axis is None:
            return {}
        where = self.axis.base.low
        if besides := [load.cells.codes for load in self.loads if load is not self.axis]:
            like = first_alike(besides)
            where = np.where(like == np.argmax(np.bincount(like)), where, np.nan)
        return {column.name: curve_along(where, column.base.middle) for column in self.measured}

    def place(self, column: Column, row: int) -> Place:
        """Where a number stands."""
        cell = column.cells[row]
        of = self.rows[row]
        own = self.contender if self.contender != PurePath(self.file).stem else ""
        name = " ".join(filter(None, (own, self.part)))
        where = ", ".join(filter(None, (name, of.where())))
        if cell is None:
            return Place(self.file, of.line, where, column.heading, "")
        return Place(self.file, cell.line, where, column.heading, cell.number.text, cell.column)


def tables_of(foreign: ForeignTable, exact: bool = False) -> Iterator[Table]:
    """The tables of a file, in its order."""
    for of in _groups(foreign.rows):
        columns = {name: Column(name, cells, True) for name, cells in of.load.items()}
        columns |= {name: Column(name, cells, False, *_bins(foreign.format, name)) for name, cells in of.values.items()}
        own = tuple(row for row in foreign.summaries if row.contender == of.contender)
        of_file = (foreign.stated, foreign.lines, own, foreign.changes)
        yield Table(foreign.path, of.contender, of.part, of.rows, columns, exact, *of_file)


@dataclass(frozen=True)
class _Group:
    """The rows of one contender and part, and their figures."""

    contender: str
    part: str
    rows: Sequence[ForeignRow]
    load: Mapping[str, Figures]
    values: Mapping[str, Figures]


def _groups(rows: Sequence[ForeignRow]) -> Iterator[_Group]:
    if isinstance(rows, BlockRows):
        yield from (_Group(of.contender, of.part, of, of.load, of.values) for of in rows.blocks)
        return
    groups: dict[tuple[str, str], list[ForeignRow]] = {}
    for row in rows:
        groups.setdefault((row.contender, row.part), []).append(row)
    for key, own in groups.items():
        loads = dict.fromkeys(name for row in own for name in row.load)
        values = dict.fromkeys(name for row in own for name in row.values)
        yield _Group(
            *key,
            own,
            {name: Listed([row.load.get(name) for row in own]) for name in loads},
            {name: Listed([row.values.get(name) for row in own]) for name in values},
        )


# How coarse percentiles of a format are: as a share, and in seconds.
BINS = {
    "fio": (0.02, 0.0),
    "locust": (0.05, 0.0005),
    "httperf": (0.0, 0.0006),
    "hdr": (0.01, 0.0),
    "bakeoff": (0.01, 0.0),
}


def _bins(format_name: str, metric: str) -> tuple[float, float]:
    is_percentile = re.search(r"(?:^| )p\d", metric) is not None
    return BINS.get(format_name, (0.0, 0.0)) if is_percentile else (0.0, 0.0)


def sessions(table: Table) -> Column | None:
    """How many ask at once."""
    return table.columns.get(CLIENTS)


def _differ(column: Column) -> bool:
    """Whether no two rows have the same number."""
    known = column.printed.low[column.known]
    return len(known) > 1 and len(known) == len(column.cells) and len(np.unique(known)) == len(known)
