"""A number off the curve of its neighbours along the axis of loads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bakeoff.audit.checks.laws import expected
from bakeoff.audit.facts import OffCurve
from bakeoff.audit.finding import Finding, Outcome, Sure
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Interval
from bakeoff.audit.repairs import repairs
from bakeoff.audit.smooth import Curve
from bakeoff.audit.table import COUNTS, Column, Table

KEY = "curve"
# A number so many times farther off than is usual of its column, and by so much at least, is told.
TIMES = 5.0
LEAST = 0.12
FEWEST = 8
MAD = 1.4826
# Curves that are so rough tell nothing.
ROUGH = 0.20
# So many of the farthest are tried.
CANDIDATES = 5
# What goes on with the load; errors and deviations jump.
JUMPS = ("errors", "deviation", "minimum", "maximum", *COUNTS)


def check(table: Table, given: Given) -> Iterator[Outcome]:
    """Each measured column of enough rows."""
    if table.axis is None:
        return
    findings, checked = [], 0
    for column in table.measured:
        if column.name.split()[-1] in JUMPS:
            continue
        curve = table.curves[column.name]
        if curve is not None and len(curve.rows) >= FEWEST:
            checked += len(curve.rows)
            findings += list(_off(table, column, curve))
    yield Outcome(KEY, table.file, checked, tuple(findings))


def _off(table: Table, column: Column, curve: Curve) -> Iterator[Finding]:
    """The number without which the curve is smoothest, when it is far off."""
    residues, noise = curve.residues
    sizes = np.abs(residues) / noise
    if sizes.max() < LEAST:
        return
    worst = np.argsort(-sizes)[:CANDIDATES]
    place, usual = min(((int(at), _usual(curve, int(at))) for at in worst), key=lambda one: one[1])
    size = float(sizes[place])
    if usual > ROUGH or size < max(LEAST, TIMES * usual):
        return
    row = int(curve.rows[place])
    off = float(np.exp(residues[place]))
    middle = float(column.printed.middle[row]) / off
    width = middle * max(3 * usual * float(noise[place]), 0.03)
    interval = Interval.of(middle - width, middle + width)
    mended = repairs(column.text(row), float(interval.low), float(interval.high))
    fact = OffCurve(expected(column, interval), off, float(np.exp(usual)))
    sure: Sure = "likely" if len(mended) == 1 else "possible"
    yield Finding(KEY, "off", (table.place(column, row),), fact, sure, mended if len(mended) == 1 else ())


def _usual(curve: Curve, place: int) -> float:
    """How far the others are off when this one is mended."""
    sizes = np.delete(np.abs(curve.residues_without(place)) / curve.residues[1], place)
    return float(max(MAD * np.median(sizes), np.max(sizes) / 2))
