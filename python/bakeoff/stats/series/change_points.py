"""Where the level of a series changed for good: one number for each run, in the order of time.

The rule. PELT with the squared deviation as its cost proposes more places than there are. The weakest is dropped
until each that stays differs from its neighbour at the level LEVEL by Student's t with the variance within all
segments, by Bonferroni over the places where a change might be, and by LEAST_SHARE or more. A segment has SHORTEST
numbers or more, so that a single bad run is no change.

Sources: Killick, Fearnhead, Eckley, J. Am. Stat. Assoc. 107 (2012), 1590; Fleming et al., arXiv 2301.03034, for tests
by t of what a search proposes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

SHORTEST = 3
LEVEL, LEAST_SHARE = 0.01, 0.01
# What each more place costs PELT, in variances of the noise times the logarithm of how many numbers there are.
PENALTY = 2.0
LEAST_NOISE = 1e-4
PASSES = 3
# The upper quartile of the standard normal distribution.
QUARTILE = 0.6745
FARTHEST = 3.0
MOST_ALIKE = 0.6

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """`first` is the index of the first number at the new level, `ratio` new ÷ old level with its 95 % interval."""

    first: int
    ratio: float
    low: float
    high: float
    p: float


def change_points(values: ArrayLike) -> tuple[Change, ...]:
    """Changes of the level of positive `values`, shape `(runs,)`, in their order; ratios are of geometric means.

    Raises ValueError for a value that is not positive and finite.
    """
    x = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(x).all() and (x > 0.0).all()):
        raise ValueError("change points need positive finite values")
    if x.size < 2 * SHORTEST:
        return ()
    logs = _without_outliers(np.log(x))
    if np.ptp(logs) < math.log1p(LEAST_SHARE):
        return ()
    found: tuple[Change, ...] = ()
    for _ in range(PASSES):  # the noise is known better when the changes are
        again = _kept(logs, _proposed(logs, [change.first for change in found]))
        if len(again) <= len(found):
            break
        found = again
    return found


def _kept(logs: Floats, edges: list[int]) -> tuple[Change, ...]:
    """The changes at those `edges` that stay."""
    while len(edges) > 2:
        found = _tested(logs, edges)
        worst = max(range(len(found)), key=lambda at: (_is_small(found[at]), found[at].p))
        if found[worst].p <= LEVEL and not _is_small(found[worst]):
            return tuple(found)
        del edges[worst + 1]
    return ()


def _is_small(change: Change) -> bool:
    return abs(math.log(change.ratio)) < math.log1p(LEAST_SHARE)


def _proposed(logs: Floats, known: list[int]) -> list[int]:
    """Edges of the segments of PELT, with both ends."""
    import ruptures  # half a second

    # Differences of neighbours know nothing of the levels; a step is a difference of two.
    steps = np.delete(np.diff(logs), [first - 1 for first in known])
    variance = max(float((steps**2).mean()) / 2.0, LEAST_NOISE**2)
    search = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST).fit(logs.reshape(-1, 1))
    return [0, *map(int, search.predict(pen=PENALTY * math.log(logs.size) * variance))]


def _tested(logs: Floats, edges: list[int]) -> list[Change]:
    """The changes at the inner `edges`, each by the variance within all segments, or its neighbours' where that is
    more.
    """
    parts = [logs[first:end] for first, end in pairwise(edges)]
    freedom, places = logs.size - len(parts), logs.size - 2 * SHORTEST + 1
    rests = [part - part.mean() for part in parts]
    follows = _follows(rests)
    within = sum(float((rest**2).sum()) for rest in rests) / freedom
    widest = float(special.stdtrit(freedom, 0.975))
    found = []
    for edge, (before, after) in zip(edges[1:], pairwise(parts), strict=False):
        own = sum(float(part.var(ddof=1)) / part.size for part in (before, after))
        error = math.sqrt(max(within * (1.0 / before.size + 1.0 / after.size), own) * follows)
        difference = float(after.mean() - before.mean())
        t = abs(difference) / error if error > 0.0 else math.inf
        p = min(1.0, places * 2.0 * float(special.stdtr(freedom, -t)))
        low, high = math.exp(difference - widest * error), math.exp(difference + widest * error)
        found.append(Change(edge, math.exp(difference), low, high, p))
    return found


def _without_outliers(logs: Floats) -> Floats:
    """Numbers further than FARTHEST standard deviations from the median of their neighbours count as that far."""
    padded = np.pad(logs, SHORTEST, mode="reflect")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * SHORTEST + 1), axis=1)
    far = FARTHEST * float(np.median(np.abs(np.diff(logs)))) / (QUARTILE * math.sqrt(2.0))
    return np.clip(logs, middle - far, middle + far) if far > 0.0 else logs


def _follows(rests: list[Floats]) -> float:
    """By how much the variance of means grows because neighbours are alike: (1 + r) ÷ (1 − r), 1 where they are not."""
    whole = sum(float((rest**2).sum()) for rest in rests)
    if whole <= 0.0:
        return 1.0
    r = sum(float((rest[1:] * rest[:-1]).sum()) for rest in rests) / whole
    r = min(max(r, 0.0), MOST_ALIKE)
    return (1.0 + r) / (1.0 - r)
