"""How a table fits a narrow window: it is as narrow as it is, it is scrolled, or its rows become cards."""

from __future__ import annotations

from bakeoff.report.blocks.tree import Table

# Room of a window of 360 pixels, and what a character and a cell's edges take at most, pixels.
NARROWEST_PX, CHARACTER_PX, EDGES_PX = 320, 8.5, 19
# Texts are broken between words, numbers never.
TEXT_PX = 150
MOST_CARDS = 24


def wide(table: Table) -> bool:
    """Whether it may not fit the narrowest window."""
    return _width_px(table) > NARROWEST_PX


def stacks(table: Table) -> bool:
    """Whether its rows are read as cards on a narrow window: those with words, such as verdicts, of which there are
    few. Numbers are compared down a column, and stay in it.
    """
    words = any(not column.numeric for column in table.columns[1:])
    grouped = any(column.group for column in table.columns)
    return words and not grouped and len(table.rows) <= MOST_CARDS and wide(table)


def _width_px(table: Table) -> float:
    width = 0.0
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        if column.numeric and place:
            longest = max(map(len, [*cells, *column.title.split()]), default=0)
            width += longest * CHARACTER_PX + EDGES_PX
        else:
            words = max((len(word) for text in [*cells, column.title] for word in text.split()), default=0)
            whole = max(map(len, [*cells, column.title]), default=0)
            width += min(whole, max(words, TEXT_PX / CHARACTER_PX)) * CHARACTER_PX + EDGES_PX
    return width
