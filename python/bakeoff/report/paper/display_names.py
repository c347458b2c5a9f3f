"""A report in which contenders have the names that its author gives them: long ones in text, short ones in tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.model import Paper
from bakeoff.report.blocks.tree import (
    Block,
    Bullets,
    Card,
    Cards,
    Chart,
    Column,
    Listing,
    Prose,
    Report,
    Section,
    SeverityText,
    Table,
    Text,
)
from bakeoff.report.charts.drawing import Drawing
from bakeoff.report.charts.palette import Placed, colour_of

Words = Callable[[str], str]
# What stands beside a name that is part of a path, an address or another word.
_BESIDE = r"\w/.:@-"


def with_names(report: Report, paper: Paper) -> Report:
    """`report` with the names of the paper wherever a contender is named, but for the author's own words, files and
    what is embedded. Raises PlanError where two would be called alike.
    """
    long = {name: about.title for name, about in paper.contenders.items() if about.title and name in report.contenders}
    short = {**long, **{name: about.short for name, about in paper.contenders.items() if about.short}}
    short = {name: text for name, text in short.items() if name in report.contenders}
    if not short:
        return report
    for given in (long, short):
        called = [given.get(name, name) for name in report.contenders]
        if twice := next((text for text in called if called.count(text) > 1), None):
            raise PlanError(f"{paper.origin} [contenders]: two are called {twice!r}: give each a name of its own")
    text, cell = _words(long), _words(short)
    sections = {id(section): _section(section, text, cell) for section in report.sections}
    chapters = tuple(
        replace(chapter, sections=tuple(sections.get(id(one)) or _section(one, text, cell) for one in chapter.sections))
        for chapter in report.chapters
    )
    return replace(
        report,
        title=text(report.title),
        subtitle=text(report.subtitle),
        headline=tuple(map(text, report.headline)),
        summary=tuple(map(text, report.summary)),
        caveat=text(report.caveat),
        contenders=_called_contenders(report.contenders, cell),
        sections=tuple(sections[id(section)] for section in report.sections),
        chapters=chapters,
    )


def _called_contenders(names: tuple[str, ...], cell: Words) -> Placed:
    """Their names in tables, in the same order and colours."""
    return Placed(map(cell, names), (), {cell(name): colour_of(name, names) for name in names})


def _words(names: Mapping[str, str]) -> Words:
    """Turns names that stand alone into those that they are called by."""
    if not names:
        return str
    longest = sorted(names, key=len, reverse=True)
    found = re.compile(rf"(?<![{_BESIDE}])({'|'.join(map(re.escape, longest))})(?![\w/@-]|[.:]\w)")
    return lambda text: found.sub(lambda match: names[match[1]], text)


def _section(section: Section, text: Words, cell: Words) -> Section:
    blocks = tuple(_block(block, text, cell) for block in section.blocks)
    return replace(section, title=text(section.title), blocks=blocks)


def _block(block: Block, text: Words, cell: Words) -> Block:
    match block:
        case Text():
            return replace(block, text=text(block.text), advice=text(block.advice))
        case Bullets():
            return replace(block, items=tuple(map(text, block.items)))
        case Table():
            return _table(block, text, cell)
        case Chart():
            return replace(
                block,
                title=text(block.title),
                description=text(block.description),
                drawing=Drawing(lambda: _drawn(block.spec, cell)),
                table=_table(block.table, text, cell),
                plain=None if block.plain is None else _table(block.plain, text, cell),
            )
        case Cards():
            return replace(block, cards=tuple(_card(card, text, cell) for card in block.cards))
        case Listing() | Prose():
            return block


def _card(card: Card, text: Words, cell: Words) -> Card:
    lines = tuple((name, text(value)) for name, value in card.lines)
    return replace(card, title=text(card.title), caption=text(card.caption), lines=lines)


def _table(table: Table, text: Words, cell: Words) -> Table:
    if table.verbatim:
        return table
    columns = tuple(_column(column, cell) for column in table.columns)
    rows = tuple(tuple(_cell(one, cell) for one in row) for row in table.rows)
    return replace(table, title=text(table.title), columns=columns, rows=rows, note=text(table.note))


def _column(column: Column, cell: Words) -> Column:
    return replace(column, title=cell(column.title), group=cell(column.group))


def _cell(text: str, cell: Words) -> str:
    return SeverityText(cell(text), text.severity) if isinstance(text, SeverityText) else cell(text)


def _drawn(part: Any, cell: Words) -> Any:
    """A specification with the names in its texts, never in its keys."""
    if isinstance(part, Mapping):
        return {name: _drawn(value, cell) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_drawn(one, cell) for one in part]
    return cell(part) if isinstance(part, str) else part
