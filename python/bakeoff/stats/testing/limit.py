"""Is a ratio on the right side of a limit? One-sided t tests on logarithms (non-inferiority, and its opposite)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

from bakeoff.stats.design.power import blocks_for_difference
from bakeoff.stats.intervals.blocks import exp_or_inf


@dataclass(frozen=True)
class AgainstLimit:
    """One-sided p values: `p_within` is small when the ratio is shown to be above the limit, `p_beyond` when it is
    shown to be below. `low` and `high` bound the ratio at the level `1 - alpha` that was asked for: with `low` above
    the limit `p_within` is below `alpha / 2`, with `high` below it `p_beyond` is. NaN under two blocks.
    """

    p_within: float
    p_beyond: float
    low: float
    high: float


def against_limit(log_mean: float, log_sd: float, blocks: int, log_limit: float, alpha: float) -> AgainstLimit:
    """Paired log-ratios of this mean and spread over `blocks`, more being better, against the least that is allowed."""
    if blocks < 2 or not math.isfinite(log_mean) or not math.isfinite(log_sd):
        return AgainstLimit(*[math.nan] * 4)
    error = log_sd / math.sqrt(blocks)
    above = log_mean - log_limit
    if error == 0.0:
        # Equal values in all blocks, as counts may be: there is no spread to doubt. At the limit nothing is shown.
        p = (0.0, 1.0) if above > 0.0 else (1.0, 0.0) if above < 0.0 else (1.0, 1.0)
    else:
        p = tuple(float(special.stdtr(blocks - 1, side * above / error)) for side in (-1.0, 1.0))  # type: ignore[assignment]
    half = error * float(special.stdtrit(blocks - 1, 1.0 - alpha / 2.0))
    return AgainstLimit(p[0], p[1], exp_or_inf(log_mean - half), exp_or_inf(log_mean + half))


def blocks_for_limit(log_mean: float, log_sd: float, log_limit: float, alpha: float) -> int | None:
    """Blocks in all with which a ratio that is as it was seen is shown, in four of five cases, to lie on its side of
    the limit, by one-sided tests at `alpha / 2`; None if no reasonable number would do.
    """
    if not math.isfinite(log_sd):
        return None
    return blocks_for_difference(log_sd, log_mean - log_limit, alpha)
