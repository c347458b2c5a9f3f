"""What is disclosed: contenders side by side, what differs first."""

from __future__ import annotations

from bakeoff.paper.disclosure import CONTENDER, TESTBED
from bakeoff.paper.model import Paper
from bakeoff.report.blocks import Block, Column, Section, Table

MISSING = "not disclosed"
BY = "Told by the author, not found by Bakeoff. Secrets are left out by rule."


def disclosure(paper: Paper, names: tuple[str, ...]) -> list[Section]:
    """The sections of what is disclosed, when anything is."""
    told = {name: paper.contenders[name].disclosure if name in paper.contenders else {} for name in names}
    if not paper.testbed and not any(told.values()):
        return []
    rows = [(title, *(told[name].get(key) or MISSING for name in names)) for key, title in CONTENDER.items()]
    same = [row for row in rows if len(set(row[1:])) == 1]
    columns = (Column("Item", False), *(Column(name, False) for name in names))
    blocks: list[Block] = []
    if differing := tuple(row for row in rows if row not in same):
        blocks.append(Table("What differs, or is not disclosed of all", columns, differing, BY))
    if alike := tuple((row[0], row[1]) for row in same):
        blocks.append(Table("The same of all", (Column("Item", False), Column("All", False)), alike, BY, folded=True))
    bed = tuple((title, paper.testbed.get(key) or MISSING) for key, title in TESTBED.items())
    blocks.append(Table("Test bed", (Column("Item", False), Column("Test bed", False)), bed, BY))
    return [Section("author-disclosure", "Disclosure", tuple(blocks))]
