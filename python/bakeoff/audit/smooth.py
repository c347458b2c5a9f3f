"""How far a number lies off the curve of its neighbours along an axis of loads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bakeoff.audit.interval import Floats
from bakeoff.audit.table import Column, Table

FEWEST = 5
NEIGHBOURS = 4
# The noise of one in the middle of four at even distances: 1 + 2 · (1/36 + 16/36).
QUIET = 1.95


def roughness(table: Table, column: Column, row: int) -> float:
    """The distance of a number from its neighbours' curve, as the logarithm of the ratio; 0 where nothing tells."""
    curve = None if column.is_load else curve_of(table, column)
    if curve is None or row not in curve.rows:
        return 0.0
    residues, noise = curve.residues()
    place = curve.rows.index(row)
    return abs(float(residues[place])) / float(noise[place])


@dataclass(frozen=True)
class Curve:
    """The logarithms of a column `along` those of its axis; `rows` are those of the table."""

    rows: tuple[int, ...]
    along: Floats
    values: Floats

    def residues(self) -> tuple[Floats, Floats]:
        """How far each is from the curve of third degree through its four nearest (Lagrange's form), and how much the
        noise of these weighs, 1 in the middle of even distances.
        """
        count = len(self.along)
        places = np.arange(count)[:, None]
        first = np.clip(places - NEIGHBOURS // 2, 0, count - NEIGHBOURS - 1)
        near = first + np.arange(NEIGHBOURS)
        near = near + (near >= places)  # its own place is none of them
        shares = _shares(self.along[near], self.along[:, None])
        noise = np.maximum(1.0, np.sqrt((1 + np.sum(shares**2, axis=1)) / QUIET))
        return self.values - np.sum(shares * self.values[near], axis=1), noise

    def without(self, place: int, residue: float) -> Curve:
        """With what its neighbours let expect in a place."""
        values = self.values.copy()
        values[place] -= residue
        return Curve(self.rows, self.along, values)


def curve_of(table: Table, column: Column) -> Curve | None:
    """The curve of a column; None without enough numbers above 0."""
    if table.axis is None or len(column.cells) < FEWEST:
        return None
    where, what = table.axis.base.low, column.base.middle
    usable = np.flatnonzero((what > 0) & (where > 0))
    if len(usable) < FEWEST:
        return None
    order = usable[np.argsort(where[usable], kind="stable")]
    return Curve(tuple(map(int, order)), np.log(where[order]), np.log(what[order]))


def _shares(near: Floats, at: Floats) -> Floats:
    """How much each of the neighbours counts, shape (places, neighbours); `at` has shape (places, 1)."""
    found = np.ones_like(near)
    for own in range(near.shape[1]):
        for other in range(near.shape[1]):
            if other != own:
                found[:, own] *= (at[:, 0] - near[:, other]) / (near[:, own] - near[:, other])
    return found
