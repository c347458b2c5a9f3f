"""What stands on the axes of charts, with units: what a tick reads, and how neighbours step aside for each other.

Users say what an axis has; axes and scales are made of it when the chart is drawn.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bakeoff.load.load_step import LoadStep
from bakeoff.report.charts.drawing import later
from bakeoff.report.charts.theme import LETTER, WIDTH, Row

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

# Intervals of neighbours stand so many pixels apart at most, and take at most that share of the way to the next load
# step; on an axis of doublings they stand apart by a factor.
APART_PX, OF_THE_WAY, APART = 7.0, 0.4, 1.03
# Ratios up to 10, and how the rest goes on in each power of ten; below 1 are their reciprocals or round shares.
ABOVE_1 = (1.01, 1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0)
BELOW_1 = (0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.2)
MOST_DECADES = 9
# Times from the slowest to the fastest at a load step.
FAR = 20.0
# Where a logarithmic axis begins, as a share of the least on it.
LEAST = 0.8
MOST_TICKS, MOST_SIZES, LABELS_PX = 8, 9, 210
# Vega leaves out every other tick, even of those that it is given, while there are more than the theme wants.
EVERY_ONE = 100
ENDS = ("low", "high")


@dataclass(frozen=True)
class Scaled:
    """An axis with its scale, for every field that stands on it, and the number at its ground."""

    axis: alt.Axis
    scale: alt.Scale
    floor: float = 0

    def x(self, field: str) -> alt.X:
        """The field from left to right."""
        return alt.X(f"{field}:Q", axis=self.axis, scale=self.scale)

    def y(self, field: str) -> alt.Y:
        """The field from the ground up."""
        return alt.Y(f"{field}:Q", axis=self.axis, scale=self.scale)


class Values(Protocol):
    """What an axis of numbers has: the `field` of rows, beside `low` and `high`."""

    @property
    def field(self) -> str:
        """The key of rows."""

    def scaled(self, rows: Sequence[Row]) -> Scaled:
        """The axis for these rows."""


@dataclass(frozen=True)
class Amounts:
    """Amounts from 0, in full: 0.4, 40,000, 1.2 M. Of contenders `far` apart on logarithms; up to `most`, if given."""

    unit: str
    far: bool = False
    most: float | None = None
    field: str = "value"

    def scaled(self, rows: Sequence[Row]) -> Scaled:
        """From 0, never below, to a round number above all; to 1 where all is 0."""
        if self.far and far_apart(rows):
            return Logs(self.unit).scaled(rows)
        top = max(_numbers(rows, self.field), default=0.0)
        scale = alt.Scale(zero=True, nice=True, domainMin=0) if top > 0.0 else alt.Scale(domain=[0, 1])
        if self.most is not None:
            scale = alt.Scale(domain=[0, self.most], nice=False)
        if top >= 1e6:
            million = "datum.value == 0 ? '0' : format(datum.value / 1e6, ',~f') + ' M'"
            return Scaled(alt.Axis(title=self.unit, labelExpr=million), scale)
        return Scaled(alt.Axis(title=self.unit, format=",~f" if top >= 1e-3 else "~g"), scale)


@dataclass(frozen=True)
class Logs:
    """Amounts or times on logarithms, with a handful of round numbers, a little wider than all of them."""

    unit: str
    field: str = "value"

    def scaled(self, rows: Sequence[Row]) -> Scaled:
        """With ticks at 1, 2, 5 or so of each power of ten."""
        there = [value for value in _numbers(rows, self.field) if value > 0.0] or [1.0, 10.0]
        low, high = LEAST * min(there), max(there) / LEAST
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for steps in ((1.0, 2.0, 3.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
            ticks = [step * 10.0**power for power in decades for step in steps if low <= step * 10.0**power <= high]
            if len(ticks) <= MOST_TICKS:
                break
        label = "datum.value >= 1e6 ? format(datum.value / 1e6, ',~f') + ' M' : format(datum.value, ',~r')"
        return _log(f"{self.unit}, log scale", ticks, label, (low, high))


@dataclass(frozen=True)
class Ratios:
    """Ratios on logarithms, 1 and `delta` around it always among them, or as far below 1 as above where `even`."""

    title: str
    delta: float = 0.0
    even: bool = False
    field: str = "ratio"

    def scaled(self, rows: Sequence[Row]) -> Scaled:
        """With a tick at 1."""
        ends = [value for value in _numbers(rows, self.field) if value]
        low = min([*ends, 1.0 / (1.0 + 1.6 * self.delta)]) * 0.97
        high = max([*ends, 1.0 + 1.6 * self.delta]) * 1.03
        if self.even:
            high = max(high, 1.0 / low, 1.06)
            low = 1.0 / high
        label = "format(datum.value, ',~f')"
        return _log(self.title, log_ticks(low, high), label, (low, high), clamp=True)


@dataclass(frozen=True)
class Shares:
    """Percentages from 0: of a `whole`, or beyond 100 % as far as they go."""

    title: str
    whole: bool = False
    field: str = "share"

    def scaled(self, rows: Sequence[Row]) -> Scaled:
        """To 100 %, or a little above all."""
        top = 1.0 if self.whole else max(1.25, 1.05 * max(_numbers(rows, self.field), default=1.0))
        return Scaled(alt.Axis(title=self.title, format=".0%"), alt.Scale(domain=[0, top], nice=False))


@dataclass(frozen=True)
class Counted:
    """Whole numbers or times, all of them from `first` to `last`."""

    title: str
    field: str
    first: float
    last: float
    # The least distance of two ticks.
    step: float | None = None

    def scaled(self, rows: Sequence[Row]) -> Scaled:
        """The same for any rows."""
        axis = alt.Axis(title=self.title) if self.step is None else alt.Axis(title=self.title, tickMinStep=self.step)
        return Scaled(axis, alt.Scale(domain=[self.first, self.last], nice=False))


def _numbers(rows: Iterable[Row], field: str) -> list[float]:
    return [value for row in rows for key in (field, *ENDS) if (value := row.get(key)) is not None]


def _log(title: str, ticks: Sequence[float], label: str, ends: tuple[float, float], clamp: bool = False) -> Scaled:
    axis = alt.Axis(title=title, values=list(ticks), labelExpr=label, labelOverlap=False, tickCount=EVERY_ONE)
    scale = alt.Scale(type="log", domain=list(ends), nice=False, clamp=clamp)
    return Scaled(axis, scale, ends[0])


class Across(Protocol):
    """What a chart of lines has from left to right."""

    def placed(self, rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
        """`rows` with `at`, their places on the axis."""

    def x(self, rows: Sequence[Row]) -> alt.X:
        """The axis for `at` of placed rows."""


@dataclass(frozen=True)
class Loads:
    """The load (`load_step` in rows), with a tick at each load step; intervals at one load step stand beside each
    other.
    """

    load_steps: Sequence[LoadStep]

    def placed(self, rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
        """See Across."""
        return stepped_aside(rows, names, self.load_steps)

    def x(self, rows: Sequence[Row]) -> alt.X:
        """A single load step stands in the middle."""
        ticks = [load_step.x for load_step in self.load_steps]
        title = self.load_steps[0].axis
        axis = alt.Axis(values=ticks, title=title, labelOverlap="greedy", labelSeparation=8, format=",~f")
        top = max(ticks) * (2.0 if len(ticks) == 1 else 1.05)
        return alt.X("at:Q", axis=axis, scale=alt.Scale(domain=[0, top], nice=False))


@dataclass(frozen=True)
class Doublings:
    """Sizes or depths (`field` in rows) that are doubled more often than added to, with ticks that `label` writes."""

    title: str
    field: str
    label: Callable[[float], str] = "{:g}".format

    def placed(self, rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
        """Neighbours with intervals stand apart, so that their bars can be told."""
        barred = any(row.get("low") is not None for row in rows if row["contender"] in names)
        apart = APART if barred else 1.0
        middle = (len(names) - 1) / 2.0
        steps = {name: apart ** (place - middle) for place, name in enumerate(names)}
        return [{**row, "at": round(row[self.field] * steps.get(row["contender"], 1.0), 4)} for row in rows]

    def x(self, rows: Sequence[Row]) -> alt.X:
        """All or some of the sizes with a tick."""
        sizes = sorted({row[self.field] for row in rows})
        shown = sizes[:: 1 + (len(sizes) - 1) // MOST_SIZES]
        words = " : ".join(f"datum.value == {size:g} ? '{self.label(size)}'" for size in shown)
        axis = alt.Axis(title=self.title, values=shown, labelExpr=f"{words} : ''", labelOverlap="greedy")
        ends = [sizes[0] / 1.15, sizes[-1] * 1.15]
        return alt.X("at:Q", axis=axis, scale=alt.Scale(type="log", base=2, domain=ends, nice=False))


@dataclass(frozen=True)
class Elapsed:
    """Time since the start, which rows have as `at`."""

    title: str

    def placed(self, rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
        """See Across."""
        return list(rows)

    def x(self, rows: Sequence[Row]) -> alt.X:
        """To the last of them."""
        end = max((row["at"] or 0.0 for row in rows), default=1.0) * 1.02
        return Counted(self.title, "at", 0.0, end or 1.0).scaled(rows).x("at")


@dataclass(frozen=True)
class Moments:
    """Days and hours in UTC, which rows have as `at` in ISO 8601."""

    title: str

    def placed(self, rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
        """See Across."""
        return list(rows)

    def x(self, rows: Sequence[Row]) -> alt.X:
        """From the first to the last."""
        axis = alt.Axis(title=self.title, labelOverlap="greedy", labelSeparation=8)
        return alt.X("at:T", axis=axis, scale=alt.Scale(type="utc"))


@dataclass(frozen=True)
class Named:
    """Names (`field` in rows) at equal distances, in their order; without a `title` they go without saying."""

    field: str
    names: Sequence[str]
    title: str | None

    def placed(self, rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
        """See Across."""
        return list(rows)

    def x(self, rows: Sequence[Row], scale: alt.Scale | None = None) -> alt.X:
        """From left to right."""
        axis = alt.Axis(title=self.title, labelAngle=0, labelOverlap="greedy", labelSeparation=6)
        return alt.X(f"{self.field}:O", sort=list(self.names), axis=axis, scale=scale or alt.Scale(padding=0.5))

    def y(self) -> alt.Y:
        """From top to bottom, with room for their letters."""
        axis = alt.Axis(labels=False, title=None, domain=True)
        if self.title is not None:
            # Drawn by one typeface and shown in another, which may be wider.
            room = min(LETTER * max(map(len, self.names)), LABELS_PX * 1.15)
            axis = alt.Axis(title=None, labelLimit=LABELS_PX, minExtent=room, domain=False, ticks=False, grid=False)
        return alt.Y(f"{self.field}:N", sort=list(self.names), axis=axis, scale=alt.Scale(padding=0.5))


def by_load_step(load_steps: Sequence[LoadStep]) -> Named:
    """The load steps at equal distances, by their words."""
    return Named("load_step", [str(load_step) for load_step in load_steps], load_steps[0].axis)


def round_top(top: float) -> float:
    """The next round number from `top` on, for panels of one scale."""
    if not top > 0.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(top))
    return next(
        step * power for step in (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0) if step * power >= top
    )


def far_apart(rows: Sequence[Row]) -> bool:
    """Whether contenders differ so much at most load steps that only logarithms tell the smaller ones from nothing."""
    by_load_step: dict[float, list[float]] = defaultdict(list)
    for row in rows:
        if row["value"] is not None:
            by_load_step[row["load_step"]].append(row["value"])
    if not by_load_step or any(min(values) <= 0.0 for values in by_load_step.values()):
        return False
    ratios = sorted(max(values) / min(values) for values in by_load_step.values())
    return ratios[len(ratios) // 2] > FAR


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


def stepped_aside(rows: Sequence[Row], names: Sequence[str], load_steps: Sequence[LoadStep]) -> list[Row]:
    """`rows` with `at`, their places on the axis: intervals at one load step stand beside each other."""
    shown = [name for name in names if any(row["contender"] == name for row in rows)]
    loads = sorted(load_step.x for load_step in load_steps)
    unit = loads[-1] / (WIDTH - 60)
    gaps = [after - before for before, after in itertools.pairwise(loads)] or [loads[-1]]
    step = min(APART_PX * unit, OF_THE_WAY * min(*gaps, loads[0] or math.inf) / max(1, len(shown)))
    if len(shown) < 2 or not any(row.get("high") is not None for row in rows):
        step = 0.0
    middle = (len(shown) - 1) / 2.0
    return [{**row, "at": round(row["load_step"] + (shown.index(row["contender"]) - middle) * step, 4)} for row in rows]
