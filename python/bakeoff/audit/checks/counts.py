"""Counts: replies and errors are requests, and errors that a rate counts as work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bakeoff.audit.checks.laws import expected
from bakeoff.audit.facts import ErrorsCounted, WrongSum
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Interval
from bakeoff.audit.product import suspect
from bakeoff.audit.table import Column, Table
from bakeoff.formats.foreign.table import DURATION, ERRORS, OPERATIONS, RATE, REQUESTS

KEY, ERRORS_IN = "requests", "errors-in-rate"
# A clock that divides differs by so much.
CLOCK = 1e-3
# A rate that counts so many failed operations as work is worth a word.
ERROR_SHARE = 0.001


def check(table: Table, given: Given) -> Iterator[Outcome]:
    """requests = operations + errors, or operations are all requests and errors a part of them."""
    whole, errors = table.columns.get(REQUESTS), table.columns.get(ERRORS)
    done = table.columns.get(OPERATIONS) or table.columns.get("replies")
    if whole is not None and done is not None and errors is not None:
        yield _sums(table, whole, done, errors)
        yield _rates(table, whole, done, errors)


def _sums(table: Table, whole: Column, done: Column, errors: Column) -> Outcome:
    checked = whole.known & done.known & errors.known
    sums = done.base + errors.base
    apart = sums.meets(whole.base)
    within = done.base.meets(whole.base) & ~errors.base.is_below(0.0) & ~whole.base.is_below(errors.base)
    fits = apart if (checked & apart).sum() >= (checked & within).sum() else within
    findings = []
    for row in map(int, np.flatnonzero(checked & ~fits)):
        if fits is apart:
            wanted = [(whole, sums), (done, whole.base - errors.base), (errors, whole.base - done.base)]
        else:
            wanted = [(whole, done.base), (done, whole.base)]
        findings.append(_finding(table, row, wanted, (whole, done, errors)))
    return Outcome(KEY, table.file, int(checked.sum()), tuple(findings))


def _finding(table: Table, row: int, wanted: list[tuple[Column, Interval]], columns: tuple[Column, ...]) -> Finding:
    possible = [(column, interval) for column, interval in wanted if float(interval.high[row]) >= 0]
    who = suspect(table, row, possible or wanted)
    rest = [column for column in columns if column is not who.column]
    places = tuple(table.place(column, row) for column in (who.column, *rest))
    missing = float(who.expected.middle - who.column.base.middle[row])
    fact = WrongSum(KEY, expected(who.column, who.expected), len(rest), missing)
    return Finding(KEY, "impossible", places, fact, "certain", who.repairs)


def _rates(table: Table, whole: Column, done: Column, errors: Column) -> Outcome:
    """Where the rate is that of all requests, and not of those that were answered."""
    rate, duration = table.columns.get(RATE), table.columns.get(DURATION)
    if rate is None or duration is None:
        return Outcome(ERRORS_IN, table.file)
    checked = rate.known & duration.known & whole.known & done.known & (errors.base.low > 0)
    slack = CLOCK * np.abs(rate.base.middle)
    answered, asked = done.base / duration.base, whole.base / duration.base
    counted = checked & asked.meets(rate.base.widened(slack)) & ~answered.meets(rate.base.widened(slack))
    counted &= errors.base.low > ERROR_SHARE * whole.base.high
    findings = tuple(_counted(table, row, rate, errors, whole, answered) for row in map(int, np.flatnonzero(counted)))
    return Outcome(ERRORS_IN, table.file, int(checked.sum()), findings)


def _counted(table: Table, row: int, rate: Column, errors: Column, whole: Column, answered: Interval) -> Finding:
    values = (errors.base.middle[row], whole.base.middle[row], answered.middle[row], rate.base.middle[row])
    places = tuple(table.place(column, row) for column in (rate, errors, whole))
    return Finding(ERRORS_IN, "off", places, ErrorsCounted(*map(float, values)), "likely")
