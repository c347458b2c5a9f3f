"""The shape of a curve over load steps: weights, peak, saturation, collapse."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bakeoff.stats.intervals.blocks import PairedRatio, paired_log_ratio


@dataclass(frozen=True)
class Saturation:
    """Indices into the load steps: `peak` of the highest mean, `knee` of the first mean within the
    share of it.
    """

    peak: int
    knee: int


@dataclass(frozen=True)
class Collapse:
    """The last load step against the peak load step, over the blocks that have both."""

    ratio: PairedRatio
    shown: bool


def trapezoid_weights(clients: ArrayLike) -> NDArray[np.float64]:
    """Weights, shape `(load steps,)` and sum 1, of a trapezoid over the logarithm of `clients` (rising, ≥ 1).

    A geometric mean with these weights is the area under the log-ratio curve on a log axis of clients,
    divided by its width: 16 load steps crowded at the top do not outvote the few at the bottom.
    """
    loads = np.asarray(clients, dtype=np.float64)
    # A load of 0, as other tools may state it, has no logarithm: the trapezoid is over the loads themselves then.
    x = np.log(loads) if np.all(loads > 0.0) else loads
    if x.size == 0:
        raise ValueError("weights need at least one load step")
    if x.size == 1:
        return np.ones(1)
    steps = np.diff(x)
    if not np.all(steps > 0.0):
        raise ValueError("the clients of the load steps must rise")
    weights = np.zeros(x.size)
    weights[:-1] += steps / 2.0
    weights[1:] += steps / 2.0
    scaled: NDArray[np.float64] = weights / weights.sum()
    return scaled


def saturation(means: ArrayLike, share: float = 0.05) -> Saturation | None:
    """Peak and knee of mean rates, shape `(load steps,)`, NaN where nothing was measured; None if all are.

    The knee is the lowest load step whose mean is within `share` of the peak: more clients bring no more work.
    """
    values = np.asarray(means, dtype=np.float64)
    if not np.isfinite(values).any():
        return None
    peak = int(np.nanargmax(values))
    near = np.flatnonzero(values >= values[peak] * (1.0 - share))
    return Saturation(peak, int(near[0]))


def collapse_after_peak(rates: ArrayLike, share: float = 0.05, level: float = 0.95) -> Collapse | None:
    """Does the rate at the last measured load step fall short of the peak? `rates` has shape `(load steps, blocks)`.

    Shown when the last load step lies more than `share` under the peak and the paired interval excludes 1.
    None when the peak is the last measured load step. The peak is picked from the same data, so this is a
    description; it carries no corrected test.
    """
    values = np.asarray(rates, dtype=np.float64)
    counts = np.isfinite(values).sum(axis=1)
    sums = np.where(np.isfinite(values), values, 0.0).sum(axis=1)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), math.nan)
    landmarks = saturation(means, share)
    if landmarks is None:
        return None
    last = int(np.flatnonzero(counts)[-1])
    if last == landmarks.peak:
        return None
    ratio = paired_log_ratio(values[last], values[landmarks.peak], level)
    return Collapse(ratio, bool(ratio.ratio < 1.0 - share and ratio.high < 1.0))
