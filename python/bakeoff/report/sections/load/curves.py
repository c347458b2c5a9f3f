"""Rate and throughput against clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bakeoff.compare.metrics.curves import SATURATION_SHARE
from bakeoff.compare.model.comparison import Curve
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Chart, Column, Section, Table
from bakeoff.report.charts.axes import Amounts, Loads
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.rates import rates_table, reach
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence

IN_A_ROW = 2
"""Charts that a printed page has beside each other: more are for the full edition."""


@report_section("rates", detail=Detail.SUMMARY)
def section(context: Context) -> Section:
    """Charts of operations and bytes per second, and where each curve peaks and flattens."""
    first, *others = (curve_chart(context, metric) for metric in context.known(context.kind.rate_curves))
    # Where nothing can be drawn, the rates that decide stand for it.
    charts = (
        replace(first, plain=rates_table(context), detail=Detail.SUMMARY),
        *(replace(chart, in_full=place >= IN_A_ROW) for place, chart in enumerate(others, 1)),
    )
    # What counts exactly stands below the drawing.
    heads = [chart.title.partition(" (")[0] for chart in (first, *others)]
    title = wording.names([heads[0], *(f"{head[0].lower()}{head[1:]}" for head in heads[1:])])
    return Section(
        f"{title} against {context.load_step_unit}",
        (*charts, *([] if context.of_cells else [_peaks(context)])),
    )


def _peaks(context: Context) -> Table:
    unit, base = context.comparison.run.rate_unit, context.comparison.run.baseline
    columns = (
        Column("Contender", numeric=False),
        Column(f"Peak, {unit}"),
        Column("95 % interval"),
        Column(f"÷ peak of {base}", spare=2),
        Column(f"at {context.load_step_unit}"),
        Column("p99 there, ms", spare=1),
        Column(f"Saturated from {context.load_step_unit}"),
        Column("Last load step ÷ peak"),
        Column("Shape of the curve", numeric=False),
    )
    rows = tuple(
        (
            c.name,
            wording.span(c.peak_lowest, c.peak_highest) if c.peak_is_bimodal else wording.figures(c.peak),
            "blocks differ" if c.peak_is_bimodal else wording.span(c.peak_low, c.peak_high),
            "1" if c.name == base else reach(c.peak_ratio, c.peak_ratio_low, c.peak_ratio_high),
            wording.MISSING if c.peak_load_step is None else f"{c.peak_load_step}",
            wording.figures(c.peak_p99_ms),
            c.saturation(),
            wording.ratio(c.last_share_of_peak),
            sentence(c.shape),
        )
        for c in context.comparison.contenders
    )
    share = wording.percent(SATURATION_SHARE)
    note = (
        f"Peak: the load step with the highest mean. Saturated: the lowest load step within {share} of the peak. "
        "The peak is picked from the same data that it describes."
    )
    if any(c.peak_is_bimodal for c in context.comparison.contenders):
        note += " Where the blocks differ by more than a factor of 2, the lowest and the highest stand for a peak."
    return Table("Peak and saturation", columns, rows, note, detail=Detail.DETAILS)


def whole(context: Context, contender: str, load_step: LoadStep) -> bool:
    """Whether all trials of a point count; where some are voided, failed or interrupted it is drawn hollow."""
    trials = sum(trial.contender == contender and trial.load_step == load_step for trial in context.run.trials)
    return len(context.at(contender, load_step)) == trials


def curve_rows(context: Context, curves: Sequence[Curve], load: Callable[[str, LoadStep], float]) -> list[Row]:
    """Rows of a chart of lines, a point for each contender and load step; `load` is where it stands."""
    return [
        {
            "contender": curve.contender,
            "load_step": load(curve.contender, point.load_step),
            "value": known(point.centre),
            "low": known(point.low),
            "high": known(point.high),
            "whole": whole(context, curve.contender, point.load_step),
        }
        for curve in curves
        for point in curve.points
    ]


def curve_chart(context: Context, metric: str) -> Chart:
    """The chart of one metric with its table; also used by other sections."""
    curves = context.curves(metric)
    first, rows = curves[0], curve_rows(context, curves, lambda _, load_step: load_step.x)
    blocks = max((point.blocks for curve in curves for point in curve.points), default=0)
    bars = any(row["high"] is not None for row in rows)
    interval = "bars: 95 % interval" if bars else f"no interval from {'one' if blocks == 1 else 'so few'}"
    subtitle = f"{first.centre_is} over {wording.plural(blocks, 'block')}, {interval}"
    across, down = Loads(context.comparison.run.load_steps), Amounts(first.unit, far=True)
    spec = lines(rows, context.names, across, down, (first.title, subtitle))
    description = (
        f"{first.title} in {first.unit} of {', '.join(context.names)} at each number of {context.load_step_axis}."
    )
    return Chart(f"chart-{metric}", first.title, description, spec, context.curve_table(metric))
