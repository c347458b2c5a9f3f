"""Rows that were calculated from others of a table: totals and means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bakeoff.audit.checks.laws import expected
from bakeoff.audit.checks.parts import COUNTED
from bakeoff.audit.facts import OutOfBounds, WrongSum
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Interval, sum_over
from bakeoff.audit.repairs import repairs
from bakeoff.audit.table import Column, Place, Table
from bakeoff.formats.foreign.bulk.figures import Listed
from bakeoff.formats.foreign.headings import summary_of
from bakeoff.formats.foreign.table import ForeignRow, ForeignValue

TOTALS, AVERAGES = "totals", "averages"
# Of these a sum means nothing, and rows do not bound the one of all.
ADDED = ("bytes/s", "operations/s", "bytes", "count", "none")


Load: TypeAlias = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class _Measured:
    """The known figures of one metric, in the order of their lines."""

    lines: npt.NDArray[np.int64]
    figures: Interval

    def sets(self, line: int, before: int) -> list[Interval]:
        """Two and more figures that a row may have been calculated from: since the last one like it, all above it, all.
        They are views: of many rows none is copied.
        """
        first, end = (int(at) for at in np.searchsorted(self.lines, (before + 1, line)))
        chosen = (self.figures[part] for part in (slice(first, end), slice(0, end), slice(None)))
        return [rows for rows in chosen if len(rows) > 1]


def check(tables: Sequence[Table], given: Given) -> Iterator[Outcome]:
    """Of each contender in each file."""
    groups: dict[tuple[str, str], list[Table]] = {}
    for table in tables:
        if table.summaries:
            groups.setdefault((table.file, table.contender), []).append(table)
    for (file, _), group in groups.items():
        found = {TOTALS: list[Finding](), AVERAGES: list[Finding]()}
        checked = dict.fromkeys(found, 0)
        measured: dict[tuple[str, Load], _Measured] = {}
        before = _lines_before(group[0].summaries)
        for row in group[0].summaries:
            key = AVERAGES if summary_of(row.part) == "mean" else TOTALS
            load = tuple(sorted((name, value.value) for name, value in row.load.items()))
            for name, value in row.values.items():
                if key == TOTALS and value.unit.quantity not in ADDED:
                    continue
                if (name, load) not in measured:
                    measured[name, load] = _measured(group, row, name)
                sets = measured[name, load].sets(row.line, before[row.line])
                if not sets:
                    continue
                checked[key] += 1
                found[key] += _finding(file, row, Column(name, Listed((value,))), value, sets, key)
        for key, findings in found.items():
            yield Outcome(key, file, checked[key], tuple(findings))


def _lines_before(summaries: Sequence[ForeignRow]) -> dict[int, int]:
    """The line of the calculated row before each, 0 before the first."""
    lines = sorted({row.line for row in summaries})
    return dict(zip(lines, (0, *lines), strict=False))


def _measured(group: Sequence[Table], row: ForeignRow, name: str) -> _Measured:
    """The figures of a metric at the load of a calculated row."""
    of = [
        (one.line, float(low), float(high))
        for table in group
        if (column := table.columns.get(name)) is not None
        for one, low, high in zip(table.rows, column.base.low, column.base.high, strict=True)
        if one.line > 0 and low == low and high == high and _same_load(one, row)
    ]
    lines, low, high = zip(*sorted(of), strict=True) if of else ((), (), ())
    return _Measured(np.array(lines, dtype=np.int64), Interval.of(low, high))


def _same_load(one: ForeignRow, row: ForeignRow) -> bool:
    """Whether a row is of the load that is stated of the calculated one, as at the head of its column."""
    return all(name in one.load and one.load[name].value == value.value for name, value in row.load.items())


def _finding(
    file: str, row: ForeignRow, column: Column, value: ForeignValue, sets: Sequence[Interval], key: str
) -> Iterator[Finding]:
    own = column.base[0]
    if any(bool(made.meets(own)) for rows in sets for made in _allowed(rows, column, row)):
        return
    first = _allowed(sets[0], column, row)[0] * (1 / value.unit.factor)
    place = Place(file, value.line, " ".join(filter(None, (row.contender, row.part))), value.heading, value.number.text)
    mended = repairs(value.number.text, float(first.low), float(first.high))
    low, high = float(sets[0].low.min()), float(sets[0].high.max())
    within = bool(Interval.of(low, high).meets(own))
    missing = float(first.middle - column.printed.middle[0])
    fact = WrongSum(key, expected(column, first), len(sets[0]), missing)
    if key == AVERAGES and not within:
        scale = value.unit.factor
        yield Finding(key, "impossible", (place,), OutOfBounds(low / scale, high / scale, len(sets[0])), "certain")
    else:
        # A mean may weigh its rows.
        yield Finding(key, "off" if key == AVERAGES else "impossible", (place,), fact, "likely", mended)


def _allowed(rows: Interval, column: Column, row: ForeignRow) -> list[Interval]:
    """What the figure may be: of a total the sum, of a rate also one of all the time; else one of the means."""
    total, number = sum_over(rows), len(rows)
    if summary_of(row.part) == "mean":
        return [total * (1 / number), *_other_means(rows)]
    within = Interval.of(rows.low.min(), rows.high.max())
    return [total] if column.name in COUNTED else [total, within]


def _other_means(rows: Interval) -> Iterator[Interval]:
    """The geometric and the harmonic mean, where all are above 0."""
    if rows.low.min() > 0:
        yield Interval.of(np.exp(np.log(rows.low).mean()), np.exp(np.log(rows.high).mean()))
        yield Interval.of(1 / (1 / rows.low).mean(), 1 / (1 / rows.high).mean())
