"""Response time against clients: mean and percentiles."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.report.blocks.tree import Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.sections.load.curves import curve_chart

OPEN_LOOP = (
    "Response time of successful operations, from the moment at which each was to begin: what waited, because the "
    "server was busy with others, has waited in it. Service time, from the sending on, stands beside it above. "
    "Percentiles are taken from the full histogram of each trial; the point is the geometric mean of the blocks."
)
AT_SHARES = (
    "Response time of successful operations at shares of the capacity that each search found: it counts from the "
    "planned start. Percentiles are taken from the full histogram of each trial; the point is the geometric mean "
    "of the blocks."
)
SHOWN = ("mean", "p50", "p95", "p99")


IN_FULL = ("p50", "p95")
"""Charts that stand in the full edition of a paper alone."""


# Pooled over the cells of a trial a response time is nobody's.
@report_section("response", detail=Detail.COMPARISON, fits=lambda context: not (context.of_cells or context.is_stated))
def section(context: Context) -> Section:
    """Four charts: mean, p50, p95, p99."""
    note = (
        OPEN_LOOP
        if context.is_open_loop
        else AT_SHARES
        if context.searched_by_rate
        else (
            "Service time of successful operations in a closed loop: a client sends its next operation when the last "
            "one is done, so a slow server is also asked less often. Percentiles are taken from the full histogram of "
            "each trial; the point is the geometric mean of the blocks."
        )
    )
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
