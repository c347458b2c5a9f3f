"""Tables as text: with commas, semicolons or tabs between cells, and those of Markdown."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.grids.grid import Grid, GridMaker
from bakeoff.formats.foreign.source import Source, refused

KINDS = {"\t": "TSV", ";": "CSV with semicolons", ",": "CSV", "|": "table with bars"}
# Of the first lines so many say what stands between cells.
LOOKED_AT = 50
_RULE = re.compile(r"\s*\|?\s*:?-{1,}:?\s*(\|\s*:?-{1,}:?\s*)+\|?\s*")


def is_table_text(head: str) -> bool:
    """Whether text looks like rows of cells: one mark stands equally often in two lines and more."""
    return is_markdown(head) or mark_of(head) is not None


def text_grid(source: Source) -> Grid:
    """The cells of a text. Raises PlanError with the line at fault."""
    if is_markdown(source.head):
        return _markdown(source)
    mark = mark_of(source.head)
    if mark is None:
        raise PlanError("it is no table: its lines do not have the same number of commas, semicolons or tabs")
    return delimited(source.lines(), mark)


def delimited(text: Iterator[tuple[int, str]], mark: str) -> Grid:
    """The cells of numbered lines with `mark` between them. Raises PlanError with the line at fault."""
    made, lines = GridMaker(), _Numbered(text)
    rows = csv.reader(lines, delimiter=mark, strict=False, skipinitialspace=True)
    try:
        begin = 1
        for cells in rows:
            made.add(begin, cells)
            begin = lines.number + 1
    except csv.Error as error:
        raise refused(lines.number, f"it is not CSV: {error}") from None
    return Grid(KINDS[mark], tuple(made.rows))


class _Numbered:
    """The lines of a table without comments, and the number of the last one."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for number, line in self._lines:
            self.number = number
            if not line.startswith("#"):
                return line.replace("\0", "") + "\n"
        raise StopIteration


def is_markdown(head: str) -> bool:
    """Whether text has the line below the heading of a table of Markdown."""
    return any(_RULE.fullmatch(line[:2000]) for line in head.splitlines()[:LOOKED_AT])


def mark_of(head: str) -> str | None:
    """What stands between cells: the mark that most lines have equally often. A decimal comma is beside semicolons or
    tabs.
    """
    lines = [line for line in head.splitlines()[:LOOKED_AT] if line.strip() and not line.startswith("#")]
    best: tuple[int, str] | None = None
    for mark in KINDS:
        often = Counter(_outside_quotes(line).count(mark) for line in lines)
        often.pop(0, None)
        if not often:
            continue
        times = often.most_common(1)[0][1]
        if times >= min(2, len(lines)) and (best is None or times > best[0]):
            best = (times, mark)
    return None if best is None or len(lines) < 2 else best[1]


def _outside_quotes(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line[:10_000])


def _markdown(source: Source) -> Grid:
    """The first table of a document; what stands around it is left out."""
    made, before, inside, more = GridMaker(), (0, ""), False, 0
    for number, line in source.lines():
        if _RULE.fullmatch(line[:2000]):
            more += bool(made.rows)
            if not made.rows:
                inside = True
                made.add(before[0] or number, _bars(before[1]))
        elif inside and "|" in line:
            made.add(number, _bars(line))
        else:
            inside = False
        before = (number, line)
    notes = (f"only the first of {more + 1} tables is read",) if more else ()
    return Grid("Markdown", tuple(made.rows), notes)


def _bars(line: str) -> list[str]:
    """The cells of a line of Markdown, without marks of emphasis, links and code."""
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [re.sub(r"[*`]|\\(?=\|)", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell)).strip() for cell in cells]
