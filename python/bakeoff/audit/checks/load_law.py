"""N = X · (R + Z) over the load steps: clients, rate, response time and the pause that a table implies.

Source: J. D. C. Little, A Proof for the Queuing Formula L = λW, 1961; for a closed loop with a pause Z, P. J. Denning
and J. P. Buzen, 1978.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bakeoff.audit.checks.laws import expected
from bakeoff.audit.facts import ImpliedPause, TooManyInFlight, WrongPause
from bakeoff.audit.finding import Finding, Grade, Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Bools, Floats, Interval, most_common
from bakeoff.audit.product import suspect
from bakeoff.audit.table import Column, Table, sessions
from bakeoff.formats.foreign.table import DEPTH, ERRORS, MEAN, OFFERED, OPERATIONS, RATE

KEY = "load-law"
# How far a law of means may be off by the edges of a window, and from where on that cannot be.
TOLERANCE = 0.02
RED = 0.10
FEWEST = 4
MOST_ROWS = 0.6


@dataclass(frozen=True)
class _Law:
    """The columns, and what rows have in common."""

    clients: Column
    rate: Column
    response: Column
    errors: Column | None
    operations: Column | None

    @property
    def in_flight(self) -> Interval:
        return self.rate.base * self.response.base

    @property
    def checked(self) -> Bools:
        """Where all are stated. Times of what failed are not in the response time, and spoil the law."""
        stated = self.clients.known & self.rate.known & self.response.known & (self.rate.base.low > 0)
        if self.errors is None:
            return stated
        done = np.zeros_like(self.rate.base.low) if self.operations is None else TOLERANCE * self.operations.base.low
        return stated & ~(self.errors.base.low > np.where(np.isnan(done), 0.0, done))


def check(table: Table, given: Given) -> Iterator[Outcome]:
    """The pause of most rows, and rows that have another one, or more on their way than there are clients."""
    clients, rate = sessions(table), table.columns.get(RATE)
    response = table.columns.get(MEAN) or table.columns.get("response time")
    if clients is None or rate is None or response is None or {OFFERED, DEPTH} & table.columns.keys():
        return
    law = _Law(clients, rate, response, table.columns.get(ERRORS), table.columns.get(OPERATIONS))
    if int(law.checked.sum()):
        yield _outcome(table, law)


def _outcome(table: Table, law: _Law) -> Outcome:
    checked = law.checked
    number = int(checked.sum())
    per_client = _per_client(law)
    # One typed row that has twice its clients on their way may have half of those that there were.
    alone = per_client > 1 and number == 1 and not table.exact
    per_client = 1 if alone else per_client
    pauses = law.clients.base * float(per_client) / law.rate.base - law.response.base
    slack = TOLERANCE * law.clients.base.middle * per_client / law.rate.base.middle
    loose = pauses.widened(slack)
    pause, times = most_common(loose[checked])
    common = times >= max(FEWEST, MOST_ROWS * number)
    if common:
        pause = _tightest(pauses, loose, checked, pause)
    if abs(pause) <= float(np.nanmin(slack)) or (common and bool((loose.meets(0.0) & checked).sum() >= times)):
        pause = 0.0
    findings: list[Finding] = []
    wrong = checked & ~loose.meets(pause) if common else np.zeros_like(checked)
    crowded = checked & Interval.of((law.clients.base.high * per_client) * (1 + TOLERANCE)).is_below(law.in_flight)
    for row in map(int, np.flatnonzero(wrong | crowded)):
        found = _finding(table, law, row, pause if common else None, per_client, bool(crowded[row]))
        findings.append(replace(found, grade="off", sure="possible") if alone else found)
    shows: tuple[ImpliedPause, ...] = ()
    if common:
        fit = checked & ~wrong
        ends = (float(np.max(pauses.low[fit], initial=-np.inf)), float(np.min(pauses.high[fit], initial=np.inf)))
        shows = (ImpliedPause(pause, min(ends), max(ends), per_client, number, int(fit.sum())),)
    return Outcome(KEY, table.file, number, tuple(findings), shows)


def _per_client(law: _Law) -> int:
    """How many requests a client has on their way, when most rows show that it is more than one."""
    at_once = (law.in_flight / law.clients.base).middle[law.checked]
    usual = float(np.median(at_once))
    return max(1, round(usual)) if usual > 1 + RED and abs(usual / max(1, round(usual)) - 1) <= TOLERANCE else 1


def _tightest(pauses: Interval, loose: Interval, checked: Bools, pause: float) -> float:
    """The median of the pauses that agree."""
    agree = checked & loose.meets(pause)
    return float(np.median(pauses.middle[agree]))


def _finding(table: Table, law: _Law, row: int, pause: float | None, per_client: int, crowded: bool) -> Finding:
    clients, rate, response = law.clients, law.rate, law.response
    z = pause or 0.0
    asked, sent, took = clients.base[row] * float(per_client), rate.base[row], response.base[row]
    wanted = [
        (rate, _near(asked / (took + z) / float(rate.factors[row]))),
        (response, _near((asked / sent - z) / float(response.factors[row]))),
    ]
    who = suspect(table, row, wanted)
    rest = [column for column in (clients, rate, response) if column is not who.column]
    places = tuple(table.place(column, row) for column in (who.column, *rest))
    flight, stated = float((sent * took).middle), float(asked.middle)
    off = abs((flight + float(sent.middle) * z) / stated - 1.0)
    grade: Grade = "impossible" if crowded or off > RED else "off"
    if pause is None:
        return Finding(KEY, grade, places, TooManyInFlight(flight, stated), "certain")
    own = float((asked / sent - took).middle)
    fact = WrongPause(own, z, flight, stated, expected(who.column, who.expected))
    return Finding(KEY, grade, places, fact, "certain" if crowded else "likely", who.repairs)


def _near(interval: Interval) -> Interval:
    """With what the edges of a window may change."""
    by: Floats = TOLERANCE * np.abs(interval.middle)
    return interval.widened(by)
