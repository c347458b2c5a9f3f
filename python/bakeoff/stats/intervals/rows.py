"""Many paired ratios at once: one row of log-ratios for each, one column for each block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bakeoff.stats.intervals.blocks import ratio_by_signs

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RowRatios:
    """All of shape `(rows,)`. `low`, `high` and `p` are NaN for rows with fewer than two blocks."""

    blocks: NDArray[np.int64]
    log_mean: Floats
    ratio: Floats
    low: Floats
    high: Floats
    p: Floats


def ratios_by_row(log_ratios: ArrayLike, level: float = 0.95, by_signs: ArrayLike = False) -> RowRatios:
    """Mean ratio with t interval and two-sided p of each row, shape `(rows, blocks)`; NaN is left out. Rows `by_signs`,
    shape `(rows,)`, have the interval and the p of the sign-flip test, as `ratio_by_signs`.
    """
    logs = np.atleast_2d(np.asarray(log_ratios, dtype=np.float64))
    known = np.isfinite(logs)
    blocks = known.sum(axis=1)
    filled = np.where(known, logs, 0.0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.where(blocks > 0, filled.sum(axis=1) / np.maximum(blocks, 1), np.nan)
        squares = np.where(known, (logs - mean[:, None]) ** 2, 0.0).sum(axis=1)
        free = np.where(blocks > 1, blocks - 1, 1).astype(np.float64)
        error = np.where(blocks > 1, np.sqrt(squares / free / np.maximum(blocks, 1)), np.nan)
        # Equal values in all blocks leave a rest of rounding, which is no spread.
        error = np.where(error < 1e-15 * np.maximum(np.abs(mean), 1.0), 0.0, error)
        half = special.stdtrit(free, 0.5 + level / 2.0) * error
        p = 2.0 * special.stdtr(free, -np.abs(mean) / error)
        p = np.where((error == 0.0) & (mean == 0.0), 1.0, p)
        made = RowRatios(blocks, mean, np.exp(mean), np.exp(mean - half), np.exp(mean + half), p)
    for at in np.flatnonzero(np.broadcast_to(by_signs, blocks.shape)):
        one = ratio_by_signs(logs[at], level)
        made.low[at], made.high[at], made.p[at] = one.low, one.high, one.p_t
    return made
