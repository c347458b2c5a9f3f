"""The figures that files of other tools state: each against the load, and how far apart in percent, both ways."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from bakeoff.compare.model.comparison import Curve, Measure
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.sections.load.curves import curve_chart

# More charts than these nobody looks at; all figures are in the table.
MOST_CHARTS = 6
Mean = Callable[[Sequence[float]], float]


@report_section("stated", detail=Detail.COMPARISON, fits=lambda context: context.is_stated)
def section(context: Context) -> Section:
    """Charts where there are several loads, all figures in a table, and percentages of what decides."""
    blocks: list[Block] = [Text(_explained(context))]
    steps = context.comparison.run.load_steps
    measures = context.comparison.measures
    if len(steps) > 1:
        blocks += [curve_chart(context, measure.metric) for measure in measures[:MOST_CHARTS]]
    blocks += [_all(context, measures)]
    blocks += [table for measure in measures[:1] if (table := _percent(context, measure)) is not None]
    return Section("What the files state", tuple(blocks))


def _explained(context: Context) -> str:
    """From how many samples the figures are."""
    blocks = context.comparison.run.blocks_measured
    if blocks == 1:
        return (
            "Each figure is a single sample: it has no interval, and chance may be all of a difference. Repeated "
            f"samples (several files of each contender) have intervals from {MINIMUM_BLOCKS} on."
        )
    mean = f"Each figure is the geometric mean of {wording.plural(blocks, 'sample')} at most"
    return f"{mean}; intervals are there from {MINIMUM_BLOCKS} samples on."


def _all(context: Context, measures: Sequence[Measure]) -> Table:
    """A row for each figure at each load."""
    steps = context.comparison.run.load_steps
    columns = (
        Column("Figure", numeric=False),
        Column("Unit", numeric=False),
        *([Column(context.load_step_title)] if len(steps) > 1 else ()),
        *(Column(name) for name in context.names),
    )
    rows = []
    for measure in measures:
        curves = context.curves(measure.metric)
        for index, step in enumerate(steps):
            values = [curve.points[index].centre for curve in curves]
            if not all(map(math.isnan, values)):
                load = [str(step)] if len(steps) > 1 else []
                rows.append((measure.title, measure.unit, *load, *map(wording.figures, values)))
    note = f"{wording.MISSING}: not stated for this contender at this load."
    return Table("All figures", columns, tuple(rows), note, detail=Detail.COMPARISON)


def _percent(context: Context, measure: Measure) -> Table | None:
    """By how much each contender differs from the baseline at each load, and over all of them; None without any load
    that both state.
    """
    base, *others = context.curves(measure.metric)
    steps = context.comparison.run.load_steps
    columns = [Column(context.load_step_title)]
    for curve in others:
        over = f"{curve.contender} against {base.contender}"
        columns += [Column("ratio − 1", group=over), Column("reduction", group=over)]
    pairs = [list(_pairs(base, curve, measure.higher_is_better)) for curve in others]
    if not any(any(pair is not None for pair in column) for column in pairs):
        return None
    rows: list[tuple[str, ...]] = [
        (str(step), *(cell for column in pairs for cell in _cells(column[index]))) for index, step in enumerate(steps)
    ]
    if len(steps) > 1:
        for name, mean in MEANS.items():
            rows.append((name, *(cell for column in pairs for cell in _over(column, mean))))
    note = (
        f"{measure.title}; above 0 is better. Twice as good is +100 % by the ratio and +50 % as a reduction: claims "
        "use both. The geometric mean is that of the ratios. Loads that one of both does not state are left out."
    )
    return Table("Differences in percent, both ways", tuple(columns), tuple(rows), note, detail=Detail.COMPARISON)


def _pairs(base: Curve, other: Curve, higher_is_better: bool) -> Sequence[float | None]:
    """How many times as good the other one is at each load; None where one of both is not stated."""
    found = []
    for below, above in zip(base.points, other.points, strict=True):
        known = math.isfinite(below.centre) and math.isfinite(above.centre) and min(below.centre, above.centre) > 0.0
        ratio = above.centre / below.centre if known else math.nan
        found.append((ratio if higher_is_better else 1.0 / ratio) if known else None)
    return found


def _cells(ratio: float | None) -> tuple[str, str]:
    if ratio is None:
        return wording.MISSING, wording.MISSING
    return _signed(ratio - 1.0), _signed(1.0 - 1.0 / ratio)


def _over(ratios: Sequence[float | None], mean: Mean | None) -> tuple[str, str]:
    """A mean of the percentages over all loads; without one the geometric mean of the ratios."""
    known = [ratio for ratio in ratios if ratio is not None]
    if not known:
        return wording.MISSING, wording.MISSING
    if mean is None:
        return _cells(math.exp(math.fsum(map(math.log, known)) / len(known)))
    return _signed(mean([ratio - 1.0 for ratio in known])), _signed(mean([1.0 - 1.0 / ratio for ratio in known]))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _signed(share: float) -> str:
    return f"{share * 100:+.1f} %".replace("-", "−")


MEANS: Mapping[str, Mean | None] = {
    "minimum": min,
    "maximum": max,
    "arithmetic mean": _mean,
    "geometric mean": None,
}
