"""What a report is made of: sections of blocks. Renderers turn each kind of block into their own form.

Every block has a `detail` from which on it is shown (see bakeoff.report.layout.detail).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal

from bakeoff.report.charts.drawing import Drawing
from bakeoff.report.embed.report_options import Extent
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart

Severity = Literal["plain", "good", "warning", "bad"]
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


class SeverityText(str):
    """A cell of a table that says how its content is to be taken."""

    severity: Severity

    def __new__(cls, text: str, severity: Severity) -> SeverityText:
        """`text` with a tone."""
        cell = super().__new__(cls, text)
        cell.severity = severity
        return cell


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text; `advice` is set apart after it. What `explains` how to read a figure, and says nothing
    of what was measured, is told once in a report.
    """

    text: str
    severity: Severity = "plain"
    advice: str = ""
    detail: Detail = Detail.PAGE
    explains: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list of short sentences."""

    items: tuple[str, ...]
    detail: Detail = Detail.PAGE


@dataclass(frozen=True)
class Column:
    """Title of a table column; numbers are aligned to the right. `group` spans neighbouring columns. Where there is
    no room for all, `spare` columns are given up, the highest first.
    """

    title: str
    numeric: bool = True
    group: str = ""
    spare: int = 0


@dataclass(frozen=True)
class Table:
    """Cells are text as it is to be read. The first column names the row. One that is `verbatim` has the words of a
    foreign file: a contender of that name is another one.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    folded: bool = False
    detail: Detail = Detail.PAGE
    verbatim: bool = False


@dataclass(frozen=True)
class Chart:
    """A drawing with what it shows in words and the numbers behind it. Where nothing can be drawn, `plain` stands for
    it, or else `table`. What stands `in_full` is left out of the standard edition. Files are named by its `id`: of
    words that come from a run file it keeps what a name may have.
    """

    id: str
    title: str
    description: str
    drawing: Drawing
    table: Table
    wide: bool = False
    plain: Table | None = None
    folded: bool = False
    detail: Detail = Detail.PAGE
    in_full: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", _NO_NAME.sub("-", self.id))

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification."""
        return self.drawing.spec


@dataclass(frozen=True)
class Card:
    """The key figures of one contender: a title, one large figure, and lines of (label, value)."""

    title: str
    figure: str
    caption: str
    lines: tuple[tuple[str, str], ...]
    series: int
    severity: Severity = "plain"


@dataclass(frozen=True)
class Cards:
    """Cards side by side."""

    cards: tuple[Card, ...]
    detail: Detail = Detail.PAGE


@dataclass(frozen=True)
class Listing:
    """Text to be shown as it is, folded away."""

    title: str
    text: str
    detail: Detail = Detail.PAGE


@dataclass(frozen=True)
class Span:
    """Words of a passage that look alike. `link` is an address of http or https, or empty."""

    text: str
    strong: bool = False
    emphasis: bool = False
    code: bool = False
    link: str = ""


@dataclass(frozen=True)
class Passage:
    """A paragraph; with a `marker` ("•", "2.") an item of a list, `level` lists deep."""

    spans: tuple[Span, ...]
    marker: str = ""
    level: int = 0


@dataclass(frozen=True)
class Prose:
    """What a person wrote. `by` says so above it, that nobody takes it for a result."""

    by: str
    passages: tuple[Passage, ...]
    detail: Detail = Detail.PAGE


Block = Text | Bullets | Table | Chart | Cards | Listing | Prose


@dataclass(frozen=True)
class Cover:
    """The title that an author gave, `by` whom it is, and lines of (label, value)."""

    title: str
    by: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Section:
    """A section of the report. `chapter` is the suite that it is about, where a report has several, and `suite_title`
    what that suite is called. What stands `in_full` is left out of the standard edition.
    """

    title: str
    blocks: tuple[Block, ...]
    id: str = ""
    part: ReportPart = ReportPart.RESULTS
    chapter: str = ""
    suite_title: str = ""
    in_full: bool = False

    @property
    def heading(self) -> str:
        """The title with what it is about."""
        return f"{self.chapter}: {self.title}" if self.chapter else self.title

    @property
    def stands_in(self) -> ReportPart:
        """The part of the report that it stands in: what is the front of a single run is a result of a chapter."""
        return ReportPart.RESULTS if self.chapter and self.part == ReportPart.FRONT else self.part


def in_order(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The sections of a report, part by part."""
    return tuple(sorted(sections, key=attrgetter("stands_in")))


@dataclass(frozen=True)
class Chapter:
    """Sections of one subject. Its `number` is "3", or a letter of an appendix. What stands in it under its own title
    has no heading of its own: that section's title is empty. That of one of several suites `is_suite`.
    """

    number: str
    title: str
    sections: tuple[Section, ...]
    id: str
    is_suite: bool = False

    @property
    def is_appendix(self) -> bool:
        """Whether it stands behind the conclusion."""
        return not self.number.isdigit()

    @property
    def heading(self) -> str:
        """ "3 Web pages", "Appendix A: Configuration"."""
        return f"Appendix {self.number}: {self.title}" if self.is_appendix else f"{self.number} {self.title}"


@dataclass(frozen=True)
class Report:
    """The whole report. `headline` is the result in sentences, each with a tone in `tones`; `verdict` is its kind
    in one or two words. `contenders` are their names in the order of their colours and marks: a column, or a cell of a
    column "Contender", that is called like one of them is its own. `caveat` is one sentence to know beside the result;
    empty without any. The `extent` is full, standard or brief. A paper has a `cover`; `chapters` are those that its
    author made, without them they come from the sections; print has the values of figures unless it is `with_values`
    False. `summary` is the result in at most five sentences, where the
    headline has more.
    """

    title: str
    subtitle: str
    verdict: str
    severity: Severity
    headline: tuple[str, ...]
    severities: tuple[Severity, ...]
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]
    embedded: dict[str, Any] = field(default_factory=dict)
    contenders: tuple[str, ...] = ()
    extent: Extent = "full"
    cover: Cover | None = None
    caveat: str = ""
    chapters: tuple[Chapter, ...] = ()
    summary: tuple[str, ...] = ()
    with_values: bool = True

    def blocks(self, detail: Detail) -> tuple[Block, ...]:
        """What a reader at `detail` is shown, in its order."""
        return tuple(block for section in self.sections for block in section.blocks if block.detail <= detail)

    def charts(self) -> tuple[Chart, ...]:
        """All charts in the order of their appearance."""
        return tuple(block for section in self.sections for block in section.blocks if isinstance(block, Chart))
