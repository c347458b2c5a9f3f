"""What several suites of a report say in the same words is said once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bakeoff.report.blocks.tree import Block, Listing, Section, Table, Text
from bakeoff.report.layout.chapters import base_id
from bakeoff.report.layout.parts import ReportPart

SAME = "The same of all suites"
GATHERED = (ReportPart.OVERVIEW, ReportPart.CONFIGURATION)
"""Parts in which the suites stand one behind the other."""


def without_repeats(sections: Sequence[Section]) -> list[Section]:
    """`sections` in which what explains stands where it is first needed, and what is the same of all suites stands
    before them where they stand behind each other.
    """
    return list(_first_explained(_same_first(sections)))


def _same_first(sections: Sequence[Section]) -> Iterable[Section]:
    suites = {section.chapter for section in sections if section.chapter}
    groups: dict[str, list[Section]] = {}
    for section in sections:
        if section.chapter and section.part in GATHERED:
            groups.setdefault(base_id(section), []).append(section)
    shared = {
        key: same
        for key, of in groups.items()
        if len(of) == len(suites) > 1 and (same := _in_all([section.blocks for section in of]))
    }
    begun: set[str] = set()
    for section in sections:
        key = base_id(section) if section.chapter else ""
        if key not in shared:
            yield section
            continue
        if key not in begun:
            begun.add(key)
            yield replace(section, id=key, title=SAME, blocks=tuple(shared[key]), chapter="", suite_title="")
        rest = tuple(block for block in section.blocks if block not in shared[key])
        if rest:
            yield replace(section, blocks=rest)


def _in_all(found: Sequence[tuple[Block, ...]]) -> list[Block]:
    """Blocks that stand in all of them; plain text alone is no fact of its own where it leads a list on."""
    first, *others = found
    return [block for block in first if all(block in other for other in others) and not _leads(block, first)]


def _leads(block: Block, among: tuple[Block, ...]) -> bool:
    """Whether the next block is a list that this text leads on."""
    at = among.index(block) + 1
    return isinstance(block, Text) and at < len(among) and not isinstance(among[at], Text | Table | Listing)


def _first_explained(sections: Iterable[Section]) -> Iterable[Section]:
    explained: set[str] = set()
    for section in sections:
        blocks = [made for block in section.blocks if (made := _without_repeats(block, explained)) is not None]
        explained |= {block.text for block in section.blocks if isinstance(block, Text) and block.explains}
        explained |= {block.note for block in section.blocks if isinstance(block, Table)} - {""}
        yield replace(section, blocks=tuple(blocks))


def _without_repeats(block: Block, explained: set[str]) -> Block | None:
    if isinstance(block, Text):
        return None if block.explains and block.text in explained else block
    return replace(block, note="") if isinstance(block, Table) and block.note in explained else block
