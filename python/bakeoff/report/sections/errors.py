"""Failed operations against clients."""

from __future__ import annotations

from bakeoff.compare import wording
from bakeoff.compare.cube import totals
from bakeoff.report.blocks import Block, Column, Section, Table, Text
from bakeoff.report.context import Context
from bakeoff.report.sections.curves import curve_chart


def section(context: Context) -> Section:
    """The share of failed operations, and their classes where there are any."""
    found = {name: totals([t for t in context.run.trials if t.contender == name])[1] for name in context.names}
    classes = sorted({kind for errors in found.values() for kind, number in errors.items() if number})
    blocks: list[Block] = []
    if not classes:
        blocks.append(Text(f"No operation failed in any trial of {wording.names(list(context.names))}.", "good"))
    blocks.append(curve_chart(context, "errors", wide=True))
    if classes:
        columns = (Column("Contender", numeric=False), *(Column(kind.replace("_", " ")) for kind in classes))
        rows = tuple((name, *(f"{found[name].get(kind, 0):,}" for kind in classes)) for name in context.names)
        note = "In the measured windows of all trials, voided and failed ones too."
        blocks.append(Table("Failed operations by class", columns, rows, note))
    return Section("errors", "Errors against clients", tuple(blocks))
