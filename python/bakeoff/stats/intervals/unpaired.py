"""Ratios of what was not measured in the same blocks (Welch, 1947)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from bakeoff.stats.intervals.blocks import MeanInterval, exp_or_inf, finite, mean_interval
from bakeoff.stats.intervals.strata import over_strata, stratum_of
from bakeoff.stats.testing.multiplicity import holm


@dataclass(frozen=True)
class UnpairedRatio:
    """Geometric mean of one group by that of another, over so many `blocks` of each: of the one below first. `low` and
    `high` bound `ratio`; they, `p` and `p_equivalence` are NaN where a group has fewer than two.
    """

    blocks: tuple[int, int]
    ratio: float
    low: float
    high: float
    p: float = math.nan
    p_equivalence: float = math.nan


def unpaired_ratio(below: ArrayLike, above: ArrayLike, level: float = 0.95) -> UnpairedRatio:
    """The ratio `above` / `below` of groups of positive values, with Welch's t interval on logarithms."""
    logs = [np.log(used[used > 0.0]) for used in (finite(below), finite(above))]
    return unpaired_from_logs(logs[0], logs[1], level=level)


def unpaired_from_logs(below: ArrayLike, above: ArrayLike, delta: float = 0.0, level: float = 0.95) -> UnpairedRatio:
    """The same of logarithms; what is not finite is left out.

    `p_equivalence` is that of two one-sided tests of a difference of `delta` (0.05 = 5 %) and more.
    """
    logs = [finite(below), finite(above)]
    sizes = (int(logs[0].size), int(logs[1].size))
    if 0 in sizes:
        return UnpairedRatio(sizes, math.nan, math.nan, math.nan)
    found = over_strata([stratum_of(logs[0], -1.0), stratum_of(logs[1], 1.0)], level)
    if math.isnan(found.error):
        return UnpairedRatio(sizes, exp_or_inf(found.mean), math.nan, math.nan)
    ratio, low, high = (exp_or_inf(end) for end in (found.mean, found.low, found.high))
    return UnpairedRatio(sizes, ratio, low, high, found.p, found.p_beyond(math.log1p(delta)))


@dataclass(frozen=True)
class Apart:
    """How far groups lie apart: the two farthest, by their places, as `ratio` of the later to the earlier. `p` is that
    of no difference between any two of them (Holm); NaN where that cannot be told.
    """

    places: tuple[int, int]
    ratio: UnpairedRatio
    p: float


def farthest_apart(groups: Sequence[ArrayLike], delta: float, level: float = 0.95) -> Apart:
    """The two of `groups` of logarithms, two at least, whose means differ most; all pairs are tested."""
    pairs = list(combinations(range(len(groups)), 2))
    # Each interval is as wide as so many of them ask for, so that the widest holds as well.
    each = 1.0 - (1.0 - level) / len(pairs)
    ratios = [unpaired_from_logs(groups[a], groups[b], delta, each) for a, b in pairs]
    widest = max(range(len(pairs)), key=lambda at: abs(math.log(ratios[at].ratio)) if ratios[at].ratio > 0.0 else -1.0)
    adjusted = [float(p) for p in holm([ratio.p for ratio in ratios])]
    return Apart(pairs[widest], ratios[widest], min((p for p in adjusted if not math.isnan(p)), default=math.nan))


def over_groups(groups: Sequence[ArrayLike], level: float = 0.95) -> MeanInterval:
    """The mean of the means of groups of logarithms as a ratio, with an interval in which each group counts as one."""
    logs = mean_interval(np.array([float(np.mean(finite(group))) for group in groups if finite(group).size]), level)
    return MeanInterval(logs.blocks, exp_or_inf(logs.centre), exp_or_inf(logs.low), exp_or_inf(logs.high))
