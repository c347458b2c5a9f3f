"""What stands out among cells: crossings of 1.00, and cells unlike their surroundings."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cells import CellKey
from bakeoff.compare.model.cell import Crossing, NeighbourOutliers, SizePoint, WildBlock
from bakeoff.compare.model.fact import Fact

Floats = NDArray[np.float64]

# A point this near to 1.00 is on neither side when there are no intervals to tell.
NEUTRAL = 0.05
# A cell is an outlier when it differs from its surroundings by both: times the usual deviation, and as a ratio.
UNUSUAL, OUTLYING = 6.0, 1.5
NEIGHBOURS = 3


def crossings(points: tuple[SizePoint, ...], by_interval: bool) -> tuple[Crossing, ...]:
    """Where the curve goes from one side of 1.00 to the other; points that show neither side do not count.

    `by_interval`: there are blocks enough for intervals to tell the side. Otherwise the numbers alone do.
    """
    sides = [_side(point, by_interval) for point in points]
    signed = [i for i, side in enumerate(sides) if side]
    return tuple(
        Crossing(points[i].size_kib, points[j].size_kib, _near(points[i : j + 1]), sides[i] > 0, by_interval)
        for i, j in pairwise(signed)
        if sides[i] != sides[j]
    )


def _side(point: SizePoint, by_interval: bool) -> int:
    if not by_interval:
        return 0 if abs(math.log(point.ratio)) < NEUTRAL else (1 if point.ratio > 1.0 else -1)
    return 1 if point.low > 1.0 else -1 if point.high < 1.0 else 0


def _near(points: tuple[SizePoint, ...]) -> float:
    """The size at which straight lines between the points, both axes logarithmic, first reach 1."""
    for a, b in pairwise(points):
        one, two = math.log(a.ratio), math.log(b.ratio)
        if one != two and one * two <= 0.0:
            return float(a.size_kib * (b.size_kib / a.size_kib) ** (one / (one - two)))
    return math.sqrt(points[0].size_kib * points[-1].size_kib)


def outliers(keys: tuple[CellKey, ...], logs: Floats) -> dict[int, Fact]:
    """Cells that stand alone, by position, with the reason. `logs` has the shape (cells, blocks)."""
    known = np.isfinite(logs).any(axis=1)
    centres = np.full(len(keys), np.nan)
    if known.any():
        centres[known] = np.nanmedian(logs[known], axis=1)
    return {**_lonely(keys, centres), **_wild_blocks(logs)}


def _lonely(keys: tuple[CellKey, ...], centres: Floats) -> dict[int, Fact]:
    """Cells far from the median of their neighbours, by file and record size, in the same test."""
    by_test: dict[str, dict[tuple[int, int], int]] = defaultdict(dict)
    files = {size: i for i, size in enumerate(sorted({f or 0 for _, f, _ in keys}))}
    records = {size: i for i, size in enumerate(sorted({r or 0 for _, _, r in keys}))}
    for at, (test, file, record) in enumerate(keys):
        if np.isfinite(centres[at]):
            by_test[test][files[file or 0], records[record or 0]] = at
    around: dict[int, float] = {}
    for places in by_test.values():
        for (row, column), at in places.items():
            near = [
                centres[places[row + i, column + j]]
                for i in (-1, 0, 1)
                for j in (-1, 0, 1)
                if (i or j) and (row + i, column + j) in places
            ]
            if len(near) >= NEIGHBOURS:
                around[at] = float(np.median(near))
    if not around:
        return {}
    usual = 1.4826 * float(np.median([abs(centres[at] - middle) for at, middle in around.items()]))
    limit = max(UNUSUAL * usual, math.log(OUTLYING))
    return {
        at: NeighbourOutliers(math.exp(centres[at]), math.exp(middle))
        for at, middle in around.items()
        if abs(centres[at] - middle) > limit
    }


def _wild_blocks(logs: Floats) -> dict[int, Fact]:
    """Cells with one block far from the others. Fewer than four blocks do not tell which one is wrong."""
    reasons: dict[int, Fact] = {}
    for at, row in enumerate(logs):
        present = np.flatnonzero(np.isfinite(row))
        if present.size < 4:
            continue
        away = row[present] - np.median(row[present])
        usual = 1.4826 * float(np.median(np.abs(away)))
        far = np.flatnonzero(np.abs(away) > max(UNUSUAL * usual, math.log(OUTLYING)))
        if far.size == 1:
            rest = np.delete(row[present], far[0])
            one = math.exp(row[present][far[0]])
            reasons[at] = WildBlock(one, math.exp(float(np.median(rest))))
    return reasons
