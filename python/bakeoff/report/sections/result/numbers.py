"""All contenders at all load steps in one table."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.compare.model.comparison import Curve
from bakeoff.report.blocks.tree import Column, Section, Table
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording

METRICS = (
    ("rate", "{rate}"),
    ("throughput", "MB/s"),
    ("mean", "mean ms"),
    ("p50", "p50 ms"),
    ("p95", "p95 ms"),
    ("p99", "p99 ms"),
    ("errors", "failed %"),
)


# Units of a rate that is the throughput.
BYTES = ("Mbit/s", "MB/s", "KiB/s", "MiB/s")
# More contenders than this do not fit beside each other with all metrics: each metric then gets a table of its own.
SIDE_BY_SIDE = 2


@report_section("numbers", in_full=True)
def section(context: Context) -> Section:
    """Centres with the half-width of the interval of the rate; the charts' tables give every interval."""
    note = "Of cells: geometric means over all of them. " if context.of_cells else ""
    note += (
        "Geometric means over blocks (failures: arithmetic); ± is the 95 % interval on logarithms, from 6 blocks on. "
        "Percentiles are those of the trials, from their whole histograms. A trial that failed counts as 0 in the "
        "rate, which is then an arithmetic mean without an interval."
    )
    there = context.known([metric for metric, _ in METRICS])
    metrics = [(metric, title) for metric, title in METRICS if metric in there]
    if context.comparison.run.rate_unit in BYTES:
        metrics = [(metric, title) for metric, title in metrics if metric != "throughput"]
    if len(context.names) <= SIDE_BY_SIDE:
        return Section("The numbers", (_all(context, metrics, note),))
    tables = [_one(context, metric, title) for metric, title in metrics]
    return Section("The numbers", (*tables[:-1], replace(tables[-1], note=note)))


def _one(context: Context, metric: str, title: str) -> Table:
    """One metric, the contenders side by side."""
    curves = context.curves(metric)
    columns = (Column(context.load_step_title), *(Column(name) for name in context.names))
    load_steps = context.comparison.run.load_steps
    rows = tuple(
        (f"{load_step}", *(_cell(curve, index) for curve in curves)) for index, load_step in enumerate(load_steps)
    )
    words = title.format(rate=context.comparison.run.rate_unit)
    return Table(f"{words[0].upper()}{words[1:]} at each load step", columns, rows)


def _all(context: Context, metrics: list[tuple[str, str]], note: str) -> Table:
    columns, names = [Column(context.load_step_title)], context.names
    for name in names:
        unit = context.comparison.run.rate_unit
        columns += [Column(title.format(rate=unit), group=name) for _, title in metrics]
    curves = [context.comparison.curve(metric, name) for name in names for metric, _ in metrics]
    rows = tuple(
        (f"{load_step}", *(_cell(curve, index) for curve in curves))
        for index, load_step in enumerate(context.comparison.run.load_steps)
    )
    return Table("All load steps", tuple(columns), rows, note)


def _cell(curve: Curve, index: int) -> str:
    point = curve.points[index]
    if curve.metric != "rate":
        return wording.figures(point.centre) if point.blocks else wording.MISSING
    forfeited = wording.forfeits_of(point.forfeited, max(point.blocks, point.forfeited))
    return wording.figures(point.centre) + wording.plus_minus(point.centre, point.low, point.high) + forfeited
