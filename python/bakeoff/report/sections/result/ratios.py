"""The ratio at each load step with bands that hold for all load steps together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bakeoff.compare.model.pair import PairComparison, RatioCurve, RatioPoint
from bakeoff.report.blocks.severity import short_verdict
from bakeoff.report.blocks.tree import Block, Bullets, Chart, Column, Section, Table, Text
from bakeoff.report.charts.axes import Ratios, by_load_step
from bakeoff.report.charts.bars import bars
from bakeoff.report.charts.theme import known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.rates import reach
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.stats.intervals.bands import ONE_LOAD_STEP

CHARTED = ("rate", "p99")


@report_section("ratios", detail=Detail.COMPARISON)
def section(context: Context) -> Section | None:
    """Charts of the ratios to the baseline and of other pairs that are drawn, tables of all metrics and all pairs."""
    comparison = context.comparison
    if not comparison.pairs:
        return None
    against = [pair for pair in comparison.pairs if pair.baseline == comparison.run.baseline]
    blocks: list[Block] = [Text(_explained(context, comparison.pairs[0]), explains=True)]
    charted = {comparison.pairs[0].curves[0].metric, *CHARTED}
    spans = (_span(pair, curve) for pair in against for curve in pair.curves if curve.metric in charted)
    if shown := tuple(span for span in spans if span):
        blocks.append(Bullets(shown))
    blocks += _charts(context, against)
    others = [(pair, folded) for pair, folded in context.drawn(comparison.pairs) if pair not in against]
    for number, (pair, folded) in enumerate(others, 1):
        charts = _charts(context, [pair])
        blocks += [replace(chart, id=f"{chart.id}-{number}", folded=folded) for chart in charts]
    blocks += [_all_metrics(context, pair) for pair in comparison.pairs]
    blocks += _ends(comparison.pairs)
    return Section("Ratio at each load step", tuple(blocks))


def _ends_of(curve: RatioCurve) -> tuple[RatioPoint, RatioPoint] | None:
    """The load steps with the least and the largest ratio; None with one load step."""
    points = curve.measured
    if len(points) < 2:
        return None
    return min(points, key=lambda point: point.ratio), max(points, key=lambda point: point.ratio)


def _span(pair: PairComparison, curve: RatioCurve) -> str:
    """From the least to the largest ratio at a load step, as what one mean over all of them hides; empty with one
    load step.
    """
    ends = _ends_of(curve)
    if ends is None:
        return ""
    least, most = (f"{reach(point.ratio, point.low, point.high)} at {point.load_step.words}" for point in ends)
    why = "depending on the load" if ends[0].high < ends[1].low else "which may be chance"
    return f"{curve.title} of {pair.contender} ÷ {pair.baseline}: from {least} to {most}, {why}{_up_to(ends)}."


def _up_to(ends: tuple[RatioPoint, RatioPoint]) -> str:
    """ ": up to 78 % less", where all load steps are on one side of 1."""
    (least, most) = (point.ratio for point in ends)
    if least < 1.0 < most:
        return ""
    return f": up to {wording.percent_more(least if most <= 1.0 else most)}"


def _ends(pairs: Sequence[PairComparison]) -> list[Block]:
    """Of every figure and pair the load steps with the least and the largest ratio, also in percent."""
    rows = tuple(
        (
            curve.title,
            f"{pair.contender} ÷ {pair.baseline}",
            *(text for end in ends for text in (_reach(end), wording.percent_more(end.ratio), end.load_step.words)),
        )
        for pair in pairs
        for curve in pair.curves
        if (ends := _ends_of(curve))
    )
    if not rows:
        return []
    columns = [Column("Figure", numeric=False), Column("Pair", numeric=False)]
    columns += [Column(title, group=group) for group in ("Least", "Most") for title in ("ratio", "percent", "at")]
    note = "Percent: of the second of the pair; more is ratio − 1, less is 1 − ratio. Of times less is better."
    return [Table("From the least to the largest ratio", tuple(columns), rows, note, folded=True)]


def _explained(context: Context, pair: PairComparison) -> str:
    curve = pair.curves[0]
    number = len(context.comparison.pairs)
    zone = f"Shaded: the zone of ±{wording.percent(context.comparison.run.delta)} that does not matter by the plan."
    if curve.method == ONE_LOAD_STEP:
        return f"There is one load step: the result has its intervals and verdicts. Filled markers: better. {zone}"
    pairs = f" With {number} pairs each curve is held to {100 * curve.level:.1f} %." if number > 1 else ""
    return (
        f"The bands hold for all load steps of a curve together (95 %, {curve.method}): the whole "
        f"curve may be read at once.{pairs} "
        f"Filled markers: better at this load step. {zone}"
    )


def _charts(context: Context, pairs: list[PairComparison]) -> list[Chart]:
    charts = (_chart(context, pairs, metric) for metric in context.known(CHARTED))
    return [chart for chart in charts if chart is not None]


def _chart(context: Context, pairs: list[PairComparison], metric: str) -> Chart | None:
    """None where no pair has a ratio."""
    info, base = context.comparison.run, pairs[0].baseline
    curves = [(pair, curve) for pair in pairs for curve in pair.curves if curve.metric == metric]
    first = curves[0][1]
    rows = [
        {
            "contender": pair.contender,
            "load_step": str(point.load_step),
            "ratio": known(point.ratio),
            "low": known(point.low),
            "high": known(point.high),
            "shown": point.verdict.kind == "better",
        }
        for pair, curve in curves
        for point in curve.points
        if point.blocks and not point.all_forfeited
    ]
    if not rows:
        return None
    better = "above 1 is better" if first.higher_is_better else "below 1 is better"
    names = wording.names([pair.contender for pair in pairs])
    what = metric if metric.startswith("p") else first.title
    title = f"{what}: {names} ÷ {base}" if len(pairs) == 1 else f"{what}: ratio to {base}"
    spec = bars(
        rows,
        context.names,
        by_load_step(info.load_steps),
        Ratios(f"ratio, log scale ({better})", info.delta),
        (title, f"paired over blocks, {_bands(first)}"),
        info.delta,
    )
    # One table holds all pairs: it tells the blocks of each where they differ in any of them.
    differ = len({point.blocks for _, curve in curves for point in curve.points}) > 1
    tables = [_table(context, pair, curve, differ) for pair, curve in curves]
    merged = Table(tables[0].title, tables[0].columns, tuple(row for table in tables for row in table.rows))
    description = f"Ratio of {first.title.lower()} of {names} to {base} at each load step, with {_bands(first)}."
    return Chart(f"chart-ratio-{metric}", title, description, spec, merged)


def _table(context: Context, pair: PairComparison, curve: RatioCurve, differ: bool) -> Table:
    columns = (
        Column(context.load_step_title),
        Column("Pair", numeric=False),
        Column("Ratio"),
        Column("95 % interval" if curve.method == ONE_LOAD_STEP else "Simultaneous band"),
        *([Column("Blocks")] if differ else []),
        Column("Verdict", numeric=False),
    )
    rows = tuple(
        (
            f"{p.load_step}",
            f"{pair.contender} ÷ {pair.baseline}",
            f"{p.all_forfeited} forfeited all" if p.all_forfeited else wording.ratio(p.ratio, p.low, p.high),
            wording.MISSING if p.all_forfeited else wording.interval(p.low, p.high),
            *([f"{p.blocks}"] if differ else []),
            short_verdict(p),
        )
        for p in curve.points
    )
    return Table(f"{curve.title}: {pair.contender} ÷ {pair.baseline}", columns, rows)


def _bands(curve: RatioCurve) -> str:
    """What the lines at the marks of a chart are."""
    return "95 % interval" if curve.method == ONE_LOAD_STEP else f"{curve.method} bands"


def _short(curve: RatioCurve, context: Context) -> str:
    """The name of a metric at the head of a narrow column."""
    units = {"rate": context.comparison.run.rate_unit, "cpu": "processor time"}
    return units.get(curve.metric, curve.metric.replace("_", " "))


def _all_metrics(context: Context, pair: PairComparison) -> Table:
    """A ratio with its band in each cell: whichever are fewer, figures or load steps, are the columns."""
    verdict = f"Verdict on {pair.curves[0].title.partition(' (')[0].lower()}"
    by_load_step = list(zip(*(curve.points for curve in pair.curves), strict=True))
    rows: list[tuple[str, ...]] = []
    if len(by_load_step) < len(pair.curves):
        columns = [Column("Figure", numeric=False), *(Column(points[0].load_step.words) for points in by_load_step)]
        rows = [(curve.title, *(_reach(p) for p in curve.points)) for curve in pair.curves]
        rows.append((verdict, *(short_verdict(points[0]) for points in by_load_step)))
    else:
        columns = [Column(context.load_step_title), *(Column(_short(curve, context)) for curve in pair.curves)]
        columns.append(Column(verdict, numeric=False, spare=1))
        rows = [(f"{of[0].load_step}", *map(_reach, of), short_verdict(of[0])) for of in by_load_step]
    method = pair.curves[0].method
    how = "" if method == ONE_LOAD_STEP else f" (bands for all load steps together, {method})"
    title = f"{pair.contender} ÷ {pair.baseline} at each load step{how}"
    return Table(title, tuple(columns), tuple(rows), folded=True, detail=Detail.COMPARISON)


def _reach(point: RatioPoint) -> str:
    return reach(point.ratio, point.low, point.high, point.all_forfeited)
