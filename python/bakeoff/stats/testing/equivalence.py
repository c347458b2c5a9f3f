"""Equivalence by two one-sided tests (TOST) on logarithms."""

from __future__ import annotations

import math

from scipy import special


def equivalence_p(log_mean: float, log_sd: float, blocks: int, delta: float) -> float:
    """p value that the true ratio lies outside 1/(1+delta) .. 1+delta (paired TOST, the larger of the two).

    `log_mean` and `log_sd` are of the per-block log-ratios. The margin is symmetrical on logarithms,
    so that swapping the contenders changes nothing. NaN below two blocks; 1 when `delta` is 0.
    """
    if blocks < 2 or not math.isfinite(log_mean):
        return math.nan
    margin = math.log1p(delta)
    if margin <= 0.0:
        return 1.0
    if log_sd == 0.0:
        return 0.0 if abs(log_mean) < margin else 1.0
    statistic = (margin - abs(log_mean)) / (log_sd / math.sqrt(blocks))
    return float(special.stdtr(blocks - 1, -statistic))
