"""The standard edition of a report: what decides, what shows it and what one must know to judge it. The full edition
has all that was measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bakeoff.report.blocks.tree import Block, Chart, Listing, Report, Section, Table, Text
from bakeoff.report.layout.chapters import RESOURCES, SUITES, subject_of
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart

MORE = (
    "This is the standard edition: every trial, all percentiles, settings and configuration files are in the full one "
    "(`bakeoff report --full`), and in the page."
)
FIRST_SPARED = 2
"""Columns that a terminal gives up as early as these are in the full edition."""
MOST_ROWS = 60
"""Of a table that a page folds away."""
NOTHING = "What failed"
CUT = (ReportPart.CONFIGURATION, ReportPart.AUDITS, ReportPart.APPENDIX)


def standard(report: Report) -> Report:
    """The sections that are not for the full edition alone, each with the blocks that a reader needs."""
    kept = [
        replace(section, blocks=tuple(_standard_blocks(section))) for section in report.sections if not section.in_full
    ]
    kept = [replace(one, blocks=(*one.blocks, Text(MORE))) if one.id == "reading" else one for one in kept]
    sections = _nothing_together([one for one in kept if one.blocks])
    return replace(report, sections=tuple(sections), extent="standard")


def _nothing_together(sections: Sequence[Section]) -> Iterable[Section]:
    """`sections`, of which those of a suite that have nothing but one good sentence are one."""
    lines: dict[str, list[Section]] = {}
    for section in sections:
        if all(isinstance(block, Text) and block.severity == "good" for block in section.blocks):
            lines.setdefault(section.chapter, []).append(section)
    for section in sections:
        together = lines.get(section.chapter, [])
        if section not in together:
            yield section
        elif section is together[-1]:
            blocks = tuple(block for one in together for block in one.blocks)
            yield replace(section, title=NOTHING if len(together) > 1 else section.title, blocks=blocks)


def _standard_blocks(section: Section) -> Iterable[Block]:
    for block in section.blocks:
        match block:
            case Table() if block.folded:
                wanted = _is_wanted(section, block)
            case Table() if subject_of(section) in (SUITES, RESOURCES) and not section.id.startswith("author-"):
                wanted = block.detail < Detail.PAGE
            case Text() if subject_of(section) is RESOURCES:
                wanted = block.detail < Detail.PAGE or block.severity != "plain"
            case Chart():
                wanted = not (block.folded or block.in_full) and section.part not in CUT
            case Listing():
                wanted = False
            case _:
                wanted = True
        if wanted:
            yield _narrower(block) if isinstance(block, Table) else block


def _narrower(table: Table) -> Table:
    """Without the columns that can be spared first."""
    kept = [place for place, column in enumerate(table.columns) if column.spare < FIRST_SPARED]
    if len(kept) == len(table.columns):
        return table
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in kept), rows=rows)


def _is_wanted(section: Section, table: Table) -> bool:
    """Of what a page folds away what explains the result, and the settings."""
    known = table.detail < Detail.PAGE and len(table.rows) <= MOST_ROWS and section.part not in CUT
    # The values of a chart of ratios stand behind it.
    return known and not any(isinstance(block, Chart) and not block.folded for block in section.blocks)
