"""How many blocks an answer needs.

What verdicts name while a run goes on ("about 9 more blocks") is a normal approximation with the z²/2 term for small
numbers; what a plan is made by is the power of the verdict's own rule: t test, sign-flip test and all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.stats.testing.permutation import sign_flips

MOST_BLOCKS = 10_000
# The sign-flip test, which is coarse of few blocks, decides together with the t test: up to so many it is tried out.
TRIED_BLOCKS, TRIES, SEED = 10, 8_000, 20_261_122
# The sign-flip test only checks the t test: of few blocks it cannot be as strict.
FLIP_ALPHA = 0.05
_POINTS = 400

Floats = NDArray[np.float64]


def _z(probability: float) -> float:
    return float(special.ndtri(probability))


def blocks_for_difference(log_sd: float, log_effect: float, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Blocks to show a difference of `log_effect` with the given power; None if more than 10,000.

    `log_sd` is the spread of per-block log-ratios: sqrt(2(1 - rho)) times one contender's spread.
    """
    if log_effect == 0.0:
        return None
    tail = _z(1.0 - alpha / 2.0)
    return _round_up((tail + _z(power)) ** 2 * (log_sd / log_effect) ** 2 + tail**2 / 2.0)


def blocks_for_equivalence(
    log_sd: float, delta: float, log_effect: float = 0.0, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Blocks to show equivalence within `delta` (0.05 = 5 %) when the true log-ratio is `log_effect`.

    None when the effect lies outside the margin or more than 10,000 blocks would be needed.
    """
    room = math.log1p(delta) - abs(log_effect)
    if room <= 0.0:
        return None
    tail = _z(1.0 - alpha)
    # Both one-sided tests must pass, so each gets half of the risk of missing.
    return _round_up((tail + _z(0.5 + power / 2.0)) ** 2 * (log_sd / room) ** 2 + tail**2 / 2.0)


def blocks_for_sign_flip(alpha: float = 0.05) -> int:
    """Fewest blocks with which a sign-flip test can reach `alpha` at all (6 for 0.05)."""
    return max(1, math.ceil(1.0 - math.log2(alpha)))


def power_of_difference(blocks: int, log_sd: float, log_effect: float, alpha: float) -> float:
    """The chance that `blocks` show a true log-ratio of `log_effect`: the t test at `alpha`, two-sided, on the right
    side, and up to ten blocks the sign-flip test at 5 % with it, tried out with a fixed seed. 0 under six blocks.
    """
    if blocks < MINIMUM_BLOCKS:
        return 0.0
    if log_sd <= 0.0:
        return float(log_effect != 0.0)
    size = abs(log_effect) / log_sd
    if blocks <= TRIED_BLOCKS:
        return _tried(blocks, round(size, 4), alpha)
    reach = float(special.stdtrit(blocks - 1, 1.0 - alpha / 2.0))
    return float(special.ndtr(size * math.sqrt(blocks) - reach * _spreads(blocks)).mean())


def power_of_equivalence(blocks: int, log_sd: float, delta: float, alpha: float) -> float:
    """The chance that `blocks` show equals to be equivalent within `delta`: both one-sided t tests at `alpha`. 0 under
    six blocks.
    """
    margin = math.log1p(delta)
    if blocks < MINIMUM_BLOCKS or margin <= 0.0:
        return 0.0
    if log_sd <= 0.0:
        return 1.0
    reach = float(special.stdtrit(blocks - 1, 1.0 - alpha))
    room = margin / log_sd * math.sqrt(blocks) - reach * _spreads(blocks)
    return float(np.maximum(0.0, 2.0 * special.ndtr(room) - 1.0).mean())


def blocks_with_power(chance: Callable[[int], float], power: float) -> int | None:
    """The fewest blocks from six on whose `chance` reaches `power`; None when 10,000 do not. Above ten it rises."""
    for blocks in range(MINIMUM_BLOCKS, TRIED_BLOCKS + 1):
        if chance(blocks) >= power:
            return blocks
    low, high = TRIED_BLOCKS, MOST_BLOCKS
    if chance(high) < power:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= power else (middle, high)
    return high


def difference_with_power(blocks: int, log_sd: float, alpha: float, power: float) -> float:
    """The smallest log-ratio that `blocks` show in a share `power` of runs; NaN under six blocks."""
    if blocks < MINIMUM_BLOCKS or not math.isfinite(log_sd):
        return math.nan
    low, high = 0.0, 1.0  # in spreads
    while power_of_difference(blocks, 1.0, high, alpha) < power:
        high *= 2.0
    for _ in range(14):
        middle = (low + high) / 2.0
        low, high = (low, middle) if power_of_difference(blocks, 1.0, middle, alpha) >= power else (middle, high)
    return high * log_sd


def spread_interval(log_sd: float, blocks: int, level: float = 0.8) -> tuple[float, float]:
    """Where the true spread lies when `blocks` show `log_sd`: the chi-square interval; NaN below two blocks."""
    if blocks < 2:
        return math.nan, math.nan
    freedom, tail = blocks - 1, (1.0 - level) / 2.0
    low, high = (float(special.chdtri(freedom, side)) for side in (tail, 1.0 - tail))
    return log_sd * math.sqrt(freedom / low), log_sd * math.sqrt(freedom / high)


@cache
def _spreads(blocks: int) -> Floats:
    """What the spread of so many blocks comes to, of a true one of 1: points of equal probability."""
    freedom = blocks - 1
    spreads: Floats = np.sqrt(2.0 * special.gammaincinv(freedom / 2.0, (np.arange(_POINTS) + 0.5) / _POINTS) / freedom)
    spreads.setflags(write=False)
    return spreads


@cache
def _tried(blocks: int, size: float, alpha: float) -> float:
    """The share of seeded tries in which both tests see an effect of `size` spreads."""
    logs = np.random.default_rng(SEED).normal(size, 1.0, (TRIES, blocks))
    sums = logs.sum(axis=1)
    reach = float(special.stdtrit(blocks - 1, 1.0 - alpha / 2.0))
    seen = sums >= reach * logs.std(axis=1, ddof=1) * math.sqrt(blocks)
    flips = sign_flips(blocks)
    slack = 1e-12 * np.abs(logs[seen]).sum(axis=1)
    reached = (np.abs(logs[seen] @ flips.T) >= (sums[seen] - slack)[:, None]).mean(axis=1)
    return float((reached <= max(alpha, FLIP_ALPHA)).sum() / TRIES)


def _round_up(blocks: float) -> int | None:
    return math.ceil(blocks) if blocks <= MOST_BLOCKS else None
