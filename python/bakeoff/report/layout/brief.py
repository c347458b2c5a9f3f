"""The short edition of a report: what decides, in two or three pages."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.report.blocks.tree import Block, Bullets, Cards, Chart, Listing, Report, Section, Table, Text
from bakeoff.report.layout.detail import Detail

CHARTS = 2
ROWS = 24
"""Of a table: more is for the full report."""


def brief(report: Report) -> Report:
    """The result, the cards, what must be known, the first charts, and the tables that end a run."""
    drawn = {chart.id for chart in [one for one in report.charts() if one.detail <= Detail.COMPARISON][:CHARTS]}
    kept = [replace(section, blocks=_kept(section, drawn)) for section in report.sections]
    return replace(report, sections=tuple(section for section in kept if section.blocks), short=True)


def _kept(section: Section, drawn: set[str]) -> tuple[Block, ...]:
    kept = [_decides(block, drawn) for block in section.blocks]
    # What leads a list on goes with it.
    leads = [isinstance(block, Bullets) and not own for block, own in zip(section.blocks, kept, strict=True)]
    return tuple(
        block
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
            return block.detail == Detail.SUMMARY and not block.folded and len(block.rows) <= ROWS
        case Text():
            return block.severity in ("bad", "warning") or block.detail == Detail.SUMMARY
        case Listing():
            return False
        case _:
            return block.detail == Detail.SUMMARY
