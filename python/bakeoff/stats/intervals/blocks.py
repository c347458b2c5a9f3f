"""Intervals over blocks: of a mean, of a geometric mean, and of a paired ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bakeoff.stats.testing.permutation import sign_flip_interval, sign_flip_p


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
    at the level asked for; `p_t` is the two-sided paired t test, `p_flip` the sign-flip test. `open` is how far
    the mean log-ratio may be off on either side whatever the number of blocks: the resolution of what was measured.
    `by_signs`: only the sign-flip test holds.
    """

    blocks: int
    log_mean: float
    log_sd: float
    ratio: float
    low: float
    high: float
    p_t: float
    p_flip: float
    open: float = 0.0
    by_signs: bool = False


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


def mean_interval(values: ArrayLike, level: float = 0.95, resolution: float = 0.0) -> MeanInterval:
    """Arithmetic mean of per-block values with a t interval, no narrower than `resolution` on either side; NaN entries
    are left out.

    With one value the interval is NaN: one block says nothing about its own spread.
    """
    used = finite(values)
    if used.size == 0:
        return MeanInterval(0, math.nan, math.nan, math.nan)
    centre = float(used.mean())
    if used.size == 1:
        return MeanInterval(1, centre, math.nan, math.nan)
    half = max(t_quantile(used.size - 1, level) * float(used.std(ddof=1)) / math.sqrt(used.size), resolution)
    return MeanInterval(int(used.size), centre, centre - half, centre + half)


def geometric_interval(values: ArrayLike, level: float = 0.95, resolution: float = 0.0) -> MeanInterval:
    """Geometric mean of positive per-block values with a t interval on logarithms, exponentiated; `resolution` is a
    share of the values.

    Entries that are not finite or not positive are left out.
    """
    used = finite(values)
    logs = mean_interval(np.log(used[used > 0.0]), level, resolution)
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


def ratio_from_logs(log_ratios: ArrayLike, level: float = 0.95, resolution: float = 0.0) -> PairedRatio:
    """The same from per-block log-ratios, shape `(blocks,)`; NaN entries are left out.

    Blocks that agree by chance, as counts do, still leave open what is below their `resolution`, a log-ratio: no
    interval is narrower than that on either side, and the spread counts as what would make it so.
    """
    logs = finite(log_ratios)
    interval = mean_interval(logs, level, resolution)
    nan = math.nan
    if logs.size < 2:
        return PairedRatio(int(logs.size), interval.centre, nan, exp_or_inf(interval.centre), nan, nan, nan, nan)
    least = resolution * math.sqrt(logs.size) / t_quantile(logs.size - 1, level)
    spread = max(float(logs.std(ddof=1)), least)
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


def ratio_between(
    lows: ArrayLike, highs: ArrayLike, level: float = 0.95, by_signs: bool = False, resolution: float = 0.0
) -> PairedRatio:
    """The same of log-ratios that are known only to lie between two bounds in each block, both of shape `(blocks,)`:
    what a step of a search, or the end of a window, leaves open.

    The interval reaches from the lower end for the lower bounds to the upper end for the upper ones, and the tests ask
    whether the bound that is nearer to equality is off it, so that both hold wherever between its bounds a block lies.
    With `by_signs` they are those of `ratio_by_signs`.
    """

    def made(logs: NDArray[np.float64]) -> PairedRatio:
        return ratio_by_signs(logs, level) if by_signs else ratio_from_logs(logs, level, resolution)

    low, high = np.asarray(lows, dtype=np.float64).ravel(), np.asarray(highs, dtype=np.float64).ravel()
    middle, below, above = made((low + high) / 2.0), made(low), made(high)
    p_t = p_flip = math.nan if middle.blocks < 2 else 1.0
    if below.log_mean > 0.0:
        p_t, p_flip = below.p_t, below.p_flip
    elif above.log_mean < 0.0:
        p_t, p_flip = above.p_t, above.p_flip
    half = float(np.mean(finite(high - low))) / 2.0 if middle.blocks else 0.0
    return replace(middle, low=below.low, high=above.high, p_t=p_t, p_flip=p_flip, open=half)


def ratio_by_signs(log_ratios: ArrayLike, level: float = 0.95) -> PairedRatio:
    """The same for blocks in which one side forfeited and a bounded ratio stands for it.

    Such values have no normal spread, and one of them makes a t interval wider however clear the others are. So the
    interval and both p values are those of the sign-flip test, which holds for any values.
    """
    ratio = ratio_from_logs(log_ratios, level)
    low, high = sign_flip_interval(log_ratios, level)
    return replace(ratio, low=exp_or_inf(low), high=exp_or_inf(high), p_t=ratio.p_flip, by_signs=True)


def _paired_p(mean: float, spread: float, count: int) -> float:
    if spread == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return t_two_sided_p(mean / spread * math.sqrt(count), count - 1)


def exp_or_inf(value: float) -> float:
    """e to this power, infinite beyond the floating range."""
    # An interval of two wild blocks can exceed the floating range: infinity is then the honest bound.
    return math.inf if value > 709.0 else math.exp(value)
