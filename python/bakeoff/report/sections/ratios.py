"""The ratio at each mix with bands that hold for all mixes together."""

from __future__ import annotations

from bakeoff.compare import wording
from bakeoff.compare.model import PairComparison, RatioCurve
from bakeoff.report.blocks import Block, Chart, Column, Section, Table, Text
from bakeoff.report.charts import ratio_over_mixes
from bakeoff.report.context import Context
from bakeoff.report.depth import Depth, shown_from
from bakeoff.report.rates import reach
from bakeoff.report.theme import known
from bakeoff.report.tones import toned

CHARTED = ("rate", "p99")


@shown_from(Depth.COMPARISON)
def section(context: Context) -> Section | None:
    """Charts of the ratios to the baseline, tables of all metrics and all pairs."""
    comparison = context.comparison
    if not comparison.pairs:
        return None
    against = [pair for pair in comparison.pairs if pair.baseline == comparison.run.baseline]
    blocks: list[Block] = [Text(_explained(context, comparison.pairs[0]))]
    blocks += [_chart(context, against, metric) for metric in context.known(CHARTED)]
    blocks += [_all_metrics(context, pair) for pair in comparison.pairs]
    return Section("ratios", "Ratio at each mix", tuple(blocks))


def _explained(context: Context, pair: PairComparison) -> str:
    curve = pair.curves[0]
    number = len(context.comparison.pairs)
    pairs = f" With {number} pairs each curve is held to {100 * curve.level:.1f} %." if number > 1 else ""
    return (
        f"The bands hold for all mixes of a curve together (95 %, {curve.method}): the whole "
        f"curve may be read at once.{pairs} "
        "Filled markers: better at this mix. Shaded: the zone of "
        f"±{wording.percent(context.comparison.run.delta)} that does "
        "not matter by the plan."
    )


def _chart(context: Context, pairs: list[PairComparison], metric: str) -> Chart:
    info = context.comparison.run
    curves = [(pair, curve) for pair in pairs for curve in pair.curves if curve.metric == metric]
    first = curves[0][1]
    rows = [
        {
            "contender": pair.contender,
            "mix": str(point.mix),
            "ratio": known(point.ratio),
            "low": known(point.low),
            "high": known(point.high),
            "shown": point.verdict.kind == "better",
        }
        for pair, curve in curves
        for point in curve.points
        if point.blocks
    ]
    better = "above 1 is better" if first.higher_is_better else "below 1 is better"
    names = wording.names([pair.contender for pair in pairs])
    what = metric if metric.startswith("p") else first.title
    title = f"{what}: {names} ÷ {info.baseline}" if len(pairs) == 1 else f"{what}: ratio to {info.baseline}"
    spec = ratio_over_mixes(
        rows,
        context.names,
        info.mixes,
        info.delta,
        title,
        f"paired over blocks, {first.method} bands",
        better,
    )
    tables = [_table(context, pair, curve) for pair, curve in curves]
    merged = Table(tables[0].title, tables[0].columns, tuple(row for table in tables for row in table.rows))
    description = f"Ratio of {first.title.lower()} of {names} to {info.baseline} at each mix, with simultaneous bands."
    return Chart(f"chart-ratio-{metric}", title, description, spec, merged)


def _table(context: Context, pair: PairComparison, curve: RatioCurve) -> Table:
    columns = (
        Column(context.mix_title),
        Column("Pair", numeric=False),
        Column("Ratio"),
        Column("Simultaneous band"),
        Column("Blocks"),
        Column("Verdict", numeric=False),
    )
    rows = tuple(
        (
            f"{p.mix}",
            f"{pair.contender} ÷ {pair.baseline}",
            wording.ratio(p.ratio, p.low, p.high),
            wording.interval(p.low, p.high),
            f"{p.blocks}",
            p.verdict.text,
        )
        for p in curve.points
    )
    return Table(f"{curve.title}: {pair.contender} ÷ {pair.baseline}", columns, rows)


def _all_metrics(context: Context, pair: PairComparison) -> Table:
    """A ratio with its band in each cell."""
    columns = [Column(context.mix_title), *(Column(curve.metric) for curve in pair.curves)]
    columns.append(Column(f"Verdict on {pair.curves[0].title.lower()}", numeric=False, spare=1))
    rows = []
    for points in zip(*(curve.points for curve in pair.curves), strict=True):
        cells = (reach(p.ratio, p.low, p.high) for p in points)
        rows.append((f"{points[0].mix}", *cells, toned(points[0].verdict)))
    method = pair.curves[0].method
    title = f"{pair.contender} ÷ {pair.baseline} at each mix (bands for all mixes together, {method})"
    return Table(title, tuple(columns), tuple(rows), folded=True, depth=Depth.COMPARISON)
