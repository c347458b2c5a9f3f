"""All contenders at all mixes in one table."""

from __future__ import annotations

from bakeoff.compare import wording
from bakeoff.compare.model import Curve
from bakeoff.report.blocks import Column, Section, Table
from bakeoff.report.context import Context

METRICS = (
    ("rate", "{rate}"),
    ("throughput", "MB/s"),
    ("mean", "mean ms"),
    ("p50", "p50 ms"),
    ("p95", "p95 ms"),
    ("p99", "p99 ms"),
    ("errors", "failed %"),
)


def section(context: Context) -> Section:
    """Centres with the half-width of the interval of the rate; the charts' tables give every interval."""
    columns = [Column("Clients")]
    for name in context.names:
        columns += [
            Column(title.format(rate=context.comparison.run.rate_unit), group=name) for _, title in METRICS
        ]
    curves = {
        (metric, name): context.comparison.curve(metric, name)
        for metric, _ in METRICS
        for name in context.names
    }
    rows = []
    for index, clients in enumerate(context.comparison.run.mixes):
        cells = [f"{clients}"]
        for name in context.names:
            cells += [_cell(curves[metric, name], index) for metric, _ in METRICS]
        rows.append(tuple(cells))
    note = (
        "Rates, throughput, mean response time and failures: arithmetic mean over blocks; ± is "
        "the half-width of the "
        "95 % interval. Percentiles: geometric mean over blocks of the trials' own percentiles."
    )
    return Section("numbers", "The numbers", (Table("All mixes", tuple(columns), tuple(rows), note),))


def _cell(curve: Curve, index: int) -> str:
    point = curve.points[index]
    if not point.blocks:
        return wording.MISSING
    centre = wording.figures(point.centre)
    if curve.metric == "rate" and point.blocks > 1:
        return f"{centre} ± {wording.figures((point.high - point.low) / 2.0, 2)}"
    return centre
