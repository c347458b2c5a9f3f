"""Columns of which one is the product of others and a constant: which constant fits all rows, and which rows it
does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bakeoff.audit.interval import Bools, Floats, Interval, most_common
from bakeoff.audit.repairs import RANKS, Repair, repairs
from bakeoff.audit.table import Column, Table

# A constant is believed when it fits so many of the rows, of at least so many.
MOST_ROWS = 0.6
FEWEST_ROWS = 3
# Rows that are measured apart from each other agree about this well with what most have; more is worth a word.
SPREAD = 0.02
DEVIATIONS = 6.0
MAD = 1.4826
# From so many findings in a table on nobody repairs one by one.
MOST_REPAIRED = 40
# How the constant was found: one that was named fits, one without a name fits, rows are near to one, none.
How = Literal["named", "common", "near", "none"]


@dataclass(frozen=True)
class Fit:
    """The `constant` with its `name`, how it was `found`, the rows in which the columns were `checked`, and those that
    are `wrong`. `spread` is how far the rows differ that are near to it, as a share.
    """

    found: How
    constant: float
    name: str
    checked: Bools
    wrong: Bools
    spread: float = 0.0


def fit(constant: Interval, tolerant: Interval, named: Mapping[str, float]) -> Fit:
    """What fits the `constant` that each row implies; `tolerant` is the same of digits that were cut off."""
    checked = constant.known & (constant.low > 0)
    number = int(checked.sum())
    if not number:
        return Fit("none", np.nan, "", checked, np.zeros_like(checked))
    misfits = {name: checked & ~(constant.meets(value) | tolerant.meets(value)) for name, value in named.items()}
    best = min(misfits, key=lambda name: int(misfits[name].sum()), default="")
    if best and number - int(misfits[best].sum()) >= max(1, MOST_ROWS * number):
        return Fit("named", named[best], best, checked, misfits[best])
    value, times = most_common(tolerant[checked])
    if times >= max(FEWEST_ROWS, MOST_ROWS * number):
        wrong = checked & ~(constant.meets(value) | tolerant.meets(value))
        return Fit("common", value, "", checked, wrong)
    return _near(constant, checked, number)


def _near(constant: Interval, checked: Bools, number: int) -> Fit:
    """Rows that are near to one constant, as those of separate measurements are."""
    if number < 2 * FEWEST_ROWS - 1:
        return Fit("none", np.nan, "", checked, np.zeros_like(checked))
    logs = np.log(np.where(checked, constant.middle, 1.0))
    value = float(np.median(logs[checked]))
    spread = MAD * float(np.median(np.abs(logs[checked] - value)))
    if spread > SPREAD:
        return Fit("none", np.nan, "", checked, np.zeros_like(checked))
    wrong = checked & (np.abs(logs - value) > max(DEVIATIONS * spread, 2 * SPREAD))
    return Fit("near", float(np.exp(value)), "", checked, wrong, spread)


@dataclass(frozen=True)
class Suspect:
    """The number of a row that most likely is the wrong one: what is expected of it in its printed unit, the repairs
    that give it, and whether another sign than this check points at it, too.
    """

    column: Column
    expected: Interval
    repairs: tuple[Repair, ...]
    agreed: bool


def suspect(table: Table, row: int, expected: Sequence[tuple[Column, Interval]], repairing: bool = True) -> Suspect:
    """Which of the columns is wrong in `row`, when each would have to be what is `expected` of it, in printed units.

    Nobody mistypes a setting that is the same in all rows. Of the others it is the one that stands out of its
    neighbours, or else the one that the smallest slip explains, or else the first.
    """
    found = []
    for column, interval in [one for one in expected if not one[0].is_set] or expected:
        at = interval if interval.low.ndim == 0 else interval[row]
        letters = column.letters(row)
        mended = repairs(column.text(row), float(at.low) / letters, float(at.high) / letters) if repairing else ()
        found.append(Suspect(column, at, mended, False))
    rough = [_roughness(table, one.column, row) for one in found]
    worst = int(np.argmax(rough))
    others = max((value for place, value in enumerate(rough) if place != worst), default=0.0)
    if rough[worst] > 0.05 and rough[worst] > 3 * others:
        one = found[worst]
        return Suspect(one.column, one.expected, one.repairs, True)
    return min(found, key=lambda one: _rank(one.column, one.repairs))


def _roughness(table: Table, column: Column, row: int) -> float:
    """The distance of a number from its neighbours' curve, as the logarithm of the ratio; 0 where nothing tells."""
    curve = table.curves.get(column.name)
    place = None if curve is None else curve.places.get(row)
    if curve is None or place is None:
        return 0.0
    residues, noise = curve.residues
    return abs(float(residues[place])) / float(noise[place])


def _rank(column: Column, mended: Sequence[Repair]) -> tuple[int, ...]:
    """What is chosen is seldom wrong; what one small slip explains often is."""
    return (0, int(column.is_load), RANKS[mended[0].slip]) if len(mended) == 1 else (1, len(mended) or 99)


def off_by(stands: Floats, expected: float) -> Floats:
    """How far a number is from what is expected, as a share."""
    return np.asarray(np.abs(stands / expected - 1.0))
