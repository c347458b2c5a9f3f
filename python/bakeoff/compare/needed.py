"""What an answer would still take: so many blocks and hours, up to a day; beyond that noise is told as noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median_low

from bakeoff.compare.power_time import block_times
from bakeoff.report.narrate import wording
from bakeoff.stats import Decision, PairedRatio, blocks_for_equivalence
from bakeoff.store.records import RunRecord
from bakeoff.thresholds import BLOCKS_MAX

FARTHEST = 20.0  # logarithm of a ratio that is told
HOUR_S, DAY_S = 3600.0, 86400.0
# Margins in % that may be accepted instead, and how many times the blocks that were measured may then be needed in all.
MARGINS = (2, 3, 5, 7, 10, 15, 20, 30, 50)
ACCEPTED_TIMES = 2
NO_NUMBER = "no reasonable number of blocks would settle it"

BlocksAt = Callable[[float], int | None]
"""Blocks in all that settle a question with this margin (0.05 = 5 %) if the ratio seen is the true one; None: none."""


def block_lengths_s(runs: Mapping[str, RunRecord]) -> dict[str, float]:
    """By run of one folder, or of one file, the median of what its blocks took, s; NaN where no run tells."""
    times = block_times(runs)
    return {name: median_low(own) if (own := times[name]) else math.nan for name in runs}


def needed(decision: Decision, seen: PairedRatio, delta: float, alpha: float, block_s: float) -> tuple[Decision, str]:
    """An inconclusive `decision` with the blocks that would settle it, None for more than a day's or a run can have,
    and the end of a sentence. `alpha` is the level of one test of the family, `block_s` may be NaN. Of any other
    decision nothing is told.
    """
    if decision.outcome != "inconclusive":
        return decision, ""
    size = math.expm1(min(abs(seen.log_mean), FARTHEST))
    if seen.by_signs or not seen.log_sd > 0.0 or not math.isfinite(seen.log_sd):
        # Of who lost trials nobody knows by how much, so that no spread is noise.
        more = fitting(decision.more_blocks, seen.blocks, block_s)
        return replace(decision, more_blocks=more), NO_NUMBER if more is None else blocks_words(more, block_s)

    def equal(margin: float) -> int | None:
        return blocks_for_equivalence(seen.log_sd, margin, abs(seen.log_mean), alpha)

    equals = blocks_for_equivalence(seen.log_sd, delta, 0.0, alpha) if size < delta else None
    more, words = blocks_or_noise(
        decision.more_blocks, seen.blocks, seen.log_sd, max(delta, size), block_s, equal, equals
    )
    return replace(decision, more_blocks=more), words


def blocks_or_noise(
    more: int | None,
    blocks: int,
    log_sd: float,
    margin: float,
    block_s: float,
    blocks_at: BlocksAt,
    equals: int | None = None,
) -> tuple[int | None, str]:
    """Of a question about `margin`, after so many `blocks` that differ by `log_sd`, the `more` that answer it in words,
    or why no number is told. `equals` is how many blocks in all equal contenders would need: where those are few it is
    not the noise that is too much, the ratio is too near to the margin.
    """
    if (fits := fitting(more, blocks, block_s)) is not None:
        return fits, blocks_words(fits, block_s)
    accepted = _accepted(blocks, margin, blocks_at)
    if equals is not None and equals <= ACCEPTED_TIMES * blocks:
        instead = "" if accepted is None else f": accept {wording.percent(accepted)}"
        return None, f"the ratio is too near to {wording.percent(margin)} for any reasonable number of blocks{instead}"
    instead = "" if accepted is None else f", or accept {wording.percent(accepted)}"
    far = f"{_spread(log_sd)}; for {wording.percent(margin)} that is {_far(more, block_s)}"
    return None, f"{far}: quiet the machine{instead}"


def fitting(more: int | None, blocks: int, block_s: float) -> int | None:
    """`more` blocks after `blocks`, None where a run cannot have them or a day is too short for them."""
    return more if more is not None and more + blocks <= BLOCKS_MAX and not more * block_s > DAY_S else None


def blocks_words(more: int, block_s: float) -> str:
    """ "about 9 more blocks (45 minutes) needed"."""
    took = "" if math.isnan(block_s) else f" ({duration(more * block_s)})"
    return f"about {wording.plural(more, 'more block', 'more blocks')}{took} needed"


def _spread(log_sd: float) -> str:
    apart = math.exp(min(log_sd, FARTHEST))
    return f"blocks differ {f'{apart:,.0f}-fold' if apart >= 2.0 else f'by {wording.percent(apart - 1.0)}'} here"


def _far(more: int | None, block_s: float) -> str:
    """ "26 hours", where that is what is too much."""
    if more is None or not more * block_s > DAY_S:
        return f"more than the {BLOCKS_MAX:,} blocks that a run can have"
    return duration(more * block_s)


def _accepted(blocks: int, beyond: float, blocks_at: BlocksAt) -> float | None:
    """The smallest margin above `beyond` with which twice the blocks that were measured would be enough."""
    for margin in (percent / 100.0 for percent in MARGINS if percent / 100.0 > beyond):
        needed_then = blocks_at(margin)
        if needed_then is not None and needed_then <= ACCEPTED_TIMES * blocks:
            return margin
    return None


def duration(seconds: float) -> str:
    """ "40 s", "25 minutes", "26 hours", "12 days"."""
    for unit, length_s, below_s in (("s", 1.0, 120.0), ("minutes", 60.0, 2 * HOUR_S), ("hours", HOUR_S, 4 * DAY_S)):
        if seconds < below_s:
            return f"{math.ceil(seconds / length_s):,} {unit}"
    return f"{math.ceil(seconds / DAY_S):,} days"
