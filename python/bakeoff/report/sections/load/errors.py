"""Failed operations against clients."""

from __future__ import annotations

import math

from bakeoff.compare.cube.cube import totals
from bakeoff.compare.failures.failed_requests import MOST, failed_requests
from bakeoff.report.blocks.tree import Block, Bullets, Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.validity.failed_requests import faults
from bakeoff.report.sections.load.curves import curve_chart
from bakeoff.store.records.figures import Figures

IN_SIGHT = 10


@report_section("errors")
def section(context: Context) -> Section:
    """The share of failed operations, and their classes where there are any."""
    by_contender = {name: totals([t for t in context.run.trials if t.contender == name])[1] for name in context.names}
    classes = sorted({kind for errors in by_contender.values() for kind, number in errors.items() if number})
    blocks: list[Block] = []
    without_errors = [c.name for c in context.comparison.contenders if c.trials_ok and math.isnan(c.error_share)]
    if not classes and without_errors:
        blocks.append(Text(f"How many operations failed is not stated, of {wording.names(without_errors)}."))
    elif not classes:
        blocks.append(Text(f"No operation failed in any trial of {wording.names(list(context.names))}.", "good"))
    if classes:
        blocks.append(curve_chart(context, "errors"))
        words = context.words.error_words
        columns = (Column("Contender", numeric=False), *(Column(wording.error(kind, words)) for kind in classes))
        rows = tuple((name, *(f"{by_contender[name].get(kind, 0):,}" for kind in classes)) for name in context.names)
        note = "In the measured windows of all trials, voided and failed ones too."
        blocks.append(Table("Failed operations by class", columns, rows, note))
        blocks += _requests(context)
    outside = tuple(line for name in context.names if (line := _outside(context, name)))
    if outside:
        blocks.append(Bullets(outside))
    closing = tuple(line for name in context.names if (line := _closing(context, name)))
    if closing:
        blocks.append(Bullets(closing))
    return Section(f"Errors against {context.load_step_unit}", tuple(blocks))


def _requests(context: Context) -> list[Block]:
    """Which requests failed, for kinds that tell them."""
    columns = (
        Column("Request", numeric=False),
        Column("Contender", numeric=False),
        Column("Failed"),
        Column("How", numeric=False),
    )
    rows = []
    for name in context.names:
        failed = failed_requests([t for t in context.run.trials if t.contender == name])
        rows += [(r.request, name, f"{r.count:,}", faults(r, context.words.error_words)) for r in failed.rows]
        if failed.others:
            rows.append(("all others", name, f"{failed.others:,}", wording.MISSING))
    note = f"In the same windows: the {MOST} requests of each contender that failed most, by status or class of error."
    return [Table("Failed requests", columns, tuple(rows), note, folded=len(rows) > IN_SIGHT)] if rows else []


def _outside(context: Context, name: str) -> str:
    """Failures that no figure holds, as they ended in a ramp; empty if there are none."""
    trials = [trial for trial in context.run.trials if trial.contender == name]
    outside = [trial.figures(Figures).outside for trial in trials]
    errors = sum(one.errors for one in outside)
    if not errors:
        return ""
    operations = wording.plural(errors + sum(one.operations for one in outside), "operation")
    return f"{name}: {errors:,} of {operations} failed outside the measured windows: they are in no figure."


def _closing(context: Context, name: str) -> str:
    """How a contender ended connections where it was not as agreed; none of these is an error. Empty if never."""
    trials = [trial for trial in context.run.trials if trial.contender == name]
    stale = sum(t.figures(Figures).stale_connections or 0 for t in trials)
    put_back = sum(t.figures(Figures).put_back or 0 for t in trials)
    late = sum(t.connections.get("late_closes", 0) for t in trials)
    parts = []
    if stale:
        connections = wording.plural(stale, "kept connection")
        parts.append(
            f"had closed {connections} before a request reached it, and the request was asked again on a new one"
        )
    if put_back:
        requests = wording.plural(put_back, "request")
        parts.append(f"put {requests} back unread (GOAWAY, REFUSED_STREAM), which asked again, and their time counts")
    if late:
        closes = wording.plural(late, "announced close")
        parts.append(f"left {closes} to the client (after the operation, and in none of its times)")
    return f"{name} {'; it '.join(parts)}: no errors." if parts else ""
