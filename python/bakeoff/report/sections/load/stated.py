"""The figures that files of other tools state: each against the load, and how far apart in percent, both ways."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from bakeoff.compare.model.comparison import Measure
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
    blocks += [table for table in (_percent(context, measures),) if table is not None]
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


def _percent(context: Context, measures: Sequence[Measure]) -> Table | None:
    """By how much each contender differs from the baseline: at each load in what decides, with means over all loads; at
    a single load in each figure. None without anything that both state.
    """
    steps, first = context.comparison.run.load_steps, measures[0]
    base, *others = context.names
    if len(steps) > 1:
        labels, head = [str(step) for step in steps], Column(context.load_step_title)
        ratios = {name: _ratios(context, first, name) for name in others}
    else:
        labels, head = [measure.title for measure in measures], Column("Figure", numeric=False)
        ratios = {name: [_ratios(context, measure, name)[0] for measure in measures] for name in others}
    if not any(ratio is not None for column in ratios.values() for ratio in column):
        return None
    columns = [head]
    for name in others:
        columns += [
            Column("ratio − 1", group=f"{name} against {base}"),
            Column("reduction", group=f"{name} against {base}"),
        ]
    rows = [
        (label, *(cell for column in ratios.values() for cell in _cells(column[index])))
        for index, label in enumerate(labels)
    ]
    if len(steps) > 1:
        rows += [
            (name, *(cell for column in ratios.values() for cell in _over(column, mean)))
            for name, mean in MEANS.items()
        ]
    note = (
        f"{first.title if len(steps) > 1 else 'Each figure'}; above 0 is better. Twice as good is +100 % by the ratio "
        "and +50 % as a reduction: claims use both. A figure that either does not state is left out."
    )
    return Table("Differences in percent, both ways", tuple(columns), tuple(rows), note, detail=Detail.COMPARISON)


def _ratios(context: Context, measure: Measure, name: str) -> Sequence[float | None]:
    """How many times as good as the baseline a contender is at each load; None where one of both is not stated."""
    base, other = (context.comparison.curve(measure.metric, one) for one in (context.names[0], name))
    found = []
    for below, above in zip(base.points, other.points, strict=True):
        known = math.isfinite(below.centre) and math.isfinite(above.centre) and min(below.centre, above.centre) > 0.0
        ratio = above.centre / below.centre if known else math.nan
        found.append((ratio if measure.higher_is_better else 1.0 / ratio) if known else None)
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
