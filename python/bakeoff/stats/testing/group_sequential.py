"""Group-sequential levels: how much of the chance of a false call each analysis of a growing number of blocks may
spend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

# Points of the grid on which a random walk is followed, and how many of its standard deviations it covers to each side.
POINTS, REACH = 801, 8.0

Floats = NDArray[np.float64]


def spent(share: float, alpha: float) -> float:
    """How much of the two-sided `alpha` is spent when a `share` (0 to 1) of all blocks is there (Lan and DeMets, 1983):
    next to nothing early, as O'Brien and Fleming have it.
    """
    if share <= 0.0:
        return 0.0
    side = float(special.ndtri(1.0 - alpha / 4.0))
    return float(4.0 * special.ndtr(-side / math.sqrt(min(share, 1.0))))


def nominal_levels(blocks: Sequence[int], cumulative: Sequence[float]) -> tuple[float, ...]:
    """The two-sided level at which each analysis tests, so that after it so much of the chance of a false call is
    spent.

    `blocks` rise; `cumulative` is what may be spent in all when that many are there, and does not fall. What was seen
    before is in the later analyses, so that less than the sum is spent: the walk of the statistic is followed by
    numerical integration (Armitage, McPherson and Rowe, 1969), for blocks of equal weight. Raises ValueError for
    unequal lengths or blocks that do not rise.
    """
    if len(blocks) != len(cumulative) or list(blocks) != sorted(set(blocks)):
        raise ValueError("interim analyses need rising numbers of blocks, and for each what may be spent")
    levels, walked, weights, places, before = [], 0, np.empty(0), np.empty(0), 0.0
    for now, total in zip(blocks, cumulative, strict=True):
        grid = np.linspace(-REACH, REACH, POINTS) * math.sqrt(now)
        density = _density(grid, places, weights, now - walked)
        tail = max(0.0, total - before) / 2.0
        edge = _edge(grid, density, tail) if places.size or not tail else -float(special.ndtri(tail)) * math.sqrt(now)
        levels.append(float(2.0 * special.ndtr(-edge / math.sqrt(now))))
        places, weights = _inside(grid, density, edge)
        walked, before = now, max(before, total)
    return tuple(levels)


def _density(grid: Floats, places: Floats, weights: Floats, steps: int) -> Floats:
    """Density of the walk after further `steps` of variance 1, from the masses `weights` at `places`."""
    if not places.size:
        return _normal(grid, float(steps))
    walked: Floats = _normal(grid[:, None] - places[None, :], float(steps)) @ weights
    return walked


def _normal(distance: Floats, variance: float) -> Floats:
    density: Floats = np.exp(-(distance**2) / (2.0 * variance)) / math.sqrt(2.0 * math.pi * variance)
    return density


def _edge(grid: Floats, density: Floats, tail: float) -> float:
    """Where the upper tail holds so much; the end of the grid when nothing may be spent."""
    step = float(grid[1] - grid[0])
    pieces = (density[1:] + density[:-1]) / 2.0 * step
    tails = np.append(np.cumsum(pieces[::-1])[::-1], 0.0)  # above each point
    if tail <= 0.0:
        return float(grid[-1])
    return float(np.interp(tail, tails[::-1], grid[::-1]))


def _inside(grid: Floats, density: Floats, edge: float) -> tuple[Floats, Floats]:
    """The part of the walk that goes on, as masses at points (trapezoid rule between the edges)."""
    points = np.linspace(-edge, edge, POINTS)
    masses = np.interp(points, grid, density) * float(points[1] - points[0])
    masses[[0, -1]] /= 2.0
    return points, masses
