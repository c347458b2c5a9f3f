"""Every trial, one line each."""

from __future__ import annotations

import math

from bakeoff.compare.cube.cells import cells_of, rate_of
from bakeoff.core.times import ms_of
from bakeoff.report.blocks.tree import Column, Section, Table
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.mark_docs import MARKS
from bakeoff.store.records.run_records import TrialRecord


@report_section("trials", ReportPart.APPENDIX, in_full=True)
def section(context: Context) -> Section:
    """All trials in the order they ran, usable or not."""
    unit = f"{context.comparison.run.work}/s"
    # Over cells pooled, neither a rate nor a time is anybody's.
    heads, figures = ((Column("cells"),), _cells) if context.of_cells else (_heads(unit), _figures)
    columns = (
        Column("Trial"),
        Column("Order"),
        Column("Block"),
        Column("Contender", numeric=False),
        Column(_load(context)),
        Column("State", numeric=False),
        *heads,
        Column("failed"),
        Column("window s"),
        Column("Marks", numeric=False),
    )
    rows = tuple(
        (
            f"{t.id}",
            f"{t.order}",
            f"{t.block}",
            t.contender,
            f"{t.load_step}",
            t.state,
            *figures(t),
            f"{t.errors_total:,}" if t.figures(Figures).errors_stated else wording.MISSING,
            wording.MISSING if "window_s" in t.figures(Figures).not_stated else f"{t.window_s:.4g}",
            ", ".join(t.marks),
        )
        for t in sorted(context.whole.trials, key=lambda t: t.order)
    )
    table = Table("Trials in the order they ran", columns, rows, folded=True)
    return Section("Every trial", (table, *_legend(context)))


def _heads(unit: str) -> tuple[Column, ...]:
    return Column(unit), Column("mean ms"), Column("p99 ms")


def _figures(t: TrialRecord) -> tuple[str, ...]:
    times = t.response or t.service
    rate = (
        wording.MISSING if "operations_per_s" in t.figures(Figures).not_stated else wording.figures(t.operations_per_s)
    )
    return rate, _ms(times.mean_ns), _ms(times.p99_ns)


def _cells(t: TrialRecord) -> tuple[str, ...]:
    measured = sum(math.isfinite(rate_of(cell)) for cell in cells_of(t))
    return (f"{measured:,} of {len(cells_of(t)):,}",)


def _legend(context: Context) -> tuple[Table, ...]:
    """What the marks mean that trials of this run have."""
    seen = {mark for trial in context.whole.trials for mark in trial.marks}
    rows = tuple((mark, doc.text, doc.mend) for mark, doc in MARKS.items() if mark in seen)
    names = (Column("Mark", numeric=False), Column("Meaning", numeric=False), Column("What to do", numeric=False))
    return (Table("What the marks mean", names, rows, folded=True),) if rows else ()


def _load(context: Context) -> str:
    """What the load of the trials is counted in, at the head of a column."""
    trials = context.whole.trials
    unit = trials[0].load_step.unit if trials else context.load_step_unit
    return f"{unit[0].upper()}{unit[1:]}"


def _ms(nanoseconds: float | None) -> str:
    return wording.MISSING if nanoseconds is None else wording.figures(ms_of(nanoseconds))
