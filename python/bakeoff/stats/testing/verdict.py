"""The verdicts, from numbers alone.

Validity (failed trials, a generator at its limit …) is judged by the caller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.stats.design.power import FLIP_ALPHA, blocks_for_difference, blocks_for_equivalence, blocks_for_sign_flip
from bakeoff.stats.intervals.blocks import PairedRatio

Outcome = Literal["higher", "lower", "equivalent", "near_margin", "inconclusive", "too_few"]


@dataclass(frozen=True)
class Decision:
    """`higher`/`lower`: the ratio is shown to be above or below 1, and matters. `near_margin`: it is shown to
    be above or below 1, but lies so near to the smallest difference that matters that its size is open.

    `more_blocks` is None when no reasonable number of blocks would settle it.
    """

    outcome: Outcome
    more_blocks: int | None


def decide(
    estimate: PairedRatio,
    delta: float,
    p_difference: float,
    p_equivalence: float,
    alpha: float = 0.05,
    comparisons: int = 1,
    next_alpha: float | None = None,
) -> Decision:
    """One of five verdicts for `estimate`, or `too_few` under six blocks.

    `p_difference` (t test) and `p_equivalence` (TOST) are already corrected for the other comparisons
    of their family, `comparisons` in number (Holm). A difference must be seen by the interval, the
    corrected t test at `alpha` and the sign-flip test at 5 %, which is coarse, alike, and reach `delta` (0.05 = 5 %).
    Further blocks are judged at `next_alpha`, by default at `alpha`.
    """
    excludes_one = estimate.low > 1.0 or estimate.high < 1.0
    certain = excludes_one and estimate.p_flip <= max(alpha, FLIP_ALPHA) and p_difference <= alpha
    made = decision_of(estimate.blocks, estimate.log_mean, delta, certain, p_equivalence <= alpha)
    if made.outcome != "inconclusive":
        return made
    return Decision("inconclusive", more_blocks(estimate, delta, (next_alpha or alpha) / max(1, comparisons)))


def decision_of(blocks: int, log_mean: float, delta: float, is_certain: bool, is_equal: bool) -> Decision:
    """The rule of all verdicts: after six blocks a difference that is certain and matters, then equality that is shown,
    then a certain difference whose size is open. How many blocks an inconclusive one takes is not told.
    """
    if blocks < MINIMUM_BLOCKS:
        return Decision("too_few", MINIMUM_BLOCKS - blocks)
    if is_certain and _matters(log_mean, delta):
        return Decision("higher" if log_mean > 0.0 else "lower", 0)
    if is_equal:
        return Decision("equivalent", 0)
    return Decision("near_margin" if is_certain else "inconclusive", None)


def more_blocks(estimate: PairedRatio, delta: float, alpha: float) -> int | None:
    """Blocks still needed if the true ratio is the one seen, for the t test at `alpha` and the sign-flip test at
    all; None when no reasonable number settles it.
    """
    flip_alpha = alpha if estimate.by_signs else FLIP_ALPHA
    if _matters(estimate.log_mean, delta):
        needed = blocks_for_difference(estimate.log_sd, estimate.log_mean, alpha)
        # A sign-flip test of few blocks sees only what all of them agree in: one that does not takes two blocks more.
        if needed is not None and estimate.p_flip > flip_alpha:
            agree = estimate.p_flip <= 0.5 ** (estimate.blocks - 1) * (1.0 + 1e-9)
            least = max(estimate.blocks, blocks_for_sign_flip(flip_alpha))
            needed = max(needed, least if agree else least + 2)
    else:
        needed = blocks_for_equivalence(estimate.log_sd, delta, estimate.log_mean, alpha)
    return None if needed is None else max(1, needed - estimate.blocks)


def _matters(log_mean: float, delta: float) -> bool:
    return abs(log_mean) >= math.log1p(delta) - 1e-12
