"""Intervals over blocks: of a mean, of a geometric mean, and of a paired ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bakeoff.stats.permutation import sign_flip_interval, sign_flip_p


@dataclass(frozen=True)
class MeanInterval:
    """A centre and its interval over `blocks` values; NaN where it cannot be computed."""

    blocks: int
    centre: float
    low: float
    high: float


@dataclass(frozen=True)
class PairedRatio:
    """The ratio of two contenders over paired blocks.

    `log_mean` and `log_sd` are of the per-block log-ratios; `low` and `high` bound `ratio`
    at the level asked for; `p_t` is the two-sided paired t test, `p_flip` the sign-flip test.
    """

    blocks: int
    log_mean: float
    log_sd: float
    ratio: float
    low: float
    high: float
    p_t: float
    p_flip: float


def t_quantile(freedom: float, level: float) -> float:
    """Half-width factor of a two-sided t interval at `level` (0..1) with `freedom` degrees of freedom."""
    return float(special.stdtrit(freedom, 0.5 + level / 2.0))


def t_two_sided_p(statistic: float, freedom: float) -> float:
    """Two-sided p value of a t statistic."""
    return float(2.0 * special.stdtr(freedom, -abs(statistic)))


def finite(values: ArrayLike) -> NDArray[np.float64]:
    """The finite entries of `values` as a flat array."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    return flat[np.isfinite(flat)]


def mean_interval(values: ArrayLike, level: float = 0.95) -> MeanInterval:
    """Arithmetic mean of per-block values with a t interval; NaN entries are left out.

    With one value the interval is NaN: one block says nothing about its own spread.
    """
    used = finite(values)
    if used.size == 0:
        return MeanInterval(0, math.nan, math.nan, math.nan)
    centre = float(used.mean())
    if used.size == 1:
        return MeanInterval(1, centre, math.nan, math.nan)
    half = t_quantile(used.size - 1, level) * float(used.std(ddof=1)) / math.sqrt(used.size)
    return MeanInterval(int(used.size), centre, centre - half, centre + half)


def geometric_interval(values: ArrayLike, level: float = 0.95) -> MeanInterval:
    """Geometric mean of positive per-block values with a t interval on logarithms, exponentiated.

    Entries that are not finite or not positive are left out.
    """
    used = finite(values)
    logs = mean_interval(np.log(used[used > 0.0]), level)
    return MeanInterval(logs.blocks, exp_or_inf(logs.centre), exp_or_inf(logs.low), exp_or_inf(logs.high))


def paired_log_ratio(numerator: ArrayLike, denominator: ArrayLike, level: float = 0.95) -> PairedRatio:
    """Paired t interval of `numerator / denominator` over blocks, computed on logarithms.

    Both arrays have shape `(blocks,)` in the same order. A block counts when both values are finite
    and positive; the caller names the blocks left out. Raises ValueError when the shapes differ.
    """
    top = np.asarray(numerator, dtype=np.float64)
    bottom = np.asarray(denominator, dtype=np.float64)
    if top.shape != bottom.shape or top.ndim != 1:
        raise ValueError(f"paired values need two arrays of one shape (blocks,), not {top.shape} and {bottom.shape}")
    usable = np.isfinite(top) & np.isfinite(bottom) & (top > 0.0) & (bottom > 0.0)
    return ratio_from_logs(np.log(top[usable]) - np.log(bottom[usable]), level)


def ratio_from_logs(log_ratios: ArrayLike, level: float = 0.95) -> PairedRatio:
    """The same from per-block log-ratios, shape `(blocks,)`; NaN entries are left out."""
    logs = finite(log_ratios)
    interval = mean_interval(logs, level)
    if logs.size < 2:
        return PairedRatio(int(logs.size), interval.centre, math.nan, exp_or_inf(interval.centre), *([math.nan] * 4))
    spread = float(logs.std(ddof=1))
    return PairedRatio(
        blocks=int(logs.size),
        log_mean=interval.centre,
        log_sd=spread,
        ratio=exp_or_inf(interval.centre),
        low=exp_or_inf(interval.low),
        high=exp_or_inf(interval.high),
        p_t=_paired_p(interval.centre, spread, int(logs.size)),
        p_flip=sign_flip_p(logs),
    )


def ratio_by_signs(log_ratios: ArrayLike, level: float = 0.95) -> PairedRatio:
    """The same for blocks in which one side lost outright and a bounded ratio stands for it.

    Such values have no normal spread, and one of them makes a t interval wider however clear the others are. So the
    interval and both p values are those of the sign-flip test, which holds for any values.
    """
    ratio = ratio_from_logs(log_ratios, level)
    low, high = sign_flip_interval(log_ratios, level)
    return replace(ratio, low=exp_or_inf(low), high=exp_or_inf(high), p_t=ratio.p_flip)


def _paired_p(mean: float, spread: float, count: int) -> float:
    if spread == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return t_two_sided_p(mean / spread * math.sqrt(count), count - 1)


def exp_or_inf(value: float) -> float:
    """e to this power, infinite beyond the floating range."""
    # An interval of two wild blocks can exceed the floating range: infinity is then the honest bound.
    return math.inf if value > 709.0 else math.exp(value)
