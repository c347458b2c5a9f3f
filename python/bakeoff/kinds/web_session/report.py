"""What reports know of sessions: their steps, and where they broke."""

from __future__ import annotations

from bakeoff.compare.failures.failed_requests import FailedRequest
from bakeoff.core.times import ms_of
from bakeoff.core.units import format_duration
from bakeoff.kinds.web_session.compare import SessionSummary, StepTable, steps_of
from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.kind import ReportPart
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.validity.failed_requests import faults


@report_section("sessions", detail=Detail.COMPARISON, after="numbers")
def section(context: Context) -> Section | None:
    """The steps of a session at the peak, or at the lowest load step of a run without one: times, and where sessions
    broke.
    """
    summary = context.comparison.own
    load_step = context.peak_load_step() or min(context.comparison.run.load_steps)
    if not isinstance(summary, SessionSummary):
        return None
    tables = [table for name in context.names if (table := summary.at(name, load_step)) is not None and table.steps]
    if not tables:
        return None
    titles = ("answered", "p50 ms", "p99 ms", "broken here")
    columns = [Column("Step", numeric=False)]
    columns += [Column(title, group=table.contender) for table in tables for title in titles]
    rows = tuple(
        (first.step, *(cell for table in tables for cell in _cells(table, index)))
        for index, first in enumerate(tables[0].steps)
    )
    note = (
        "All blocks together, failed trials too; percentiles: geometric mean over the blocks that count. Times of a "
        "step run from its sending to its last byte, also in sessions that failed later. They exclude pauses and work "
        "on replies."
    )
    blocks: list[Block] = [
        Text(
            f"At {load_step.words}: " + "; ".join(_sentence(table) for table in tables) + ".", detail=Detail.COMPARISON
        ),
        Table(f"Steps at {load_step.words}", tuple(columns), rows, note, detail=Detail.COMPARISON),
    ]
    faults = tuple(_faults(context, table) for table in tables)
    if any(faults):
        why = (
            Column("Step", numeric=False),
            Column("Contender", numeric=False),
            Column("Broken"),
            Column("How", numeric=False),
        )
        broken = tuple(row for rows_of in faults for row in rows_of)
        blocks.append(Table(f"Broken sessions at {load_step.words}", why, broken, detail=Detail.COMPARISON))
    return Section("Sessions and their steps", tuple(blocks))


def _sentence(table: StepTable) -> str:
    begun = table.completed + table.broken
    done = f"{table.contender} completed {table.completed:,} of {wording.plural(begun, 'session')}"
    if not table.broken:
        return done
    worst = max(table.steps, key=lambda row: row.broken)
    return f"{done}; {table.broken:,} broke, most of them in step {worst.step}"


def _cells(table: StepTable, index: int) -> tuple[str, ...]:
    row = table.steps[index]
    return (f"{row.answered:,}", *(wording.figures(ms_of(ns)) for ns in (row.p50_ns, row.p99_ns)), f"{row.broken:,}")


def _faults(context: Context, table: StepTable) -> list[tuple[str, str, str, str]]:
    words = context.words.error_words
    broken = [row for row in table.steps if row.broken]
    texts = (faults(FailedRequest(row.step, row.faults), words) for row in broken)
    return [(row.step, table.contender, f"{row.broken:,}", how) for row, how in zip(broken, texts, strict=True)]


class Sessions(ReportPart):
    sections = (section,)
    tells_operations = True

    def splits_time(self, context: Context) -> bool:
        """The steps of a session are the better split of its time."""
        return True

    def narrative(self, context: Context) -> tuple[str, ...]:
        """What a session is."""
        steps = steps_of(context.run)
        if not steps:
            return ()
        asked = ", ".join(f"{step.name} ({step.method} {step.path})" for step in steps)
        pauses_s = sum(step.think_s for step in steps[:-1])
        paused = (
            f" Its pauses of {format_duration(pauses_s)} are part of its time: they make unlike servers look "
            "more alike, and the times of single steps are without them."
            if pauses_s
            else ""
        )
        requests = wording.plural(len(steps), "request")
        return (
            f"A session is {requests}, one after the other: {asked}. One that breaks has failed as a whole.{paused}",
        )


PART = Sessions()
