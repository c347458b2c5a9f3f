"""What a report is made of: sections of blocks. Renderers turn each kind of block into their own form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Tone = Literal["plain", "good", "warning", "bad"]


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text; ``advice`` is set apart after it."""

    text: str
    tone: Tone = "plain"
    advice: str = ""


@dataclass(frozen=True)
class Bullets:
    """A list of short sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """Title of a table column; numbers are aligned to the right. ``group`` spans neighbouring columns."""

    title: str
    numeric: bool = True
    group: str = ""


@dataclass(frozen=True)
class Table:
    """Cells are text as it is to be read. The first column names the row."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification with what it shows in words and the numbers behind it."""

    id: str
    title: str
    description: str
    spec: dict[str, Any]
    table: Table
    wide: bool = False


@dataclass(frozen=True)
class Card:
    """The key figures of one contender: a title, one large figure, and lines of (label, value)."""

    title: str
    figure: str
    caption: str
    lines: tuple[tuple[str, str], ...]
    series: int
    tone: Tone = "plain"


@dataclass(frozen=True)
class Cards:
    """Cards side by side."""

    cards: tuple[Card, ...]


@dataclass(frozen=True)
class Listing:
    """Text to be shown as it is, folded away."""

    title: str
    text: str


Block = Text | Bullets | Table | Chart | Cards | Listing


@dataclass(frozen=True)
class Section:
    """A chapter of the report."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """The whole report. ``headline`` is the result in sentences, ``verdict`` its kind in one or two words."""

    title: str
    subtitle: str
    verdict: str
    tone: Tone
    headline: tuple[str, ...]
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]
    embedded: dict[str, Any] = field(default_factory=dict)

    def charts(self) -> tuple[Chart, ...]:
        """All charts in the order of their appearance."""
        return tuple(block for section in self.sections for block in section.blocks if isinstance(block, Chart))
