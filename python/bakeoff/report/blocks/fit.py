"""Tables for terminals of any width: a number is never cut.

A table that is too wide gives up the columns that it can spare, then lets its words wrap. If that is not enough it is
turned, rows for columns, where that fits, or else continued below with its first column again. Only where not even two
columns fit beside each other it is stacked: one line for each value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bakeoff.core.sanitize import sanitize

GAP = 2  # columns of characters between two columns, and kept free at the edge
# Words wrap down to this width and no further, so that a sentence does not become a column of syllables.
NARROWEST_WORDS = 20


@dataclass(frozen=True)
class Head:
    """Title of a column. `spare` columns are given up first where there is no room, the highest first."""

    title: str
    numeric: bool
    spare: int = 0
    group: str = ""
    mark: Text | None = None

    @property
    def text(self) -> str:
        """The title with that of its group, and the mark before it."""
        mark = "" if self.mark is None else self.mark.plain
        return mark + f"{self.group} {self.title}".lstrip()

    @property
    def shown(self) -> Text:
        """The same with the colour of the mark."""
        text = Text(self.text)
        if self.mark is not None:
            text.stylize(self.mark.style, 0, 1)
        return text


@dataclass
class ConsoleTable:
    """A table before its form is decided. Titles and cells are text as it is, never markup."""

    title: str = ""
    heads: list[Head] = field(default_factory=list)
    rows: list[tuple[Text, ...]] = field(default_factory=list)

    def column(
        self, title: str, numeric: bool = True, spare: int = 0, group: str = "", mark: Text | None = None
    ) -> None:
        """Add a column; numeric ones are aligned to the right and do not wrap. Those of a `group` stay together, and a
        `mark` stands before the title.
        """
        self.heads.append(Head(sanitize(title), numeric, spare, sanitize(group), mark))

    def row(self, *cells: str | Text) -> None:
        """Add a row with one cell for each column."""
        self.rows.append(tuple(_shown(cell) for cell in cells))


def _shown(cell: str | Text) -> Text:
    """A cell as a console shows it, so that its width is known."""
    if isinstance(cell, str):
        return Text(sanitize(cell))
    return Text(plain, style=cell.style) if (plain := sanitize(cell.plain)) != cell.plain else cell


def fitted(console_table: ConsoleTable, console: Console) -> RenderableType:
    """`console_table` in the widest form that `console` has room for."""
    room = console.width
    while _least(console_table) > room and any(head.spare for head in console_table.heads):
        spared = max(range(len(console_table.heads)), key=lambda index: console_table.heads[index].spare)
        console_table = _only(console_table, [index for index in range(len(console_table.heads)) if index != spared])
    if _least(console_table) <= room:
        return _table(console_table, console)
    if all(head.numeric for head in console_table.heads[1:]) and _least(turned := _turned(console_table)) <= room:
        return _table(turned, console)
    parts = _parts(console_table, room)
    if all(_least(part) <= room for part in parts):
        return Group(*(_table(part, console) for part in parts))
    return _stacked(console_table)


def _only(console_table: ConsoleTable, kept: list[int], title: str | None = None) -> ConsoleTable:
    """The columns `kept`, in that order."""
    rows = [tuple(row[index] for index in kept) for row in console_table.rows]
    return ConsoleTable(
        console_table.title if title is None else title, [console_table.heads[index] for index in kept], rows
    )


def _turned(console_table: ConsoleTable) -> ConsoleTable:
    """A row for each column."""
    heads = [
        Head(console_table.heads[0].title, numeric=False),
        *(Head(row[0].plain, numeric=True) for row in console_table.rows),
    ]
    rows = [
        (head.shown, *(row[index] for row in console_table.rows))
        for index, head in enumerate(console_table.heads)
        if index > 0
    ]
    return ConsoleTable(console_table.title, heads, rows)


def _parts(console_table: ConsoleTable, room: int) -> list[ConsoleTable]:
    """`console_table` in as few parts as fit into `room`, each with its first column; what is of one group stays
    together where it fits.
    """
    units: list[list[int]] = []
    for index in range(1, len(console_table.heads)):
        group = console_table.heads[index].group
        if units and group and group == console_table.heads[units[-1][0]].group:
            units[-1].append(index)
        else:
            units.append([index])
    units = [
        part for unit in units for part in ([unit] if _least(_only(console_table, [0, *unit])) <= room else _each(unit))
    ]
    parts: list[list[int]] = []
    for unit in units:
        if parts and _least(_only(console_table, [0, *parts[-1], *unit])) <= room:
            parts[-1] += unit
        else:
            parts.append(list(unit))
    return [
        _only(console_table, [0, *part], console_table.title if number == 0 else "")
        for number, part in enumerate(parts)
    ]


def _each(unit: list[int]) -> list[list[int]]:
    return [[index] for index in unit]


def _full(console_table: ConsoleTable, index: int) -> int:
    """Width of a column of which nothing wraps."""
    cells = max((row[index].cell_len for row in console_table.rows), default=0)
    return max(cells, cell_len(console_table.heads[index].text))


def _narrow(console_table: ConsoleTable, index: int) -> int:
    """The least width of a column: whole numbers, whole words, and words of a title on lines of their own."""
    head = console_table.heads[index]
    title = max((cell_len(word) for word in head.text.split()), default=0)
    cells = [row[index] for row in console_table.rows]
    if head.numeric:
        return max([title, *(cell.cell_len for cell in cells)])
    words = max([title, *(cell_len(word) for cell in cells for word in cell.plain.split())])
    return min(_full(console_table, index), max(words, NARROWEST_WORDS))


def _least(console_table: ConsoleTable) -> int:
    return sum(_narrow(console_table, index) for index in range(len(console_table.heads))) + GAP * len(
        console_table.heads
    )


def _widths(console_table: ConsoleTable, room: int) -> list[int]:
    """A width for each column; what is left over goes to titles first, then to sentences."""
    widths = [_narrow(console_table, index) for index in range(len(console_table.heads))]
    left = room - sum(widths) - GAP * len(widths)
    for index in sorted(range(len(widths)), key=lambda index: not console_table.heads[index].numeric):
        more = min(left, _full(console_table, index) - widths[index])
        widths[index] += more
        left -= more
    return widths


def _table(console_table: ConsoleTable, console: Console) -> Table:
    look = box.SIMPLE_HEAD if console.is_terminal else None
    title = Text(console_table.title, style="bold") if console_table.title else None
    # A box draws one column of the gap itself.
    gap = (0, GAP, 0, 0) if look is None else (0, GAP - 1, 0, 0)
    table = Table(title=title, title_justify="left", box=look, pad_edge=False, show_edge=False, padding=gap)
    widths = _widths(console_table, console.width)
    for head, width in zip(console_table.heads, widths, strict=True):
        justify = "right" if head.numeric else "left"
        table.add_column(head.shown, justify=justify, width=width, overflow="fold")  # type: ignore[arg-type]
    for row in console_table.rows:
        table.add_row(*row)
    return table


def _stacked(console_table: ConsoleTable) -> Group:
    """Each row as a heading, its first cell, and a line for each further one."""
    parts: list[RenderableType] = [Text(console_table.title, style="bold")] if console_table.title else []
    for row in console_table.rows:
        parts.append(Text(f"{console_table.heads[0].title} {row[0].plain}", style="bold"))
        lines = Table.grid(padding=(0, GAP))
        lines.add_column(overflow="fold", ratio=2)
        lines.add_column(overflow="fold", ratio=3)
        for head, cell in zip(console_table.heads[1:], row[1:], strict=True):
            lines.add_row(Text(f"  {head.text}"), cell)
        parts.append(lines)
    return Group(*parts)
