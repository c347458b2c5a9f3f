"""Why nothing is shown, and what an answer would still take."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bakeoff.compare.estimate.interim import InterimAnalysis
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.verdict.blocks_needed import Needed
from bakeoff.stats import FLIP_ALPHA


@dataclass(frozen=True)
class NextAnalysis(Fact):
    """Nothing is settled before the next planned interim analysis, after so many blocks."""

    blocks: int


@dataclass(frozen=True)
class FlipsFail(Fact):
    """The p value of the sign-flip test over so many blocks is above its level."""

    p: float
    blocks: int
    level: float


@dataclass(frozen=True)
class HolmFails(Fact):
    """The p value of the t test, after Holm over a `family` of `of` ("endpoint"; of 1: no correction), is above its
    level.
    """

    p: float
    family: int
    of: str
    level: float


Why = NextAnalysis | FlipsFail | HolmFails


@dataclass(frozen=True)
class Open:
    """`why` is what a difference did not pass though its interval does not reach 1, `needed` what would settle it;
    either may be missing. `next_blocks` is where the next planned analysis is, `between` says that none is now.
    """

    why: Why | None = None
    needed: Needed | None = None
    next_blocks: int | None = None
    between: bool = False


def why_of(still: Open | None) -> Why | None:
    """What a difference did not pass; None where that is not known, or nothing is open."""
    return None if still is None else still.why


def without_number(still: Open | None) -> Open | None:
    """The same without what would settle it."""
    why = why_of(still)
    return None if why is None else Open(why)


def open_at(interim: InterimAnalysis, why: Why | None, needed: Needed | None) -> Open:
    """What is open at this analysis."""
    return Open(why, needed, interim.next_blocks, interim.between)


def why_open(
    interval: tuple[float, float],
    p_flip: float,
    p_adjusted: float,
    interim: InterimAnalysis,
    family: tuple[int, str],
    blocks: int,
) -> Why | None:
    """The test that speaks against a difference; None where the interval says it: it reaches 1, or there is none.
    `p_adjusted` is the p value of the t test after Holm over a `family` (10, "endpoint"), NaN where none was made.
    """
    low, high = interval
    if math.isnan(low) or math.isnan(high) or low <= 1.0 <= high:
        return None
    if interim.between:
        return None if interim.next_blocks is None else NextAnalysis(interim.next_blocks)
    flips = max(interim.alpha, FLIP_ALPHA)
    if p_flip > flips:
        return FlipsFail(p_flip, blocks, flips)
    if p_adjusted > interim.alpha:
        return HolmFails(p_adjusted, *family, interim.alpha)
    return None
