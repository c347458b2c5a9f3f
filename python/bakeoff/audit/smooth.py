"""How far a number lies off the curve of its neighbours along an axis of loads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bakeoff.audit.interval import Floats

FEWEST = 5
NEIGHBOURS = 4
# The noise of one in the middle of four at even distances: 1 + 2 · (1/36 + 16/36).
QUIET = 1.95


@dataclass(frozen=True)
class Curve:
    """The logarithms of a column `along` those of its axis; `rows` are those of the table."""

    rows: npt.NDArray[np.int64]
    along: Floats
    values: Floats

    @cached_property
    def places(self) -> dict[int, int]:
        """Where each row of the table stands on it."""
        return {row: place for place, row in enumerate(self.rows.tolist())}

    @cached_property
    def near(self) -> tuple[npt.NDArray[np.int64], Floats]:
        """The four nearest of each place, and how much each of them counts (Lagrange's form)."""
        count = len(self.along)
        places = np.arange(count)[:, None]
        first = np.clip(places - NEIGHBOURS // 2, 0, count - NEIGHBOURS - 1)
        near = first + np.arange(NEIGHBOURS)
        near = near + (near >= places)  # its own place is none of them
        return near, _shares(self.along[near], self.along[:, None])

    @cached_property
    def residues(self) -> tuple[Floats, Floats]:
        """How far each is from the curve of third degree through its four nearest, and how much the noise of these
        weighs, 1 in the middle of even distances.
        """
        near, shares = self.near
        noise = np.maximum(1.0, np.sqrt((1 + np.sum(shares**2, axis=1)) / QUIET))
        return self.values - np.sum(shares * self.values[near], axis=1), noise

    def residues_without(self, place: int) -> Floats:
        """The residues when in a place stands what its neighbours let expect: those of its neighbours are others."""
        residues, _ = self.residues
        found, values = residues.copy(), self.values.copy()
        values[place] -= residues[place]
        near, shares = self.near
        by = slice(max(0, place - NEIGHBOURS), place + NEIGHBOURS + 1)
        found[by] = values[by] - np.sum(shares[by] * values[near[by]], axis=1)
        return found


def curve_along(where: Floats, what: Floats) -> Curve | None:
    """The curve of numbers `what` at `where`; None without enough numbers above 0."""
    usable = np.flatnonzero((what > 0) & (where > 0))
    if len(usable) < FEWEST:
        return None
    order = usable[np.argsort(where[usable], kind="stable")]
    return Curve(order, np.log(where[order]), np.log(what[order]))


def _shares(near: Floats, at: Floats) -> Floats:
    """How much each of the neighbours counts, shape (places, neighbours); `at` has shape (places, 1)."""
    found = np.ones_like(near)
    for own in range(near.shape[1]):
        for other in range(near.shape[1]):
            if other != own:
                found[:, own] *= (at[:, 0] - near[:, other]) / (near[:, own] - near[:, other])
    return found
