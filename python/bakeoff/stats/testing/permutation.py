"""Sign-flip (paired permutation) tests: exact where the flips can be listed, Monte Carlo beyond."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

EXACT_BLOCKS = 16
MONTE_CARLO_FLIPS = 65_536
MONTE_CARLO_SEED = 20_260_101


@lru_cache(maxsize=8)
def sign_flips(blocks: int, exact_blocks: int = EXACT_BLOCKS, draws: int = MONTE_CARLO_FLIPS) -> NDArray[np.float64]:
    """Signs of shape `(flips, blocks)`, entries ±1, read-only.

    Up to `exact_blocks` every flip is listed, but only one of each mirrored pair: the statistics used
    here are absolute values. Beyond that `draws` random rows with a fixed seed.
    """
    if blocks < 1:
        raise ValueError("sign flips need at least one block")
    if blocks <= exact_blocks:
        codes = np.arange(2 ** (blocks - 1), dtype=np.int64)
        bits = (codes[:, None] >> np.arange(blocks, dtype=np.int64)[None, :]) & 1
        signs = 1.0 - 2.0 * bits.astype(np.float64)
    else:
        random = np.random.default_rng(MONTE_CARLO_SEED)
        signs = random.choice(np.array([-1.0, 1.0]), size=(draws, blocks))
    signs.setflags(write=False)
    return signs


def sign_flip_p(log_ratios: ArrayLike) -> float:
    """Two-sided p value of the mean of per-block log-ratios, shape `(blocks,)`, under random signs.

    Exact up to 16 blocks; beyond, a Monte Carlo estimate with fixed seed and the usual +1 (never zero).
    NaN entries are left out; no entries gives NaN.
    """
    logs = np.asarray(log_ratios, dtype=np.float64).ravel()
    logs = logs[np.isfinite(logs)]
    if logs.size == 0:
        return float("nan")
    flips = sign_flips(int(logs.size))
    observed = abs(float(logs.sum()))
    # Sums of the same terms in another order differ in the last bits: ties must still count as ties.
    slack = 1e-12 * float(np.abs(logs).sum())
    reached = int(np.count_nonzero(np.abs(flips @ logs) >= observed - slack))
    if logs.size <= EXACT_BLOCKS:
        return float(reached / flips.shape[0])
    return float((reached + 1) / (flips.shape[0] + 1))


def sign_flip_interval(log_ratios: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """The interval of the mean of per-block log-ratios that belongs to the sign-flip test; NaN entries are left out.

    Its ends are means of subsets of the blocks (Hartigan's typical values): of the 2ⁿ − 1 sorted means, the k-th from
    either end, k = ⌊2ⁿ (1 − level) / 2⌋. It needs no shape of the spread, so that it holds for blocks in which one side
    counts as having forfeited. NaN below six blocks at 95 %: no such interval exists. Beyond 16 blocks the subsets
    are drawn with a fixed seed.
    """
    logs = np.asarray(log_ratios, dtype=np.float64).ravel()
    logs = logs[np.isfinite(logs)]
    tail = (1.0 - level) / 2.0
    if logs.size == 0 or tail * 2.0 ** min(logs.size, 60) < 1.0:
        return float("nan"), float("nan")
    # A flip and its mirror choose a subset and its complement.
    chosen = sign_flips(int(logs.size)) > 0.0
    chosen = np.concatenate((chosen, ~chosen))
    sizes = chosen.sum(axis=1)
    means = np.sort((chosen[sizes > 0] @ logs) / sizes[sizes > 0])
    k = max(1, int(tail * (means.size + 1)))
    return float(means[k - 1]), float(means[means.size - k])


def smallest_sign_flip_p(blocks: int) -> float:
    """The smallest two-sided p value that `blocks` pairs can reach: 2 / 2^blocks."""
    return 2.0 / 2.0**blocks
