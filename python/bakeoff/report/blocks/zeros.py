"""Tables without columns in which nothing happened."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from bakeoff.report.blocks.tree import Table
from bakeoff.report.narrate import wording

NOTHING = frozenset({"0", "0 %", wording.MISSING, ""})


def without_zeros(table: Table, titles: Collection[str], none: str) -> Table:
    """`table` without those of the columns with these `titles` that hold nothing but zeros, each in all of its groups;
    its note then says so: "None late or lost.", of `none` and the titles.
    """
    gone = [
        title
        for title in titles
        if (places := [at for at, column in enumerate(table.columns) if column.title == title])
        and all(row[at] in NOTHING for row in table.rows for at in places)
        and any(row[at].startswith("0") for row in table.rows for at in places)
    ]
    if not gone:
        return table
    kept = [at for at, column in enumerate(table.columns) if column.title not in gone]
    note = f"{table.note} {none} {wording.names(gone)}: none.".strip()
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[at] for at in kept), rows=rows, note=note)
