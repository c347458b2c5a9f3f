"""A report with what its author gave: their text stands before what was generated, and never instead of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bakeoff.compare.model.comparison import Comparison
from bakeoff.core.redact import without_secrets
from bakeoff.disclosure.paper.model import Paper
from bakeoff.disclosure.paper.read import paper_of
from bakeoff.report.blocks.prose import passages_of
from bakeoff.report.blocks.tree import Block, Column, Cover, Passage, Prose, Report, Section, Span, Table, in_order
from bakeoff.report.embed.report_options import Extent
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.laid_out import laid_out
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.paper.author_tables import author_tables
from bakeoff.report.paper.disclosed import disclosure
from bakeoff.report.paper.inserted import inserted
from bakeoff.report.paper.named_blocks import named_blocks
from bakeoff.report.paper.own_chapters import OwnChapters
from bakeoff.report.paper.published import published
from bakeoff.report.paper.test_beds import beds_of, with_beds
from bakeoff.report.paper.testbed import Generators

BY = "Author's text, as all that is marked so: Bakeoff measured none of it but the numbers that it inserted"
BY_AGAIN = "Author's text"
TITLE_BY = "Author's title"
NOWHERE: Mapping[str, Generators] = {}
CHAPTERS = (("summary", "Summary", Detail.SUMMARY), ("findings", "Key findings", Detail.SUMMARY))
AFTER = (("conclusion", "Conclusion", Detail.PAGE), ("disclaimer", "Disclaimer", Detail.PAGE))


def with_paper(
    report: Report,
    paper: Paper,
    comparisons: Mapping[str, Comparison],
    places: Mapping[str, Generators] = NOWHERE,
    extent: Extent = "full",
) -> Report:
    """`report` with the author's words; `comparisons` are what numbers are inserted from, by suite, and `places` the
    machines that sent the load, by suite, or of several run files by letter. Where the author laid chapters out, it is
    in them and in its `extent` already.

    Raises PlanError for text that cannot be shown, and for numbers that are not in the comparison.
    """
    paper = paper_of(without_secrets(paper.tables), paper.origin)
    made = _Author(paper, comparisons)
    chapters = made.chapters()
    beds = beds_of(paper, places)
    whole = replace(
        report,
        cover=_cover(paper),
        sections=in_order(
            (
                *chapters,
                *with_beds(report.sections, beds),
                *author_tables(paper, report.contenders, comparisons),
                *published(paper),
                *disclosure(paper, report.contenders, beds),
            )
        ),
        embedded={**report.embedded, "inserted": made.numbers},
    )
    return whole if not paper.chapters or extent == "brief" else made.laid_out(whole, extent)


def _cover(paper: Paper) -> Cover | None:
    words = paper.words
    labels = (("Author", words.author), ("Commissioned by", words.commissioner), ("Date", words.date))
    lines = tuple((label, value) for label, value in labels if value)
    return Cover(words.title, TITLE_BY, lines) if words.title or lines else None


@dataclass
class _Author:
    """The author's chapters, and the numbers that were inserted on the way."""

    paper: Paper
    comparisons: Mapping[str, Comparison]
    numbers: list[dict[str, Any]] = field(default_factory=list)
    attributed: bool = False

    def chapters(self) -> list[Section]:
        """Summary, findings, notes, conclusion and disclaimer, those that are there; then the numbers inserted."""
        texts = [self._chapter(*chapter) for chapter in CHAPTERS]
        texts += [self._notes(), *(self._chapter(*chapter) for chapter in AFTER)]
        sections = [section for section in texts if section is not None]
        if self.numbers:
            last = sections[-1]
            sections[-1] = replace(last, blocks=(*last.blocks, self._table()))
        return sections

    def laid_out(self, report: Report, extent: Extent) -> Report:
        """The report in the author's own chapters."""
        own = OwnChapters(named_blocks(report.sections), self._passages, BY_AGAIN)
        found = [own.made(number, chapter) for number, chapter in enumerate(self.paper.chapters, 1)]
        made = laid_out(report, found, own.placed, self.paper.words.appendix, extent)
        return replace(made, embedded={**made.embedded, "inserted": self.numbers})

    def _chapter(self, key: str, title: str, detail: Detail) -> Section | None:
        text = getattr(self.paper.words, key)
        passages = self._passages(text, key)
        if not passages:
            return None
        return Section(title, (self._prose(passages, detail),), f"author-{key}", ReportPart.FRONT)

    def _notes(self) -> Section | None:
        blocks: list[Block] = []
        for number, note in enumerate(self.paper.words.notes, 1):
            day = Passage((Span(note.date, strong=True),))
            blocks.append(self._prose((day, *self._passages(note.text, f"notes[{number}] text"))))
        return Section("Notes", tuple(blocks), "author-notes", ReportPart.FRONT) if blocks else None

    def _prose(self, passages: tuple[Passage, ...], detail: Detail = Detail.PAGE) -> Prose:
        """Whose it is stands above all of it."""
        by, self.attributed = BY_AGAIN if self.attributed else BY, True
        return Prose(by, passages, detail)

    def _passages(self, text: str, key: str) -> tuple[Passage, ...]:
        return passages_of(text, f"{self.paper.origin} [paper] {key}", self._insert)

    def _insert(self, asked: str) -> str:
        number = inserted(asked, self.comparisons)
        self.numbers.append(number)
        return str(number["text"])

    def _table(self) -> Table:
        rows = dict.fromkeys((f"{{{number['asked']}}}", str(number["text"])) for number in self.numbers)
        columns = (Column("Asked for", numeric=False), Column("Inserted", numeric=False))
        note = "From the comparison, which is embedded in this report."
        return Table("Numbers inserted in the author's text", columns, tuple(rows), note, folded=True)
