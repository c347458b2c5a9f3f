"""Minimum, percentiles, mean and maximum: their order, and what mean and deviation the others allow.

Sources: R. Bhatia, C. Davis, A Better Bound on the Variance, 2000; T. Popoviciu, 1935; P. A. Samuelson, How Deviant Can
You Be?, 1968; C. Mallows, D. Richter, Inequalities of Chebyshev Type Involving Conditional Expectations, 1969.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from bakeoff.audit.facts import Bound, DeviationBeyond, MeanBeyond, TooShort, WrongOrder
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Interval
from bakeoff.audit.repairs import repairs
from bakeoff.audit.table import Column, Table
from bakeoff.formats.foreign.table import DEVIATION, MAXIMUM, MEAN, MINIMUM, OPERATIONS, REQUESTS

_PERCENTILE = re.compile(r"p(\d{1,3}(?:\.\d{1,6})?)")
ORDER, MEANS, DEVIATIONS, TAIL = "order", "mean", "deviation", "percentile-of-few"


def check(table: Table, given: Given) -> Iterator[Outcome]:
    """Of each set of figures of one time: those of whole operations, and of parts such as `connect`."""
    for prefix in _prefixes(table):
        ranks = _ranks(table, prefix)
        if len(ranks) > 1:
            yield _order(table, ranks)
        mean = table.columns.get(prefix + MEAN)
        if mean is not None and ranks:
            yield _order_of_mean(table, mean, ranks)
            yield _mean(table, mean, ranks)
        deviation = table.columns.get(prefix + DEVIATION)
        if deviation is not None:
            yield _deviation(table, deviation, mean, dict(ranks))
        if not prefix:
            yield _tail(table, ranks)


def _prefixes(table: Table) -> tuple[str, ...]:
    found = (re.fullmatch(rf"(.* )?({MINIMUM}|{MEAN}|{MAXIMUM}|{DEVIATION}|p\d.*)", name) for name in table.columns)
    return tuple(dict.fromkeys(one[1] or "" for one in found if one))


def _ranks(table: Table, prefix: str) -> list[tuple[float, Column]]:
    """Columns by the share of operations that are at most so slow."""
    found = []
    for name, column in table.columns.items():
        own = name.removeprefix(prefix) if name.startswith(prefix) else ""
        if own in (MINIMUM, MAXIMUM):
            found.append((0.0 if own == MINIMUM else 1.0, column))
        elif (match := _PERCENTILE.fullmatch(own)) and float(match[1]) <= 100:
            found.append((float(match[1]) / 100, column))
    return sorted(found, key=lambda one: one[0])


def _order(table: Table, ranks: list[tuple[float, Column]]) -> Outcome:
    findings, checked = [], 0
    for (_, lower), (_, upper) in pairwise(ranks):
        both = lower.known & upper.known
        checked += int(both.sum())
        for row in map(int, np.flatnonzero(both & upper.base_cut.is_below(lower.base))):
            findings.append(_disordered(table, ranks, lower, upper, row))
    return Outcome(ORDER, table.file, checked, tuple(findings))


def _disordered(table: Table, ranks: list[tuple[float, Column]], lower: Column, upper: Column, row: int) -> Finding:
    """The one of two that does not fit the others either comes first."""
    columns = [column for _, column in ranks]
    at = columns.index(lower)
    above = min((float(c.base.high[row]) for c in columns[at + 2 :] if c.known[row]), default=np.inf)
    below = max((float(c.base.low[row]) for c in columns[:at] if c.known[row]), default=0.0)
    too_high = float(lower.base.low[row]) > above
    too_low = float(upper.base.high[row]) < below
    first = lower if too_high and not too_low else upper
    least = float(lower.base.low[row]) if first is upper else below
    most = above if first is upper else float(upper.base.high[row])
    scale = float(first.factors[row])
    mended = repairs(first.text(row), least / scale, most / scale) if np.isfinite(most) else ()
    fact = WrongOrder(
        lower.heading, upper.heading, float(lower.base.middle[row]) / scale, float(upper.base.middle[row]) / scale,
        first.unit.name,
    )  # fmt: skip
    second = lower if first is upper else upper
    return Finding(ORDER, "impossible", (table.place(first, row), table.place(second, row)), fact, "certain", mended)


def _order_of_mean(table: Table, mean: Column, ranks: list[tuple[float, Column]]) -> Outcome:
    """The mean is between minimum and maximum."""
    findings, checked = [], 0
    for share, column in ranks:
        if share not in (0.0, 1.0):
            continue
        both = mean.known & column.known
        checked += int(both.sum())
        lower, upper = (column, mean) if share == 0.0 else (mean, column)
        for row in map(int, np.flatnonzero(both & upper.base_cut.is_below(lower.base))):
            scale = float(mean.factors[row])
            values = (float(lower.base.middle[row]) / scale, float(upper.base.middle[row]) / scale)
            fact = WrongOrder(lower.heading, upper.heading, *values, mean.unit.name)
            places = (table.place(mean, row), table.place(column, row))
            findings.append(Finding(ORDER, "impossible", places, fact))
    return Outcome(ORDER, table.file, checked, tuple(findings))


def _mean(table: Table, mean: Column, ranks: list[tuple[float, Column]]) -> Outcome:
    """The mean is at least that of a staircase below the percentiles, and at most that of one above them."""
    low = np.zeros(len(mean.cells))
    high = np.zeros(len(mean.cells))
    at, stands = 0.0, np.zeros(len(mean.cells))
    known = np.zeros(len(mean.cells), dtype=bool)
    for share, column in ranks:
        here = column.known
        value = np.where(here, column.base.low, stands)
        low = low + (share - at) * stands
        high = high + (share - at) * np.where(here, column.base_cut.high, np.inf if share > at else 0.0)
        at, stands, known = share, value, known | here
    low = low + (1.0 - at) * stands
    high = high if at == 1.0 else np.full_like(high, np.inf)
    bounds = Interval.of(low, np.where(np.isnan(high), np.inf, high))
    checked = mean.known & known
    findings = []
    for row in map(int, np.flatnonzero(checked & (mean.base_cut.is_below(bounds) | bounds.is_below(mean.base)))):
        scale = float(mean.factors[row])
        ends = (float(bounds.low[row]) / scale, float(bounds.high[row]) / scale)
        fact = MeanBeyond(*ends, mean.unit.name)
        places = (table.place(mean, row), *(table.place(column, row) for _, column in ranks if column.known[row]))
        mended = repairs(mean.text(row), *ends) if np.isfinite(ends[1]) else ()
        findings.append(Finding(MEANS, "impossible", places, fact, "certain", mended))
    return Outcome(MEANS, table.file, int(checked.sum()), tuple(findings))


def _deviation(table: Table, deviation: Column, mean: Column | None, ranks: dict[float, Column]) -> Outcome:
    """What minimum, maximum, mean, median and count allow."""
    findings, checked = [], 0
    for bound, column_of, limits in _bounds(table, deviation, mean, ranks):
        known = deviation.known & limits.known
        checked += int(known.sum())
        beyond = known & (deviation.base_cut.is_below(limits) | limits.is_below(deviation.base))
        for row in map(int, np.flatnonzero(beyond)):
            scale = float(deviation.factors[row])
            ends = (float(limits.low[row]) / scale, float(limits.high[row]) / scale)
            fact = DeviationBeyond(bound, *ends, deviation.unit.name)
            places = (table.place(deviation, row), *(table.place(column, row) for column in column_of))
            mended = repairs(deviation.text(row), *ends) if np.isfinite(ends[1]) else ()
            findings.append(Finding(DEVIATIONS, "impossible", places, fact, "certain", mended))
    return Outcome(DEVIATIONS, table.file, checked, tuple(findings))


def _bounds(
    table: Table, deviation: Column, mean: Column | None, ranks: dict[float, Column]
) -> Iterator[tuple[Bound, tuple[Column, ...], Interval]]:
    """Each bound with the columns it follows from. Deviations of samples are √(n ÷ (n − 1)) larger than those of all:
    without a count they may be of two.
    """
    smallest, largest, median = ranks.get(0.0), ranks.get(1.0), ranks.get(0.5)
    count = _count(table)
    number = np.full(len(deviation.cells), 2.0) if count is None else np.maximum(count.base.low, 2.0)
    number = np.where(np.isnan(number), 2.0, number)
    sample = np.sqrt(number / (number - 1))
    if smallest is not None and largest is not None:
        half = ((largest.base_cut - smallest.base) * 0.5).high * sample
        yield "popoviciu", (smallest, largest), Interval.of(np.where(np.isnan(half), np.nan, 0.0), half)
        if mean is not None:
            product = (largest.base_cut - mean.base) * (mean.base_cut - smallest.base)
            most = product.square_root().high * sample
            yield "bhatia-davis", (smallest, mean, largest), Interval.of(np.where(np.isnan(most), np.nan, 0.0), most)
    if count is not None and mean is not None:
        for end in filter(None, (smallest, largest)):
            away = end.base - mean.base_cut if end is largest else mean.base - end.base_cut
            least = away.at_least(0.0).low / np.sqrt(np.maximum(count.base.high, 2.0) - 1)
            yield "samuelson", (end, mean, count), Interval.of(least, np.where(np.isnan(least), np.nan, np.inf))
    if median is not None and mean is not None:
        apart = mean.base_cut - median.base
        least = np.maximum(np.maximum(apart.low, -apart.high), 0.0)
        yield "mean-median", (median, mean), Interval.of(least, np.where(np.isnan(least), np.nan, np.inf))


def _count(table: Table) -> Column | None:
    """Of how many operations the times are: those that failed may be among them."""
    return table.columns.get(REQUESTS) or table.columns.get(OPERATIONS)


def _tail(table: Table, ranks: list[tuple[float, Column]]) -> Outcome:
    """Percentiles of fewer operations than one beyond them."""
    count = _count(table)
    if count is None:
        return Outcome(TAIL, table.file)
    findings, checked, reported = [], 0, set[int]()
    for share, column in ranks:
        if not 0.5 < share < 1.0:
            continue
        needed = 1.0 / (1.0 - share)
        known = count.known & column.known
        known[list(reported)] = False  # what the lower one needs and has not
        checked += int(known.sum())
        few = known & (count.base.high > 0) & (count.base.high < needed * (1 - 1e-9))
        for row in map(int, np.flatnonzero(few)):
            reported.add(row)
            fact = TooShort(share, float(count.base.middle[row]), needed)
            places = (table.place(column, row), table.place(count, row))
            findings.append(Finding(TAIL, "off", places, fact, "certain"))
    return Outcome(TAIL, table.file, checked, tuple(findings))
