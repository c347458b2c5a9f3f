"""Response time against clients: mean and percentiles."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.report.blocks.tree import Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.sections.load.curves import curve_chart

SHOWN = ("mean", "p50", "p95", "p99")


IN_FULL = ("p50", "p95")
"""Charts that stand in the full edition of a paper alone."""


@report_section("response", detail=Detail.COMPARISON)
def section(context: Context) -> Section:
    """Four charts: mean, p50, p95, p99."""
    note = context.shape.response(context)
    mean, *others = (replace(curve_chart(context, one), in_full=one in IN_FULL) for one in SHOWN)
    first = replace(mean, plain=_all_in_one(context, mean.title), detail=Detail.COMPARISON)
    return Section(f"Response time against {context.load_step_unit}", (Text(note, explains=True), first, *others))


def _all_in_one(context: Context, title: str) -> Table:
    """What stands for the charts where nothing can be drawn: all figures and the failures in one table."""
    of_what = " of an iteration" if "of an iteration" in title else ""
    columns = [Column(context.load_step_unit), Column("Contender", numeric=False)]
    columns += [Column(metric) for metric in (*SHOWN, "failed")]
    curves = [[context.comparison.curve(metric, name) for metric in SHOWN] for name in context.names]
    each = list(zip(context.names, curves, context.curves("errors"), strict=True))
    rows = tuple(
        (
            f"{load_step}",
            name,
            *(wording.figures(curve.points[index].centre) for curve in times),
            wording.percent(errors.points[index].centre / 100.0),
        )
        for index, load_step in enumerate(context.comparison.run.load_steps)
        for name, times, errors in each
    )
    # At rates the table of what was offered has them.
    return Table(f"Response time{of_what}, ms", tuple(columns), rows, folded=context.is_open_loop)
