"""A file of results as the checks read it: for each contender and part columns of printed numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

import numpy as np

from bakeoff.audit.interval import Bools, Floats, Interval
from bakeoff.audit.smooth import Curve, curve_along
from bakeoff.core.units import format_binary
from bakeoff.formats.foreign.table import CLIENTS, DURATION, ForeignRow, ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import NO_UNIT, Unit

# In whole numbers, one by one: their digits are all there are.
COUNTS = ("operations", "requests", "replies", "errors", "clients", "connections")
NOTHING = (np.nan, np.nan)


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
    cells: tuple[ForeignValue | None, ...]
    is_load: bool = False
    share: float = 0.0
    apart: float = 0.0

    @cached_property
    def printed(self) -> Interval:
        """In the unit that is printed. Counts are exact."""
        ends = [NOTHING if cell is None else self._ends(cell) for cell in self.cells]
        low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        return Interval(low, high)

    def _ends(self, cell: ForeignValue) -> tuple[float, float]:
        number = cell.number
        exact = self.is_load or self.is_set or (self.name in COUNTS and number.text.isdigit())
        return (number.value, number.value) if exact else (number.low, number.high)

    @cached_property
    def is_set(self) -> bool:
        """Whether it is a duration that somebody chose: the same whole number everywhere, of several rows."""
        texts = {cell.number.text for cell in self.cells if cell is not None}
        return self.name == DURATION and len(self.cells) > 1 and len(texts) == 1 and texts.pop().isdigit()

    @cached_property
    def cut(self) -> Interval:
        """The printed digits as they are where a tool left the others out instead of rounding."""
        half = (self.printed.high - self.printed.low) / 2
        return Interval(self.printed.low, self.printed.high + half)

    @cached_property
    def factors(self) -> Floats:
        """From the printed unit to the base of its quantity."""
        return np.array([np.nan if cell is None else cell.unit.factor for cell in self.cells])

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
        return next((cell.unit for cell in self.cells if cell is not None), NO_UNIT)

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
        return next((cell.heading for cell in self.cells if cell is not None and cell.heading), self.name)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The digits as they stand; empty where there are none."""
        return tuple(["" if cell is None else cell.number.text for cell in self.cells])

    @cached_property
    def digits(self) -> tuple[int, ...]:
        """How many significant digits each number has."""
        return tuple(map(significant, self.texts))

    @cached_property
    def decimals(self) -> int:
        """The most digits that stand behind a point."""
        return max((len(text.partition(".")[2]) for text in self.texts), default=0)


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
    rows: tuple[ForeignRow, ...]
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
        besides = [texts_of([one for one in self.loads if one is not self.axis], row) for row in range(len(self.rows))]
        usual = Counter(besides).most_common(1)[0][0]
        where = np.where([one == usual for one in besides], self.axis.base.low, np.nan)
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
    groups: dict[tuple[str, str], list[ForeignRow]] = {}
    for row in foreign.rows:
        groups.setdefault((row.contender, row.part), []).append(row)
    for (contender, part), rows in groups.items():
        loads = dict.fromkeys(name for row in rows for name in row.load)
        values = dict.fromkeys(name for row in rows for name in row.values)
        columns = {name: Column(name, tuple(row.load.get(name) for row in rows), True) for name in loads}
        columns |= {
            name: Column(name, tuple(row.values.get(name) for row in rows), False, *_bins(foreign.format, name))
            for name in values
        }
        own = tuple(row for row in foreign.summaries if row.contender == contender)
        of_file = (foreign.stated, foreign.lines, own, foreign.changes)
        yield Table(foreign.path, contender, part, tuple(rows), columns, exact, *of_file)


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


def significant(text: str) -> int:
    """How many significant digits a printed number has."""
    plain = text.replace(".", "", 1)
    if not (plain.isascii() and plain.isdigit()):
        plain = "".join(filter(str.isdigit, text.partition("e")[0]))
    return len(plain.lstrip("0"))


def sessions(table: Table) -> Column | None:
    """How many ask at once."""
    return table.columns.get(CLIENTS)


def texts_of(columns: Sequence[Column], row: int) -> tuple[str, ...]:
    """The digits of a row."""
    return tuple(column.texts[row] for column in columns)


def _differ(column: Column) -> bool:
    """Whether no two rows have the same number."""
    known = column.printed.low[column.known]
    return len(known) > 1 and len(known) == len(column.cells) and len(np.unique(known)) == len(known)
