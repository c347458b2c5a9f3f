"""Parts against the whole: counts and rates add up, means lie between, the extremes are those of a part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bakeoff.audit.checks.laws import expected
from bakeoff.audit.facts import OutOfBounds, WrongSum
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Interval, sum_of
from bakeoff.audit.repairs import repairs
from bakeoff.audit.table import Column, Table
from bakeoff.formats.foreign.table import (
    BYTES,
    BYTES_IN,
    BYTES_OUT,
    ERRORS,
    MAXIMUM,
    MEAN,
    MINIMUM,
    OPERATIONS,
    RATE,
    REQUESTS,
    THROUGHPUT,
)

KEY, SHARES = "parts", "shares"
COUNTED = (OPERATIONS, REQUESTS, ERRORS, BYTES, BYTES_IN, BYTES_OUT)
RATES = (RATE, THROUGHPUT)
# Rates of parts are each over a time of its own.
RATE_TOLERANCE = 0.01
# Tools print parts and their whole at moments that differ.
APART = 0.01
TOTALS = ("", "total", "sum", "all", "overall", "aggregated")
# Shares that add up to within so many points of 100 are meant to be all.
NEAR_ALL = 8.0


def check(tables: Sequence[Table], given: Given) -> Iterator[Outcome]:
    """Of each contender in each file, load by load."""
    groups: dict[tuple[str, str], list[Table]] = {}
    for table in tables:
        groups.setdefault((table.file, table.contender), []).append(table)
    for (file, _), group in groups.items():
        wholes = [table for table in group if _is_whole(table)]
        parts = [table for table in group if not _is_whole(table)]
        if len(wholes) == 1 and len(parts) > 1:
            yield _parts_outcome(file, wholes[0], parts)
        if len(parts) > 2:
            yield _shares(file, parts)


def _is_whole(table: Table) -> bool:
    return table.part.strip().lower() in TOTALS


def _parts_outcome(file: str, whole: Table, parts: Sequence[Table]) -> Outcome:
    checked, findings, together = 0, [], _together(whole, parts)
    for column in whole.measured:
        pairs = list(_rows(together, column, parts))
        checked += len(pairs)
        if column.name in (*COUNTED, *RATES):
            findings += _sums(whole, column, pairs)
        elif column.name in (MEAN, MINIMUM, MAXIMUM):
            findings += _between(whole, column, pairs)
    return Outcome(KEY, file, checked, tuple(findings))


def _together(whole: Table, parts: Sequence[Table]) -> list[tuple[int, list[int]]]:
    """Each row of the whole with those of all parts at that load; one that a part has no row for is left out."""
    at = [{row.where(): place for place, row in enumerate(part.rows)} for part in parts]
    loads = [(place, row.where()) for place, row in enumerate(whole.rows)]
    return [(place, [rows[load] for rows in at]) for place, load in loads if all(load in rows for rows in at)]


def _rows(
    together: Sequence[tuple[int, list[int]]], column: Column, parts: Sequence[Table]
) -> Iterator[tuple[int, Interval]]:
    """Each row of the whole with the numbers of all parts at that load; rows of which one states none are left out."""
    if not all(column.name in part.columns for part in parts):
        return
    for place, places in together:
        if not column.known[place]:
            continue
        values = [part.columns[column.name].base[one] for part, one in zip(parts, places, strict=True)]
        low = np.array([float(value.low) for value in values])
        if not np.isnan(low).any():
            yield place, Interval.of(low, [float(value.high) for value in values])


def _sums(whole: Table, column: Column, pairs: Sequence[tuple[int, Interval]]) -> list[Finding]:
    sums = [(place, sum_of([parts[at] for at in range(len(parts))])) for place, parts in pairs]
    rough = RATE_TOLERANCE if column.name in RATES else 0.0
    wrong = [
        (place, total, len(parts))
        for (place, total), (_, parts) in zip(sums, pairs, strict=True)
        if not bool(total.widened(rough * np.abs(total.middle)).meets(column.base[place]))
    ]
    # Where most do not add up the parts are not all of it, or a part stands in several.
    if 2 * len(wrong) > len(sums) and not (whole.exact and column.name in COUNTED):
        return []
    return [_wrong_sum(whole, column, *one) for one in wrong]


def _wrong_sum(whole: Table, column: Column, place: int, total: Interval, parts: int) -> Finding:
    scale = float(column.factors[place])
    wanted = total * (1 / scale)
    missing = float(total.middle - column.base.middle[place]) / scale
    mended = repairs(column.text(place), float(wanted.low), float(wanted.high))
    fact = WrongSum(KEY, expected(column, wanted), parts, missing)
    return Finding(KEY, "impossible", (whole.place(column, place),), fact, "certain", mended)


def _between(whole: Table, column: Column, pairs: Sequence[tuple[int, Interval]]) -> list[Finding]:
    found = []
    for place, parts in pairs:
        low = float(parts.low.min()) if column.name != MAXIMUM else float(parts.low.max())
        high = float(parts.high.max()) if column.name != MINIMUM else float(parts.high.min())
        own = column.base[place]
        beyond = float(own.high) < low * (1 - APART) or float(own.low) > high * (1 + APART)
        if beyond:
            scale = float(column.factors[place])
            fact = OutOfBounds(low / scale, high / scale, len(parts))
            found.append(Finding(KEY, "impossible", (whole.place(column, place),), fact, "certain"))
    return found


def _shares(file: str, parts: Sequence[Table]) -> Outcome:
    """Shares of all parts at one load that are nearly 100 % must be 100 %."""
    checked, findings = 0, []
    names = [name for name, column in parts[0].columns.items() if column.unit.name in ("%", "percent")]
    together = _together(parts[0], parts) if names else []
    for name in names:
        column = parts[0].columns[name]
        for place, all_of_it in _rows(together, column, parts):
            total = sum_of([all_of_it[at] for at in range(len(all_of_it))]) * 100.0
            checked += 1
            near = abs(float(total.middle) - 100.0) <= NEAR_ALL
            if near and not bool(total.meets(100.0)):
                missing = 100.0 - float(total.middle)
                exactly = expected(column, Interval.of(100.0))
                fact = WrongSum(SHARES, exactly, len(parts), missing)
                findings.append(Finding(SHARES, "impossible", (parts[0].place(column, place),), fact))
    return Outcome(SHARES, file, checked, tuple(findings))
