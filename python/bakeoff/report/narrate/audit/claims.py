"""Claims and the readings that give them, in words."""

from __future__ import annotations

from collections.abc import Mapping

from bakeoff.audit.claims.check import (
    NoneFits,
    NotInTables,
    OtherBase,
    OtherQuantity,
    Reproduced,
    Rounding,
    TooFewDigits,
)
from bakeoff.audit.claims.reading import Mean, Reading
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence

MEANS: Mapping[Mean, str] = {
    "each": "",
    "peak": "ratio of the peaks",
    "arithmetic": "arithmetic mean of the ratios",
    "geometric": "geometric mean of the ratios",
    "harmonic": "harmonic mean of the ratios",
    "sums": "ratio of the means",
}
ROUNDINGS: Mapping[Rounding, str] = {"nearest": "", "cut": ", with its digits cut", "up": ", rounded up"}


def read_as(reading: Reading) -> str:
    """ "mean of requests/s, nginx over apache, 1 client to 32 clients: 48.8–49.1 %"."""
    first, last = reading.loads
    where = f" at {first}" if first == last and first else f" from {first} to {last}" if first else ""
    mean = f", {MEANS[reading.mean]}" if MEANS[reading.mean] else ""
    return f"{reading.better} against {reading.worse} in {reading.metric}{where}{mean}: {_value(reading)}"


def _value(reading: Reading) -> str:
    low, high = reading.low, reading.high
    if reading.base == "times":
        return f"{_pair(low, high, 3)}×"
    base = "1 − ratio" if reading.base == "reduction" else "ratio − 1"
    return f"{_pair(low, high, 1)} % ({base})"


def _pair(low: float, high: float, decimals: int) -> str:
    """One number where both ends round to it."""
    ends = f"{low:.{decimals}f}", f"{high:.{decimals}f}"
    return ends[0] if ends[0] == ends[1] else f"{ends[0]}–{ends[1]}"


def _quoted(claim: str, number: str) -> str:
    """A claim in quotation marks, short enough to be read."""
    return f"“{claim}”" if len(claim) < 90 else f"“{claim[:80].rsplit(' ', 1)[0]} …”"


@sentence.register
def _(fact: Reproduced) -> str:
    others = (
        f"; so {'does' if fact.others == 1 else 'do'} {wording.plural(fact.others, 'other reading')}"
        if fact.others
        else ""
    )
    return f"{_quoted(fact.claim, fact.number)}: {read_as(fact.reading)}{ROUNDINGS[fact.rounding]}{others}."


@sentence.register
def _(fact: NotInTables) -> str:
    return f"{_quoted(fact.claim, fact.number)}: no table has what it speaks of."


@sentence.register
def _(fact: OtherBase) -> str:
    right = _pair(fact.right_low, fact.right_high, 1)
    words = "percent less" if fact.reading.base == "ratio" else "percent more"
    return (
        f"{_quoted(fact.claim, fact.number)} has another base than its words. {read_as(fact.reading)}. "
        f"In {words} it is {right} %."
    )


@sentence.register
def _(fact: OtherQuantity) -> str:
    return (
        f"{_quoted(fact.claim, fact.number)} is not “{fact.quantity}”. It is {read_as(fact.reading)}. "
        f"Beyond it is {read_as(fact.extreme)}."
    )


@sentence.register
def _(fact: NoneFits) -> str:
    return (
        f"{_quoted(fact.claim, fact.number)}: none fits. The tables give {_pair(fact.low, fact.high, 1)} in all. "
        f"The nearest is {read_as(fact.nearest)}."
    )


@sentence.register
def _(fact: TooFewDigits) -> str:
    return (
        f"{_quoted(fact.claim, fact.number)} has more digits than the table carries. It gives no more than "
        f"{read_as(fact.reading)}."
    )
