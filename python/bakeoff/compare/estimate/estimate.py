"""The one estimator: from log-ratios by load step and block to a ratio with its interval, p values and a decision.

Pairs of contenders, effects of factors and capacities are all estimated here; what their verdicts add stands with them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.forfeits import PairLogs
from bakeoff.compare.cube.whole_blocks import WholeBlocks, whole_blocks_of_pair
from bakeoff.compare.estimate.intervals import both_shown
from bakeoff.compare.verdict.blocks_needed import needed
from bakeoff.compare.verdict.why_open import Open, open_at, why_open
from bakeoff.stats import (
    Bands,
    Decision,
    PairedRatio,
    blocks_for_equivalence,
    decide,
    equivalence_p,
    holm,
    ratio_between,
    ratio_by_signs,
    ratio_from_logs,
    simultaneous_bands,
)

if TYPE_CHECKING:
    from bakeoff.compare.validity.gates import Judge

Logs = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A ratio over `whole_blocks` of a curve, and the p value that it lies outside the margin: both before correction
    for others of its family.
    """

    whole_blocks: WholeBlocks
    ratio: PairedRatio
    p_equivalence: float

    @property
    def interval(self) -> tuple[float, float]:
        """That of the ratio as it is printed."""
        return both_shown(self.ratio.low, self.ratio.high, self.ratio.blocks)


def estimate(cube: Cube, outcomes: PairLogs, level: float, delta: float, finest: Logs | None = None) -> Estimate:
    """The weighted mean log-ratio of each block that has all kept load steps, over these blocks. `finest` is what
    trials resolve, of the shape of `outcomes`. Where one side forfeited, only the sign-flip test holds.
    """
    whole_blocks = whole_blocks_of_pair(cube, outcomes)
    settled, steps, whole = outcomes.settled(), whole_blocks.steps, whole_blocks.whole
    has_forfeits = any(bool(side[steps][:, whole].any()) for side in outcomes.forfeited)
    resolution = np.empty(0) if finest is None else whole_blocks.of_whole(finest)
    least = float(resolution.mean()) if resolution.size else 0.0
    if outcomes.bounds is not None:
        low, high = (whole_blocks.of_whole(np.where(np.isfinite(end), end, settled)) for end in outcomes.bounds)
        ratio = ratio_between(low, high, level, has_forfeits, least)
    elif has_forfeits:
        ratio = ratio_by_signs(whole_blocks.of_whole(settled), level)
    else:
        ratio = ratio_from_logs(whole_blocks.of_whole(settled), level, least)
    p = equivalence_p(abs(ratio.log_mean) + ratio.open, ratio.log_sd, ratio.blocks, delta)
    return Estimate(whole_blocks, ratio, p)


def bands_of(outcomes: PairLogs, level: float, finest: Logs | None = None) -> Bands:
    """The ratio at each load step: bands no narrower than what a trial resolves, and as much wider as its bounds leave
    open.
    """
    bands = simultaneous_bands(outcomes.settled(), level)
    low, high = bands.log_low, bands.log_high
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a load step without a pair
        if finest is not None:
            least = np.nan_to_num(np.nanmean(finest, axis=1))
            low, high = np.minimum(low, bands.log_mean - least), np.maximum(high, bands.log_mean + least)
        if outcomes.bounds is not None:
            half = np.nan_to_num(np.nanmean(outcomes.bounds[1] - outcomes.bounds[0], axis=1)) / 2.0
            low, high = low - half, high + half
    return replace(bands, log_low=low, log_high=high)


def corrected(tests: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The p values of difference and of equivalence of each of a family, both after Holm. Of differences the t tests
    are corrected; the sign-flip test is the cross-check of each and is coarse by nature.
    """
    both = np.array([*tests]).reshape(-1, 2)
    return [(float(p), float(q)) for p, q in zip(holm(both[:, 0]), holm(both[:, 1]), strict=True)]


def decided(
    found: Estimate, p: float, q: float, judge: Judge, family: int, what: str, is_interval: bool = False
) -> tuple[Decision, Open]:
    """The decision by corrected p values of difference and equivalence in a `family` of so many of `what`, and what is
    open where it is inconclusive. With `is_interval` equals are such whose whole printed interval lies within ±δ: the
    tests of equality alone would let a wider one pass.
    """
    interim, delta, ratio = judge.interim, judge.delta, found.ratio
    level = interim.next_alpha / max(1, family)
    if is_interval and not (ratio.low > 1.0 / (1.0 + delta) and ratio.high < 1.0 + delta):
        q = 1.0
    decision = decide(ratio, delta, p, q, interim.alpha, family, interim.next_alpha)
    if is_interval:
        # Each side of a whole interval has half of what a one-sided test would have.
        level /= 2.0
        decision = _by_interval(decision, ratio, delta, level)
    decision, more = needed(interim.settled(decision), ratio, delta, level, judge.block_s)
    why = why_open(found.interval, ratio.p_flip, p, interim, (family, what), ratio.blocks)
    return decision, open_at(interim, why, more)


def _by_interval(decision: Decision, ratio: PairedRatio, delta: float, level: float) -> Decision:
    """An inconclusive decision with the blocks that bring the whole interval within ±δ, of a ratio inside of it."""
    if decision.outcome != "inconclusive" or abs(ratio.log_mean) >= math.log1p(delta):
        return decision
    wanted = blocks_for_equivalence(ratio.log_sd, delta, ratio.log_mean, level)
    return Decision("inconclusive", None if wanted is None else max(1, wanted - ratio.blocks))
