"""Blocks that disagree, in words."""

from __future__ import annotations

from bakeoff.compare.cube.spread import RateSpread
from bakeoff.report.narrate import wording


def spread_text(spread: RateSpread, name: str, work: str) -> str:
    """One clause for a verdict or a warning."""
    return (
        f"figures of {name} at {spread.load_step.words} vary {_between(spread)} {work}/s between blocks{_more(spread)}"
    )


def spread_too(spread: RateSpread, name: str) -> str:
    """The same of another contender, after the clause of the first."""
    return f"those of {name} at {spread.load_step.words} {_between(spread)}{_more(spread)}"


def spread_caveat(spread: RateSpread, name: str, work: str) -> str:
    """What a reader of the mean must know: two speeds where one gap is most of the way between the ends."""
    two = spread.gap * spread.gap > spread.factor
    why = "two speeds, whose mean describes neither" if two else "no mean describes such blocks"
    return f"{name} did {_between(spread)} {work}/s at {spread.load_step.words}: {why}"


def _between(spread: RateSpread) -> str:
    return f"from {wording.rate(spread.lowest)} to {wording.rate(spread.highest)}"


def _more(spread: RateSpread) -> str:
    more = spread.load_steps - 1
    return f", and at {wording.plural(more, 'more load step', 'more load steps')} likewise" if more else ""
