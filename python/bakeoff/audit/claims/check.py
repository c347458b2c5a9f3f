"""Claims against all readings of the tables: which one reproduces each, and which claims none does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bakeoff.audit.claims.claim import Claim
from bakeoff.audit.claims.reading import Reading, readings
from bakeoff.audit.finding import Finding, Grade, Outcome
from bakeoff.audit.interval import Interval
from bakeoff.audit.table import Place, Table
from bakeoff.compare.model.fact import Fact
from bakeoff.formats.foreign.printed import printed
from bakeoff.formats.foreign.table import ERRORS, RATE, THROUGHPUT

KEY = "claims"
Rounding = Literal["nearest", "cut", "up"]
# What is right by the digits may be so for any number when these leave so many points open.
WIDE_POINTS = 3.0
TIMES = ("mean", "response time")


@dataclass(frozen=True)
class Reproduced(Fact):
    """A claim that a reading gives: the likeliest, of so many `others` that do, too."""

    file: str
    line: int
    claim: str
    number: str
    reading: Reading
    rounding: Rounding
    others: int


@dataclass(frozen=True)
class OtherBase(Fact):
    """A claim that is right on another base than its words say: `is_less` where it says more and means less."""

    claim: str
    number: str
    reading: Reading
    right_low: float
    right_high: float


@dataclass(frozen=True)
class OtherQuantity(Fact):
    """A claim that a reading gives, of which another load would be more, or less, than it says it is at most or at
    least.
    """

    claim: str
    number: str
    quantity: str
    reading: Reading
    extreme: Reading


@dataclass(frozen=True)
class NoneFits(Fact):
    """No reading gives the claim; the nearest one, and from where to where all are."""

    claim: str
    number: str
    nearest: Reading
    low: float
    high: float


@dataclass(frozen=True)
class TooFewDigits(Fact):
    """The digits of the table leave the claim open, from `low` to `high`."""

    claim: str
    number: str
    reading: Reading


@dataclass(frozen=True)
class NotInTables(Fact):
    """A claim about what no table has."""

    file: str
    line: int
    claim: str
    number: str


def check_claims(claims: Sequence[Claim], tables: Sequence[Table]) -> Iterator[Outcome]:
    """An outcome for each file with claims."""
    cache: dict[tuple[float | None, float | None], list[Reading]] = {}
    for file in dict.fromkeys(claim.file for claim in claims):
        findings, shows, checked = [], [], 0
        for claim in (one for one in claims if one.file == file):
            key = (claim.low_load, claim.high_load)
            if key not in cache:
                cache[key] = [one for one in readings(tables, *key) if np.isfinite((one.low, one.high)).all()]
            result = _judged(claim, _of_claim(claim, cache[key]))
            checked += not isinstance(result, NotInTables)
            if isinstance(result, Finding):
                findings.append(result)
            else:
                shows.append(result)
        yield Outcome(KEY, file, checked, tuple(findings), tuple(shows))


def _of_claim(claim: Claim, found: Sequence[Reading]) -> list[Reading]:
    """The readings of the names, the form and the metric of a claim. People call a rate a throughput, too."""
    own = [
        one
        for one in found
        if (one.base == "times") == claim.times and all(name in (one.better, one.worse) for name in claim.names[:2])
    ]
    if claim.metric in TIMES:
        return [one for one in own if one.lower_is_better and one.metric != ERRORS]
    same = [one for one in own if claim.metric in ("", one.metric)]
    return same or [one for one in own if {claim.metric, one.metric} == {RATE, THROUGHPUT}]


def _judged(claim: Claim, found: Sequence[Reading]) -> Finding | Fact:
    """What is to be said of a claim."""
    if not found:
        return NotInTables(claim.file, claim.line, claim.text, claim.number)
    place = Place(claim.file, claim.line, "", "claim", claim.number + ("×" if claim.times else " %"))
    fits = [(rounding, one) for one in found if (rounding := _rounding(claim.number, one)) is not None]
    if not fits:
        return _unfit(claim, place, found)
    rounding, best = min(fits, key=lambda one: _rank(claim, one[1], one[0]))
    if best.high - best.low > max(WIDE_POINTS, 3 * _ulp(claim.number)) and not claim.times:
        return Finding(KEY, "off", (place,), TooFewDigits(claim.text, claim.number, best), "certain")
    stated = _stated(claim, best)
    if stated is not None and best.base not in (stated, "times"):
        right = _on(stated, best)
        fact: Fact = OtherBase(claim.text, claim.number, best, *right)
        return Finding(KEY, "off", (place,), fact, "likely")
    if (extreme := _beyond(claim, best, found)) is not None:
        fact = OtherQuantity(claim.text, claim.number, claim.quantity, best, extreme)
        return Finding(KEY, "impossible", (place,), fact, "likely")
    return Reproduced(claim.file, claim.line, claim.text, claim.number, best, rounding, len(fits) - 1)


def _stated(claim: Claim, reading: Reading) -> Literal["ratio", "reduction"] | None:
    """The base that the words say: less of a time is a reduction, more of a rate a ratio."""
    if claim.direction == "less":
        return "reduction"
    return "ratio" if claim.direction == "more" else None


def _on(base: str, reading: Reading) -> tuple[float, float]:
    """The same gain on the other base, in percent."""
    ends = Interval.of(reading.low, reading.high) * 0.01
    one = Interval.of(1.0)
    other = one - one / (one + ends) if base == "reduction" else one / (one - ends) - 1.0
    return float(other.low) * 100, float(other.high) * 100


def _beyond(claim: Claim, best: Reading, found: Sequence[Reading]) -> Reading | None:
    """The single load that is beyond what a claim says is the most, or the least."""
    same = [
        one
        for one in found
        if one.mean == "each"
        and (one.better, one.worse, one.metric, one.base) == (best.better, best.worse, best.metric, best.base)
    ]
    room = _ulp(claim.number)
    if claim.quantity == "at most":
        most = max(same, key=lambda one: one.low, default=None)
        return most if most is not None and most.low > float(claim.number) + room else None
    if claim.quantity == "at least":
        least = min(same, key=lambda one: one.high, default=None)
        return least if least is not None and least.high < float(claim.number) - room else None
    return None


def _unfit(claim: Claim, place: Place, found: Sequence[Reading]) -> Finding:
    """No reading fits: impossible where the number is beyond all of them."""
    ahead = [one for one in found if one.high > 0 or claim.times]
    number = float(claim.number)
    nearest = min(ahead or found, key=lambda one: max(one.low - number, number - one.high))
    low = min(one.low for one in ahead or found)
    high = max(one.high for one in ahead or found)
    beyond = number > high + _ulp(claim.number) or number < low - _ulp(claim.number)
    grade: Grade = "impossible" if beyond or claim.names else "off"
    fact = NoneFits(claim.text, claim.number, nearest, max(low, 0.0), high)
    return Finding(KEY, grade, (place,), fact, "certain" if beyond else "likely")


def _rounding(number: str, reading: Reading) -> Rounding | None:
    """How the value became the number that stands there; None where it did not."""
    value, own = printed(number), Interval.of(reading.low, reading.high)
    half = (value.high - value.low) / 2
    if bool(own.meets(Interval.of(value.low, value.high))):
        return "nearest"
    if bool(own.meets(Interval.of(value.value, value.high + half))):
        return "cut"
    return "up" if bool(own.meets(Interval.of(value.low - half, value.value))) else None


def _ulp(number: str) -> float:
    value = printed(number)
    return value.high - value.low


def _rank(claim: Claim, reading: Reading, rounding: Rounding) -> tuple[int, ...]:
    """The likelier reading has the smaller rank: as the words say, of all loads, rounded to the nearest."""
    stated = _stated(claim, reading)
    wanted = {"mean": ("arithmetic", "sums", "geometric", "harmonic")}.get(claim.quantity, ("each", "peak"))
    return (
        int(bool(claim.names) and reading.better != claim.names[0] and claim.direction == "more"),
        int(stated is not None and reading.base not in (stated, "times")),
        wanted.index(reading.mean) if reading.mean in wanted else len(wanted),
        ("nearest", "cut", "up").index(rounding),
        int(not reading.whole),
    )
