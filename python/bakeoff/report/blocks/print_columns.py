"""How wide the columns of a printed table are, and how large its letters: as large as all of it can be read in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bakeoff.report.blocks.tree import Table

PAGE_PT: Final = 470.0
"""Between the margins of an A4 page."""
SIZES_PT: Final = (8.6, 7.6, 6.6, 5.6)
LETTER: Final = 0.48
"""How wide a letter of the typeface is on average, of its size."""
BOLD: Final = 1.2
"""A letter of a title, or of a cell that stands out, beside others."""
WIDE_INSET_PT, NARROW_INSET_PT = 8.0, 4.8
"""Left and right of a cell together, where there are few columns and where there are many."""
FEW_COLUMNS: Final = 9
LONGEST_PART: Final = 16
"""Longer words may be broken, as the template does it."""
NARROWEST_WORDS: Final = 20
LONGEST: Final = 240
"""Letters of a cell beyond which it claims no more of the page."""
MARK: Final = 2


@dataclass(frozen=True)
class Columns:
    """Size of the letters and inset of a cell, points, and the share of each column; without shares each is as wide
    as what it holds. The whole is so wide.
    """

    size_pt: float
    inset_pt: float
    shares: tuple[float, ...] = ()
    width_pt: float = PAGE_PT


def columns_of(table: Table, contenders: Sequence[str], largest_pt: float = SIZES_PT[0]) -> Columns:
    """The largest letters in which no number and no word is broken; words wrap where there is no room for them."""
    full = [_full(table, place, contenders) for place in range(len(table.columns))]
    least = [_least(table, place, whole) for place, whole in enumerate(full)]
    inset_pt = WIDE_INSET_PT if len(full) <= FEW_COLUMNS else NARROW_INSET_PT
    for size_pt in (size_pt for size_pt in SIZES_PT if size_pt <= largest_pt):
        room = (PAGE_PT - inset_pt * len(full)) / (size_pt * LETTER)
        if sum(full) <= room:
            return Columns(size_pt, inset_pt, (), sum(full) * size_pt * LETTER + inset_pt * len(full))
        if sum(least) <= room:
            return _set(size_pt, inset_pt, _shared(full, least, room))
    return _set(SIZES_PT[-1], inset_pt, least)


def _set(size_pt: float, inset_pt: float, letters: Sequence[float]) -> Columns:
    return Columns(size_pt, inset_pt, tuple(round(one * size_pt * LETTER + inset_pt, 2) for one in letters))


def _shared(full: Sequence[float], least: Sequence[float], room: float) -> list[float]:
    """What is left over goes to those that want more, as they want it."""
    wanted = sum(full) - sum(least)
    left = room - sum(least)
    return [own + (whole - own) * left / wanted for whole, own in zip(full, least, strict=True)]


def _full(table: Table, place: int, contenders: Sequence[str]) -> float:
    title = table.columns[place].title
    marked = MARK * (title in contenders or title == "Contender")
    return min(max(_longest(table, place), BOLD * len(title), 1.0) + marked, LONGEST)


def _least(table: Table, place: int, full: float) -> float:
    """Whole numbers; whole words of titles, and of sentences in no syllables."""
    column = table.columns[place]
    title = BOLD * max((min(len(word), LONGEST_PART) for word in column.title.split()), default=1)
    return min(max(title, _longest(table, place) if column.numeric else NARROWEST_WORDS), full)


def _longest(table: Table, place: int) -> float:
    return float(max((_letters(cell) for row in table.rows for cell in row[place : place + 1]), default=0))


def _letters(cell: str) -> float:
    """Of one that stands out, which is printed bold, more."""
    return len(cell) * (BOLD if getattr(cell, "severity", "plain") != "plain" else 1)
