"""The rates of all contenders at each load step with the ratios to the baseline: what decides, in one table."""

from __future__ import annotations

import math

from bakeoff.compare.model.comparison import Comparison, CurvePoint
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.report.blocks.severity import verdict_cell
from bakeoff.report.blocks.tree import Column, Table
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate import wording

LOST = (
    "A trial that was lost is in the mean with what was done in it, which may be nothing: the mean is arithmetic "
    "then, and without an interval. The ratio counts it as the verdict says."
)


def rate_key(context: Context) -> str:
    """The metric that tells what was done per second; what decides, where files of another tool state no such."""
    return next((key for key in context.known(("rate",))), context.comparison.measures[0].metric)


def rates_table(context: Context) -> Table:
    """A row for each load step: the rate of each contender, and each ratio to the baseline with its simultaneous
    band.
    """
    comparison = context.comparison
    info = comparison.run
    columns = [Column(context.load_step_unit), *(Column(name) for name in context.names)]
    against = [pair for pair in comparison.pairs if pair.baseline == info.baseline]
    for pair in against:
        over = f"{pair.contender} ÷ {pair.baseline}"
        # Of several pairs each keeps its verdict beside it where the table goes on below.
        group = over if len(against) > 1 else ""
        columns += [Column("ratio" if group else over, group=group), Column("verdict", numeric=False, group=group)]
    rows = []
    for index, load_step in enumerate(info.load_steps):
        row = [str(load_step)]
        for curve in context.curves(rate_key(context)):
            point = curve.points[index]
            half = wording.plus_minus(point.centre, point.low, point.high)
            forfeited = wording.forfeits_of(point.forfeited, _tried(point)) + _nothing(
                comparison, curve.contender, point
            )
            row.append(wording.figures(point.centre) + half + forfeited)
        for pair in against:
            at = pair.curves[0].points[index]
            row += [reach(at.ratio, at.low, at.high, at.all_forfeited), verdict_cell(at)]
        rows.append(tuple(row))
    title = f"{info.rate_unit} (mean over blocks, 95 % interval from {MINIMUM_BLOCKS} blocks on)"
    note = LOST if any(not lost.cell and lost.load_step in info.load_steps for lost in comparison.forfeited) else ""
    return Table(title, tuple(columns), tuple(rows), note, detail=Detail.SUMMARY)


def reach(ratio: float, low: float, high: float, all_forfeited: str = "") -> str:
    """ "1.18× (1.12–1.24)", without the interval where there is none; who forfeited all of it instead, for a dead
    contender
    has no ratio.
    """
    if all_forfeited:
        return f"{all_forfeited} forfeited all"
    interval = "" if math.isnan(low) else f" ({wording.interval(low, high)})"
    return f"{wording.ratio(ratio, low, high)}{interval}"


def _nothing(comparison: Comparison, contender: str, point: CurvePoint) -> str:
    """ " (nothing in 1 of 6)", of trials that came to their end and did nothing of what decides."""
    forfeited = sum(
        one.contender == contender and one.load_step == point.load_step and not one.cell for one in comparison.forfeited
    )
    return f" (nothing in {forfeited - point.forfeited} of {_tried(point)})" if forfeited > point.forfeited else ""


def _tried(point: CurvePoint) -> int:
    """Blocks in which the contender was tried: those that it lost may have no number."""
    return max(point.blocks, point.forfeited)
