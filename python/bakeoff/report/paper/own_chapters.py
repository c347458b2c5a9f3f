"""The chapters that an author lays out: text before, between and after the figures and tables that it names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.model import OwnChapter
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.report.blocks.tree import Block, Chart, Passage, Prose, Section, Table
from bakeoff.report.charts.drawing import Drawing
from bakeoff.report.layout.chapters import Found
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.paper.named_blocks import KINDS, NamedBlocks

PLACE: Final = re.compile(rf"\s*\{{({'|'.join(KINDS)})\b([^{{}}\n]*)\}}\s*")
TITLE: Final = re.compile(r"##\s+(\S.*)")
KEYS: Final = ("suite", "name", "curve", "caption")


@dataclass
class OwnChapters:
    """Makes them of what can be placed. `passages` reads text as `[paper]` has it, `by` says whose it is."""

    named: NamedBlocks
    passages: Callable[[str, str], tuple[Passage, ...]]
    by: str
    placed: list[Block] = field(default_factory=list)

    def made(self, number: int, chapter: OwnChapter) -> Found:
        """A chapter with its sections. Raises PlanError for what is named and not there, or placed twice."""
        where = f"[[chapter]] {chapter.title!r}"
        sections: list[Section] = [Section("", (), f"own-{number}-0", ReportPart.RESULTS)]
        begun = False
        for kind, text in _parts(chapter.text):
            if kind == "title":
                id_ = f"own-{number}-{len(sections)}"
                sections.append(Section(text, (), id_, ReportPart.RESULTS))
                continue
            if kind == "prose":
                blocks: tuple[Block, ...] = (Prose("" if begun else self.by, self.passages(text, where)),)
                begun = True
            else:
                blocks = self._placed(kind, text, chapter.suite, where)
            sections[-1] = replace(sections[-1], blocks=(*sections[-1].blocks, *blocks))
        return chapter.title, tuple(one for one in sections if one.blocks or one.title), False, False

    def _placed(self, kind: str, asked: str, suite: str, where: str) -> tuple[Block, ...]:
        try:
            keys = _keys(asked)
            name = keys.get("name") or keys.get("curve")
            if not name:
                raise PlanError(f"names nothing: write {{{kind} name=NAME}}")
            found = self.named.find(kind, name, keys.get("suite", suite))
            if any(block in self.placed for block in found.blocks if isinstance(block, Chart | Table)):
                raise PlanError("stands in a chapter already: leave it out here")
        except PlanError as error:
            raise PlanError(f"{where}: {{{kind}{asked}}} {error}") from None
        self.placed += found.blocks
        blocks = tuple(_open(block) for block in found.blocks)
        return tuple(_called(block, keys["caption"]) for block in blocks) if "caption" in keys else blocks


def _open(block: Block) -> Block:
    """What an author asks for by name is folded no more."""
    return replace(block, folded=False) if isinstance(block, Chart | Table) and block.folded else block


def _called(block: Block, caption: str) -> Block:
    if isinstance(block, Table):
        return replace(block, title=caption)
    if isinstance(block, Chart):
        old = block.drawing
        drawing = Drawing(lambda: {**old.spec, "title": {**old.spec.get("title", {}), "text": caption}})
        return replace(block, title=caption, drawing=drawing)
    return block


def _keys(asked: str) -> dict[str, str]:
    """ "suite=web curve=rate" as keys. Raises PlanError."""
    try:
        words = shlex.split(asked)
    except ValueError:
        raise PlanError("has a quotation mark that is not closed: close it") from None
    keys: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not value or key in keys:
            raise PlanError(f"has {word!r} where KEY=VALUE is wanted, each key once: {{figure suite=NAME curve=rate}}")
        if key not in KEYS:
            raise PlanError(f"has an unknown key {key!r}: {did_you_mean(key, KEYS)}")
        keys[key] = value
    return keys


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Titles, places and the prose between them, in their order."""
    lines: list[str] = []
    for line in text.splitlines():
        title, place = TITLE.fullmatch(line.strip()), PLACE.fullmatch(line)
        if title is None and place is None:
            lines.append(line)
            continue
        yield from _prose(lines)
        lines = []
        yield ("title", title[1].strip()) if title is not None else (place[1], place[2])  # type: ignore[index]
    yield from _prose(lines)


def _prose(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    text = "\n".join(lines).strip()
    if text:
        yield "prose", text
