"""A report on a terminal, or in a text file: the result first, what to beware of last, where it is seen.

Plain text when the output is not a terminal.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import TypeGuard

from rich.console import Console
from rich.text import Text as Line

from bakeoff.core.sanitize import sanitize
from bakeoff.report.blocks.fit import ConsoleTable, fitted
from bakeoff.report.blocks.tree import (
    Block,
    Bullets,
    Cards,
    Chart,
    Listing,
    Passage,
    Prose,
    Report,
    Severity,
    SeverityText,
    Table,
    Text,
)
from bakeoff.report.charts.palette import colour_at, marker
from bakeoff.report.embed.report_options import options_line
from bakeoff.report.layout.detail import Detail

STYLES: dict[Severity, str] = {"plain": "", "good": "green", "warning": "yellow", "bad": "red"}
# More warnings than this drown what is above them; a file has room for all.
WARNINGS = 12
# No paragraph is set in less.
NARROWEST = 20
# Tables of a file are not to be folded at 80 columns.
FILE_WIDTH = 240


def prepare() -> None:
    pass


def render(report: Report, stem: str = "") -> bytes:
    text = io.StringIO()
    show(report, Console(file=text, width=FILE_WIDTH, highlight=False, color_system=None), Detail.PAGE)
    line = options_line(report.embedded)
    return sanitize(text.getvalue() + (f"\n{line}\n" if line else "")).encode()


def sidecar_files(report: Report, stem: str) -> Mapping[str, bytes]:
    return {}


def show(report: Report, console: Console, detail: Detail) -> None:
    """Print what a reader at `detail` wants to see. Of a comparison what a page folds is detail, too, and detail is
    named at the end.
    """
    left: list[str] = []
    for at, (sentence, severity) in enumerate(zip(report.headline, report.severities, strict=True)):
        _line(console, sentence, f"bold {STYLES[severity]}" if STYLES[severity] else "")
        if at == 0 and report.caveat:
            _line(console, report.caveat, f"bold {STYLES['warning']}")
    console.print()
    if report.cover is not None:
        _facts([(report.cover.by, report.cover.title)] if report.cover.title else [], console)
        _facts(report.cover.lines, console)
    if detail == Detail.PAGE:
        _facts(report.facts, console)
    chapter = ""
    for section in report.sections:
        blocks = [block for block in section.blocks if block.detail <= detail and not _is_warning(block)]
        if detail == Detail.COMPARISON:
            blocks = [block for block in blocks if not _is_folded(block)]
            left += [b.title.partition(" (")[0] for b in section.blocks if _is_detail(b)]
        if detail == Detail.PAGE and blocks:
            _line(console, f"\n{section.heading}\n{'=' * len(section.heading)}", "bold")
        elif blocks and section.chapter != chapter:
            chapter = section.chapter
            _line(console, f"\n{chapter or section.title}", "bold")
        for block in blocks:
            _block(block, console, detail, report.contenders)
    warnings = [block for block in report.blocks(detail) if isinstance(block, Text) and _is_warning(block)]
    _warnings(warnings, console, len(warnings) if detail == Detail.PAGE else WARNINGS)
    if left:
        titles = f"{left[0]} to {left[-1]}" if len(left) > 1 else left[0]
        tables = "1 more table" if len(left) == 1 else f"{len(left)} more tables"
        _line(console, f"--details shows {tables}: {titles}", "dim")


def _is_folded(block: Block) -> bool:
    table = (block.plain or block.table) if isinstance(block, Chart) else block
    return isinstance(table, Table) and table.folded


def _is_detail(block: Block) -> TypeGuard[Table | Chart]:
    if not isinstance(block, Table | Chart):
        return False
    return block.detail == Detail.DETAILS or (_is_folded(block) and block.detail < Detail.DETAILS)


def _is_warning(block: Block) -> bool:
    return isinstance(block, Text) and block.severity == "warning"


def _facts(facts: Iterable[tuple[str, str]], console: Console) -> None:
    for name, value in facts:
        _line(console, f"{name}: {value}")


def _warnings(warnings: list[Text], console: Console, most: int) -> None:
    for warning in warnings[:most]:
        _line(console, f"! {_sentence(warning)}", STYLES["warning"])
    if len(warnings) > most:
        _line(console, f"! {len(warnings) - most} more warnings: see the report.", STYLES["warning"])


def _block(block: Block, console: Console, detail: Detail, contenders: tuple[str, ...]) -> None:
    match block:
        case Text():
            _line(console, _sentence(block), STYLES[block.severity])
        case Bullets():
            for item in block.items:
                _line(console, item)
        case Table():
            _table(block, console, detail, contenders)
        case Chart():
            _table(block.plain or block.table, console, detail, contenders)
        case Cards():
            for card in block.cards:
                line = Line(f"{marker(card.series)} ", style=colour_at(card.series, contenders))
                line.append(sanitize(f"{card.title}: {card.figure}, {card.caption}"), STYLES[card.severity])
                console.print(line, soft_wrap=not console.is_terminal)
                _facts(((f"  {name}", value) for name, value in card.lines), console)
        case Listing():
            _line(console, f"{block.title}\n{block.text}")
        case Prose():
            if block.by:
                _line(console, block.by, "dim")
            for passage in block.passages:
                _line(
                    console, f"{'  ' * passage.level}{passage.marker} " * bool(passage.level) + _plain_passage(passage)
                )


def _plain_passage(passage: Passage) -> str:
    """The words of a passage, with where its links lead."""
    return "".join(
        f"{span.text} ({span.link})" if span.link and span.link != span.text else span.text for span in passage.spans
    )


def _sentence(text: Text) -> str:
    return f"{text.text} {text.advice}".rstrip()


def _table(table: Table, console: Console, detail: Detail, contenders: tuple[str, ...]) -> None:
    console_table = ConsoleTable(sanitize(table.title))
    for column in table.columns:
        names = [name for name in (column.group, column.title) if name in contenders]
        console_table.column(column.title, column.numeric, column.spare, column.group, _mark(contenders, names))
    named = [column.title == "Contender" for column in table.columns]
    for row in table.rows:
        console_table.row(
            *(_named(cell, contenders) if own else _cell(cell) for cell, own in zip(row, named, strict=True))
        )
    console.print(fitted(console_table, console))
    if table.note and detail > Detail.COMPARISON:
        # As wide as the table may be; a width of no words is none.
        console.print(Line(sanitize(table.note), style="dim"), soft_wrap=console.width < NARROWEST)


def _mark(contenders: tuple[str, ...], names: list[str]) -> Line | None:
    """The mark of the first of `names`, in its colour."""
    if not names:
        return None
    series = contenders.index(names[0])
    return Line(f"{marker(series)} ", style=colour_at(series, contenders))


def _named(cell: str, contenders: tuple[str, ...]) -> str | Line:
    mark = _mark(contenders, [cell] if cell in contenders else [])
    return _cell(cell) if mark is None else mark.append(sanitize(cell), "default")


def _cell(cell: str) -> str | Line:
    return Line(cell, style=STYLES[cell.severity]) if isinstance(cell, SeverityText) else cell


def _line(console: Console, text: str, style: str = "") -> None:
    """Text as it is, for names of contenders may look like markup: one line, on a terminal wrapped at words."""
    console.print(Line(sanitize(text), style=style), soft_wrap=not console.is_terminal)
