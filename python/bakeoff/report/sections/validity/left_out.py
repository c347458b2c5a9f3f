"""Every trial that was voided, failed or interrupted, by name."""

from __future__ import annotations

from bakeoff.compare.model.comparison import ContenderSummary, Forfeit, Repeated
from bakeoff.report.blocks.tree import Block, Column, Section, SeverityText, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate.sentences import sentence
from bakeoff.store.records.run_records import STATES, EventRecord

FOLDED = 24
WARNINGS_FOLDED = 8


@report_section("left-out", detail=Detail.COMPARISON)
def section(context: Context) -> Section:
    """The list, or one sentence that says there is none."""
    left_out = context.comparison.left_out
    info = context.comparison.run
    missing = info.trials_planned - sum(info.trials.values())
    none = not (left_out or missing > 0 or context.comparison.forfeited or context.comparison.repeated)
    blocks: list[Block] = [] if none else [_ended(context.comparison.contenders)]
    if missing > 0:
        blocks.append(
            Text(
                f"{missing} of {info.trials_planned} planned trials were not run.", "warning", detail=Detail.COMPARISON
            )
        )
    if context.comparison.forfeited:
        blocks.append(_lost(context, context.comparison.forfeited))
    if left_out:
        columns = (
            Column("Trial"),
            Column("Contender", numeric=False),
            Column(context.load_step_title),
            Column("Block"),
            Column("State", numeric=False),
            Column("Reason", numeric=False),
        )
        rows = tuple(
            (
                f"{t.trial_id}",
                t.contender,
                f"{t.load_step}",
                f"{t.block}",
                t.state,
                SeverityText(sentence(t.reason), "bad"),
            )
            for t in left_out
        )
        note = (
            "None of their numbers is used. Failed ones count as forfeited, see above; of the others the pair, the "
            "other contender at the same load step and block, enters no ratio either."
        )
        blocks.append(Table("Trials left out", columns, rows, note, detail=Detail.COMPARISON))
    elif none:
        what = "planned trials ran and" if context.run.imported_from is None else "imported samples"
        blocks.append(Text(f"None: all {info.trials_planned:,} {what} count.", "good"))
    if context.comparison.repeated:
        blocks.append(_repeated(context, context.comparison.repeated))
    warnings = [e for e in context.run.events if e.level == "warning" and e.text not in context.elsewhere]
    if warnings:
        blocks.append(_warnings(context, warnings))
    return Section("Failed, voided and interrupted trials", tuple(blocks))


def _warnings(context: Context, warnings: list[EventRecord]) -> Table:
    """What was said during the run; what was said again and again, once, with how often."""
    by_text: dict[str, list[EventRecord]] = {}
    for event in warnings:
        by_text.setdefault(event.text, []).append(event)
    columns = (Column("When", numeric=False), Column("Trial"), Column("Times"), Column("What", numeric=False))
    rows = tuple((context.moment(of[0].at), _trials(of), f"{len(of):,}", text) for text, of in by_text.items())
    note = "When: the first time." if len(rows) < len(warnings) else ""
    return Table("Warnings during the run", columns, rows, note, folded=len(rows) > WARNINGS_FOLDED)


def _trials(events: list[EventRecord]) -> str:
    numbers = [f"{event.trial_id}" for event in events if event.trial_id is not None]
    return f"{numbers[0]} ff." if len(numbers) > 1 else "".join(numbers)


def _ended(contenders: tuple[ContenderSummary, ...]) -> Table:
    """How the trials of each contender ended."""
    columns = (Column("Contender", numeric=False), *(Column(state) for state in STATES))
    rows = tuple(
        (c.name, *(f"{n:,}" for n in (c.trials_ok, c.trials_failed, c.trials_voided, c.trials_interrupted)))
        for c in contenders
    )
    forfeited = any(c.trials_failed or c.trials_voided or c.trials_interrupted for c in contenders)
    detail = Detail.COMPARISON if forfeited else Detail.DETAILS
    return Table("Trials of each contender", columns, rows, detail=detail)


def _repeated(context: Context, repeated: tuple[Repeated, ...]) -> Table:
    """Failed and voided trials that were repeated: each is kept."""
    columns = (
        Column("Trial"),
        Column("Contender", numeric=False),
        Column(context.load_step_title),
        Column("Block"),
        Column("WholeBlocks", numeric=False),
        Column("Why", numeric=False),
        Column("Repeated", numeric=False),
    )
    rows = tuple(
        (
            f"{t.trial_id}",
            t.contender,
            f"{t.load_step}",
            f"{t.block}",
            t.state,
            SeverityText(t.reason, "bad"),
            t.again or "not repeated yet",
        )
        for t in repeated
    )
    note = (
        "Repeated at the user's request; the failed trial stays in the file. The repetition counts, although it ran "
        "at another time than the other contender's trial of that load step and block. Verdicts name the contender "
        "that failed."
    )
    return Table("Repeated trials", columns, rows, note, folded=len(rows) > FOLDED, detail=Detail.COMPARISON)


def _lost(context: Context, lost: tuple[Forfeit, ...]) -> Table:
    """What a contender forfeited: each counts against it."""
    columns = (
        Column("Contender", numeric=False),
        Column(context.load_step_title),
        Column("Block"),
        Column("Cell", numeric=False),
        Column("What happened", numeric=False),
    )
    rows = tuple(
        (
            t.contender,
            f"{t.load_step}",
            f"{t.block}",
            t.cell or "the whole trial",
            SeverityText(sentence(t.reason), "bad"),
        )
        for t in lost
    )
    note = (
        "A zero is a result. Each of these counts as ten times slower than the other contender in the same load step "
        "and block, or as slow as in the widest pair that both served."
    )
    return Table("Forfeited trials", columns, rows, note, folded=len(rows) > FOLDED, detail=Detail.COMPARISON)
