"""What an answer would still take: so many blocks and hours, up to a day; beyond that noise is told as noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import median_low
from typing import Literal

from bakeoff.compare.model.fact import Fact
from bakeoff.compare.planning.power_time import block_times
from bakeoff.core.thresholds import BLOCKS_MAX
from bakeoff.stats import Decision, PairedRatio, blocks_for_equivalence
from bakeoff.store.records.run_records import RunRecord

FARTHEST = 20.0  # logarithm of a ratio that is told
DAY_S = 86_400.0
# Margins in % that may be accepted instead, and how many times the blocks that were measured may then be needed in all.
MARGINS = (2, 3, 5, 7, 10, 15, 20, 30, 50)
ACCEPTED_TIMES = 2

BlocksAt = Callable[[float], int | None]
"""Blocks in all that settle a question with this margin (0.05 = 5 %) if the ratio seen is the true one; None: none."""


@dataclass(frozen=True)
class Needed(Fact):
    """What an answer to a question about `margin` would still take: `fits` are the blocks that settle it, of `block_s`
    each. None where no number of them is told: of losses nobody knows by how much (`log_sd` is NaN), the ratio is too
    near to the margin (`near`), or blocks, that differ by `log_sd`, would be too many: `more`, None for more than a run
    can have. `accepted` is a margin that could be had instead. Holm counts a `family` of `of` where there are others.
    """

    fits: int | None
    block_s: float
    more: int | None = None
    log_sd: float = math.nan
    margin: float = math.nan
    near: bool = False
    accepted: float | None = None
    family: int = 0
    of: Literal["", "pairs", "effects"] = ""


def block_lengths_s(runs: Mapping[str, RunRecord]) -> dict[str, float]:
    """By run of one folder, or of one file, the median of what its blocks took, s; NaN where no run tells."""
    times = block_times(runs)
    return {name: median_low(own) if (own := times[name]) else math.nan for name in runs}


def needed(
    decision: Decision, seen: PairedRatio, delta: float, alpha: float, block_s: float
) -> tuple[Decision, Needed | None]:
    """An inconclusive `decision` with the blocks that would settle it, None for more than a day's or a run can have,
    and what that is. `alpha` is the level of one test of the family, `block_s` may be NaN. Of any other decision
    nothing is needed.
    """
    if decision.outcome != "inconclusive":
        return decision, None
    size = math.expm1(min(abs(seen.log_mean), FARTHEST))
    if seen.by_signs or not seen.log_sd > 0.0 or not math.isfinite(seen.log_sd):
        # Of who lost trials nobody knows by how much, so that no spread is noise.
        more = fitting(decision.more_blocks, seen.blocks, block_s)
        return replace(decision, more_blocks=more), Needed(more, block_s)

    def equal(margin: float) -> int | None:
        return blocks_for_equivalence(seen.log_sd, margin, abs(seen.log_mean), alpha)

    equals = blocks_for_equivalence(seen.log_sd, delta, 0.0, alpha) if size < delta else None
    found = blocks_or_noise(decision.more_blocks, seen.blocks, seen.log_sd, max(delta, size), block_s, equal, equals)
    return replace(decision, more_blocks=found.fits), found


def blocks_or_noise(
    more: int | None,
    blocks: int,
    log_sd: float,
    margin: float,
    block_s: float,
    blocks_at: BlocksAt,
    equals: int | None = None,
) -> Needed:
    """Of a question about `margin`, after so many `blocks` that differ by `log_sd`, the `more` that answer it, or why
    no number is told. `equals` is how many blocks in all equal contenders would need: where those are few it is not the
    noise that is too much, the ratio is too near to the margin.
    """
    fits = fitting(more, blocks, block_s)
    if fits is not None:
        return Needed(fits, block_s)
    near = equals is not None and equals <= ACCEPTED_TIMES * blocks
    return Needed(None, block_s, more, log_sd, margin, near, _accepted(blocks, margin, blocks_at))


def fitting(more: int | None, blocks: int, block_s: float) -> int | None:
    """`more` blocks after `blocks`, None where a run cannot have them or a day is too short for them."""
    return more if more is not None and more + blocks <= BLOCKS_MAX and not more * block_s > DAY_S else None


def _accepted(blocks: int, beyond: float, blocks_at: BlocksAt) -> float | None:
    """The smallest margin above `beyond` with which twice the blocks that were measured would be enough."""
    for margin in (percent / 100.0 for percent in MARGINS if percent / 100.0 > beyond):
        needed_accepting = blocks_at(margin)
        if needed_accepting is not None and needed_accepting <= ACCEPTED_TIMES * blocks:
            return margin
    return None
