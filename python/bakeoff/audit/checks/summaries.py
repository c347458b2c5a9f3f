"""Rows that were calculated from others of a table: totals and means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bakeoff.audit.checks.laws import expected
from bakeoff.audit.checks.parts import COUNTED
from bakeoff.audit.facts import OutOfBounds, WrongSum
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Interval, sum_over
from bakeoff.audit.repairs import repairs
from bakeoff.audit.table import Column, Place, Table
from bakeoff.formats.foreign.headings import summary_of
from bakeoff.formats.foreign.table import ForeignRow, ForeignValue

TOTALS, AVERAGES = "totals", "averages"
# Of these a sum means nothing, and rows do not bound the one of all.
ADDED = ("bytes/s", "operations/s", "bytes", "count", "none")


def check(tables: Sequence[Table], given: Given) -> Iterator[Outcome]:
    """Of each contender in each file."""
    groups: dict[tuple[str, str], list[Table]] = {}
    for table in tables:
        if table.summaries:
            groups.setdefault((table.file, table.contender), []).append(table)
    for (file, _), group in groups.items():
        found = {TOTALS: list[Finding](), AVERAGES: list[Finding]()}
        checked = dict.fromkeys(found, 0)
        for row in group[0].summaries:
            key = AVERAGES if summary_of(row.part) == "mean" else TOTALS
            for name, value in row.values.items():
                sets = [rows for rows in _sets(group, row, name) if len(rows) > 1]
                if not sets or (key == TOTALS and value.unit.quantity not in ADDED):
                    continue
                checked[key] += 1
                found[key] += _finding(file, row, Column(name, (value,)), value, sets, key)
        for key, findings in found.items():
            yield Outcome(key, file, checked[key], tuple(findings))


def _sets(group: Sequence[Table], row: ForeignRow, name: str) -> Iterator[Interval]:
    """The figures that a row may have been calculated from: since the last one like it, all above it, all."""
    columns = [(table, table.columns[name]) for table in group if name in table.columns]
    lines = np.array([one.line if _same_load(one, row) else -1 for table, _ in columns for one in table.rows])
    ends = [(column.base.low, column.base.high) for _, column in columns]
    if not ends:
        return
    base = Interval(np.concatenate([low for low, _ in ends]), np.concatenate([high for _, high in ends]))
    before = max((one.line for one in group[0].summaries if one.line < row.line), default=0)
    for chosen in ((lines > before) & (lines < row.line), (lines > 0) & (lines < row.line), lines > 0):
        yield base[chosen & base.known]


def _same_load(one: ForeignRow, row: ForeignRow) -> bool:
    """Whether a row is of the load that is stated of the calculated one, as at the head of its column."""
    return all(name in one.load and one.load[name].value == value.value for name, value in row.load.items())


def _finding(
    file: str, row: ForeignRow, column: Column, value: ForeignValue, sets: Sequence[Interval], key: str
) -> Iterator[Finding]:
    own, wanted = column.base[0], [made for rows in sets for made in _allowed(rows, column, row)]
    if any(bool(made.meets(own)) for made in wanted):
        return
    first = wanted[0] * (1 / value.unit.factor)
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
