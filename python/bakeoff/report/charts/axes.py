"""Axes with their units: what a tick reads, where a mix stands, and how neighbours step aside for each other."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bakeoff.mix import Mix
from bakeoff.report.charts.drawing import later
from bakeoff.report.charts.theme import WIDTH, Row

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

# Intervals of neighbours stand so many pixels apart at most, and take at most that share of the way to the next mix.
APART_PX, OF_THE_WAY = 7.0, 0.4
# Ratios up to 10, and how the rest goes on in each power of ten; below 1 are their reciprocals or round shares.
ABOVE_1 = (1.01, 1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0)
BELOW_1 = (0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.2)
MOST_DECADES = 9
# Times from the slowest to the fastest at a mix.
FAR = 20.0
# Where a logarithmic axis begins, as a share of the least on it.
LEAST = 0.8
MOST_TICKS = 8
# Vega leaves out every other tick, even of those that it is given, while there are more than the theme wants.
EVERY_ONE = 100


def amount_axis(title: str, top: float) -> alt.Axis:
    """An axis of amounts from 0 to about `top`, in full: 0.4, 40,000, 1.2 M."""
    if top >= 1e6:
        million = "datum.value == 0 ? '0' : format(datum.value / 1e6, ',~f') + ' M'"
        return alt.Axis(title=title, labelExpr=million)
    return alt.Axis(title=title, format=",~f" if top >= 1e-3 else "~g")


def amount_scale(top: float) -> alt.Scale:
    """From 0, never below, to a round number above `top`; to 1 where all is 0."""
    if not top > 0.0:
        return alt.Scale(domain=[0, 1])
    return alt.Scale(zero=True, nice=True, domainMin=0)


def round_top(top: float) -> float:
    """The next round number from `top` on, for panels of one scale."""
    if not top > 0.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(top))
    return next(
        step * power for step in (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0) if step * power >= top
    )


def far_apart(rows: Sequence[Row]) -> bool:
    """Whether contenders differ so much at most mixes that only logarithms tell the smaller ones from nothing."""
    by_mix: dict[float, list[float]] = defaultdict(list)
    for row in rows:
        if row["value"] is not None:
            by_mix[row["mix"]].append(row["value"])
    if not by_mix or any(min(values) <= 0.0 for values in by_mix.values()):
        return False
    ratios = sorted(max(values) / min(values) for values in by_mix.values())
    return ratios[len(ratios) // 2] > FAR


def log_axis(unit: str, values: Sequence[float]) -> alt.Axis:
    """A logarithmic axis of amounts or times, with a handful of round numbers."""
    low, high = _ends(values)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1.0, 2.0, 3.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        ticks = [step * 10.0**power for power in decades for step in steps if low <= step * 10.0**power <= high]
        if len(ticks) <= MOST_TICKS:
            break
    label = "datum.value >= 1e6 ? format(datum.value / 1e6, ',~f') + ' M' : format(datum.value, ',~r')"
    return alt.Axis(title=f"{unit}, log scale", values=ticks, labelExpr=label, labelOverlap=False, tickCount=EVERY_ONE)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    there = [value for value in values if value > 0.0] or [1.0, 10.0]
    return LEAST * min(there), max(there) / LEAST


def log_range(values: Sequence[float]) -> alt.Scale:
    """A logarithmic scale a little wider than `values`."""
    return alt.Scale(type="log", domain=list(_ends(values)), nice=False)


def ratio_axis(title: str, low: float, high: float) -> alt.Axis:
    """A logarithmic axis of ratios on which 1 is always told; below 0.1 they read as 1/20."""
    label = "datum.value < 0.095 ? '1/' + format(1 / datum.value, ',.0f') : format(datum.value, ',~f')"
    return alt.Axis(title=title, values=log_ticks(low, high), labelExpr=label, labelOverlap=False, tickCount=EVERY_ONE)


def log_ticks(low: float, high: float) -> list[float]:
    """Six or so round ratios between the bounds, 1 always among them."""
    fine = [1.0, *ABOVE_1, *BELOW_1]
    for power in range(1, MOST_DECADES):
        steps = [step * 10.0**power for step in (1.0, 2.0, 5.0)]
        fine += [*steps, *(1.0 / step for step in steps)]
    inside = [tick for tick in fine if low <= tick <= high]
    gap = math.log(high / low) / 9.0
    kept = [1.0]
    # First whole powers of ten, where there are several, then what is nearest to 1.
    coarse = math.log10(high / low) > 2.0
    for tick in sorted(inside, key=lambda t: (coarse and abs(math.log10(t)) % 1.0 > 1e-9, abs(math.log(t)))):
        if all(abs(math.log(tick / other)) >= gap for other in kept):
            kept.append(tick)
    return sorted(kept)


def mix_axis(mixes: Sequence[Mix], field: str = "at") -> alt.X:
    """The load, with a tick at each mix; a single mix stands in the middle."""
    axis = alt.Axis(
        values=[mix.x for mix in mixes], title=mixes[0].axis, labelOverlap="greedy", labelSeparation=8, format=",~f"
    )
    most = max(mix.x for mix in mixes)
    top = most * (2.0 if len(mixes) == 1 else 1.05)
    return alt.X(f"{field}:Q", axis=axis, scale=alt.Scale(domain=[0, top], nice=False))


def named_mix_axis(mixes: Sequence[Mix], scale: alt.Scale | None = None) -> alt.X:
    """The mixes at equal distances."""
    axis = alt.Axis(title=mixes[0].axis, labelAngle=0, labelOverlap="greedy", labelSeparation=6)
    return alt.X("mix:O", sort=[str(mix) for mix in mixes], axis=axis, scale=scale or alt.Scale(padding=0.5))


def stepped_aside(rows: Sequence[Row], names: Sequence[str], mixes: Sequence[Mix]) -> list[Row]:
    """`rows` with `at`, their places on the axis: intervals at one mix stand beside each other."""
    shown = [name for name in names if any(row["contender"] == name for row in rows)]
    loads = sorted(mix.x for mix in mixes)
    unit = loads[-1] / (WIDTH - 60)
    gaps = [after - before for before, after in itertools.pairwise(loads)] or [loads[-1]]
    step = min(APART_PX * unit, OF_THE_WAY * min(*gaps, loads[0] or math.inf) / max(1, len(shown)))
    if len(shown) < 2 or not any(row.get("high") is not None for row in rows):
        step = 0.0
    middle = (len(shown) - 1) / 2.0
    return [{**row, "at": round(row["mix"] + (shown.index(row["contender"]) - middle) * step, 4)} for row in rows]
