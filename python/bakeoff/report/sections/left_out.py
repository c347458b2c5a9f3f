"""Every trial that was voided, failed or interrupted, by name."""

from __future__ import annotations

from bakeoff.report.blocks import Block, Column, Section, Table, Text
from bakeoff.report.context import Context


def section(context: Context) -> Section:
    """The list, or one sentence that says there is none."""
    left_out = context.comparison.left_out
    info = context.comparison.run
    missing = info.trials_planned - sum(info.trials.values())
    blocks: list[Block] = []
    if missing > 0:
        blocks.append(Text(f"{missing} of {info.trials_planned} planned trials were not run.", "warning"))
    if left_out:
        columns = (
            Column("Trial"),
            Column("Contender", numeric=False),
            Column("Clients"),
            Column("Block"),
            Column("State", numeric=False),
            Column("Reason", numeric=False),
        )
        rows = tuple((f"{t.trial_id}", t.contender, f"{t.clients}", f"{t.block}", t.state, t.reason) for t in left_out)
        note = "The pair of such a trial, the other contender at the same mix and block, enters no ratio either."
        blocks.append(Table("Trials left out", columns, rows, note))
    elif missing <= 0:
        blocks.append(Text(f"None: all {info.trials_planned} planned trials ran and count.", "good"))
    repeated = [event for event in context.run.events if event.level == "warning"]
    if repeated:
        heads = (Column("When", numeric=False), Column("Trial"), Column("What", numeric=False))
        lines = tuple((context.moment(e.at), "" if e.trial_id is None else f"{e.trial_id}", e.text) for e in repeated)
        blocks.append(Table("Warnings during the run", heads, lines, folded=len(repeated) > 8))
    return Section("left-out", "Failed, voided and interrupted trials", tuple(blocks))
