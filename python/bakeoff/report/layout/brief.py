"""The short edition of a report: what decides, on two pages."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.report.blocks.tree import Block, Bullets, Cards, Chart, Listing, Prose, Report, Section, Table, Text
from bakeoff.report.layout.chapters import base_id
from bakeoff.report.layout.detail import Detail

CHARTS = 4
ROWS = 16
"""Of a table: more is for the full report."""
TESTED = "overview"


def brief(report: Report) -> Report:
    """The result, the cards, what must be known, a chart or two of each suite, and how it was tested. Print sets as
    much of it as two pages have room for, in this order.
    """
    drawn = _drawn(report)
    kept = [replace(section, blocks=_brief_blocks(section, drawn)) for section in report.sections]
    return replace(report, sections=tuple(section for section in kept if section.blocks), extent="brief")


def _drawn(report: Report) -> set[str]:
    """The first charts that decide: as many of each suite as of the others."""
    of: dict[str, list[str]] = {}
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Chart) and block.detail <= Detail.COMPARISON:
                of.setdefault(section.chapter, []).append(block.id)
    each = max(1, CHARTS // max(1, len(of)))
    return {id_ for ids in list(of.values())[:CHARTS] for id_ in ids[:each]}


def _brief_blocks(section: Section, drawn: set[str]) -> tuple[Block, ...]:
    if base_id(section) == TESTED:
        return section.blocks
    kept = [_decides(block, drawn) for block in section.blocks]
    # What leads a list on goes with it.
    leads = [isinstance(block, Bullets) and not own for block, own in zip(section.blocks, kept, strict=True)]
    return tuple(
        _cut(block)
        for block, own, alone in zip(section.blocks, kept, [*leads[1:], False], strict=True)
        if own
        and not (alone and isinstance(block, Text) and block.severity == "warning" and block.detail > Detail.SUMMARY)
    )


def _decides(block: Block, drawn: set[str]) -> bool:
    match block:
        case Cards():
            return True
        case Chart():
            return block.id in drawn
        case Table():
            return block.detail == Detail.SUMMARY and not block.folded
        case Text():
            return block.severity in ("bad", "warning") or block.detail == Detail.SUMMARY
        case Listing():
            return False
        case Prose() | Bullets():
            return block.detail == Detail.SUMMARY


def _cut(block: Block) -> Block:
    """A table with its first rows."""
    if not isinstance(block, Table) or len(block.rows) <= ROWS:
        return block
    note = f"{block.note} The first {ROWS} of {len(block.rows)} rows.".strip()
    return replace(block, rows=block.rows[:ROWS], note=note)
