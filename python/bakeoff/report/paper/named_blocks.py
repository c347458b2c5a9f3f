"""What of a report an author can place by name: its figures, its tables and what its sections say, of each suite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bakeoff.core.errors import PlanError
from bakeoff.report.blocks.tree import Block, Chart, Listing, Section, Table
from bakeoff.report.layout.chapters import base_id

PREFIX = "chart-"
KINDS = ("figure", "table", "text", "section")


@dataclass(frozen=True)
class Named:
    """Blocks that a name stands for: one figure or table, what a section says beside these, or all of a section.
    `section` is where it stands by itself.
    """

    kind: str
    name: str
    suite: str
    blocks: tuple[Block, ...]
    title: str
    section: str


@dataclass(frozen=True)
class NamedBlocks:
    """All of them in the order of the report; `suites` are those that it has chapters of."""

    every: tuple[Named, ...]
    suites: tuple[str, ...]

    def find(self, kind: str, name: str, suite: str) -> Named:
        """What is asked for; without a suite what is of none. Raises PlanError with the names that there are."""
        of = [one for one in self.every if one.kind == kind and (one.suite == suite or not self.suites)]
        found = next((one for one in of if one.name == name), None)
        if found is None:
            known = ", ".join(one.name for one in of) or "none"
            where = f" of suite {suite}" if suite and self.suites else ""
            raise PlanError(f"there is no {kind} {name!r}{where}: the names are {known}")
        return found


def named_blocks(sections: Sequence[Section]) -> NamedBlocks:
    """The figures, tables, texts and sections of a report."""
    every = tuple(one for section in sections for one in _of(section))
    return NamedBlocks(_once(every), tuple(dict.fromkeys(one.chapter for one in sections if one.chapter)))


def _of(section: Section) -> Iterator[Named]:
    base, suite = base_id(section), section.chapter
    yield Named("section", base, suite, section.blocks, section.title, base)
    text = _text(section)
    if text:
        yield Named("text", base, suite, text, section.title, base)
    for block in section.blocks:
        if isinstance(block, Chart):
            yield Named("figure", _figure(block, section), suite, (block,), block.title, base)
        elif isinstance(block, Table) and block.rows:
            yield Named("table", slug(block.title), suite, (block,), block.title, base)


def _text(section: Section) -> tuple[Block, ...]:
    return tuple(block for block in section.blocks if not isinstance(block, Chart | Table | Listing))


def remains_in(one: Named, section: Section) -> bool:
    """Whether some of it is in a section that was cut."""
    if one.kind == "text":
        return bool(_text(section))
    (block,) = one.blocks
    return any(
        other.id == block.id if isinstance(other, Chart) and isinstance(block, Chart) else _is_table(other, block)
        for other in section.blocks
    )


def _is_table(other: Block, block: Block) -> bool:
    return isinstance(other, Table) and isinstance(block, Table) and other.title == block.title and not other.folded


def _figure(chart: Chart, section: Section) -> str:
    """The name of a chart without the number of its suite."""
    number = section.id.removeprefix(base_id(section))
    return chart.id.removeprefix(PREFIX).removesuffix(number) if number else chart.id.removeprefix(PREFIX)


def slug(title: str) -> str:
    """A title as a name: "peak-and-saturation"."""
    words = re.findall(r"[a-z0-9]+", title.partition(" (")[0].lower().replace("÷", " by "))
    return "-".join(words) or "table"


def _once(every: Sequence[Named]) -> tuple[Named, ...]:
    """The second of a name has a number."""
    seen: dict[tuple[str, str, str], int] = {}
    found = []
    for one in every:
        key = (one.kind, one.suite, one.name)
        seen[key] = seen.get(key, 0) + 1
        name = one.name if seen[key] == 1 else f"{one.name}-{seen[key]}"
        found.append(Named(one.kind, name, one.suite, one.blocks, one.title, one.section))
    return tuple(found)
