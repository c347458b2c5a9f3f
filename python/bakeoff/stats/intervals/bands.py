"""Simultaneous intervals over the load steps of a curve."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bakeoff.stats.intervals.blocks import t_quantile
from bakeoff.stats.testing.permutation import sign_flips

MAX_T_BLOCKS = 6
EXACT_BLOCKS = 13
DRAWS = 8_192

MAX_T = "max-|t| sign-flip"
BONFERRONI = "Bonferroni t"
# How the interval at a load step is made that is the only one of its run.
ONE_LOAD_STEP = "as the endpoint"


@dataclass(frozen=True)
class Bands:
    """Log-ratios of each load step, shape `(load steps,)`, with bands that hold for all load steps together."""

    blocks: NDArray[np.int64]
    log_mean: NDArray[np.float64]
    log_low: NDArray[np.float64]
    log_high: NDArray[np.float64]
    method: str


def simultaneous_bands(log_ratios: ArrayLike, level: float = 0.95) -> Bands:
    """Bands of joint confidence `level` for the means of `log_ratios`, shape `(load steps, blocks)`.

    The half-width factor is the `level` quantile of max over load steps of |t| when the blocks' residuals
    are flipped in sign, one sign per block for all load steps: neighbouring load steps of a block move together,
    and the flips keep that. With fewer than six blocks there are too few flips, and with missing trials
    the load steps have unequal numbers of blocks: then, and never narrower than one plain t interval,
    Bonferroni's t is used. NaN marks a missing trial; a load step with under two blocks has NaN bounds.
    """
    logs = np.atleast_2d(np.asarray(log_ratios, dtype=np.float64))
    present = np.isfinite(logs)
    blocks = present.sum(axis=1)
    filled = np.where(present, logs, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(blocks > 0, filled.sum(axis=1) / blocks, np.nan)
        residual = np.where(present, logs - mean[:, None], 0.0)
        error = np.sqrt((residual**2).sum(axis=1) / np.where(blocks > 1, blocks - 1, np.nan) / blocks)
    factor, method = _factors(residual, present, blocks, level)
    half = factor * error
    return Bands(blocks.astype(np.int64), mean, mean - half, mean + half, method)


def _factors(
    residual: NDArray[np.float64], present: NDArray[np.bool_], blocks: NDArray[np.int64], level: float
) -> tuple[NDArray[np.float64], str]:
    usable = blocks >= 2
    count = int(usable.sum())
    factor = np.full(blocks.shape, np.nan)
    if count == 0:
        return factor, BONFERRONI
    joint = 1.0 - (1.0 - level) / count
    for index in np.flatnonzero(usable):
        factor[index] = t_quantile(int(blocks[index]) - 1, joint)
    columns = present[usable].any(axis=0)
    complete = bool(present[np.ix_(usable, columns)].all())
    if count == 1 or not complete or int(columns.sum()) < MAX_T_BLOCKS:
        return factor, BONFERRONI
    quantile = _max_t_quantile(residual[np.ix_(usable, columns)], level)
    plain = t_quantile(int(columns.sum()) - 1, level)
    factor[usable] = max(plain, quantile)
    return factor, MAX_T


def _max_t_quantile(residual: NDArray[np.float64], level: float) -> float:
    """Quantile of max over load steps of |t| over sign flips of `residual`, shape `(load steps, blocks)`."""
    count = residual.shape[1]
    moving = residual[(residual**2).sum(axis=1) > 0.0]
    if moving.shape[0] == 0:
        return 0.0
    flips = sign_flips(count, EXACT_BLOCKS, DRAWS)
    means = flips @ moving.T / count
    squares = (moving**2).sum(axis=1)
    spread = np.sqrt(np.maximum(squares - count * means**2, 1e-300) / (count - 1))
    largest = (np.abs(means) / spread * math.sqrt(count)).max(axis=1)
    return float(np.quantile(largest, level, method="higher"))
