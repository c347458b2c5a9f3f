"""A report in the chapters of its author: what was not placed is in the appendix, or is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from bakeoff.report.blocks.tree import Block, Report, Section, Text
from bakeoff.report.embed.report_options import Extent
from bakeoff.report.layout.chapters import (
    CONCLUSION,
    CONFIGURATION,
    METHOD,
    PUBLISHED,
    SUMMARY,
    VALUES,
    Found,
    Subject,
    numbered,
    parted,
    subject_of,
)
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.extents import in_extent

BEWARE = "What to beware of"
REST = "More figures and tables"


def laid_out(report: Report, own: Sequence[Found], placed: Sequence[Block], appendix: str, extent: Extent) -> Report:
    """`report` in the chapters of its author between summary and conclusion, with what of the audit these do not have.
    Behind them stands, as the `appendix` wants it, all that was not placed, the values with configuration and method,
    or nothing. Warnings stay.
    """
    rest = replace(report, sections=tuple(_without(report.sections, placed)))
    rest = in_extent(rest, extent)
    of_suites = any(section.chapter for section in report.sections)
    by = {id(section): subject_of(section, of_suites) for section in rest.sections}

    def of(*subjects: Subject) -> list[Section]:
        return [section for section in rest.sections if by[id(section)] in subjects]

    apart = (SUMMARY, PUBLISHED, CONCLUSION)
    summary, audit, conclusion = map(of, apart)
    body = [one for one in rest.sections if not by[id(one)].is_appendix and by[id(one)] not in apart]
    warnings = [] if appendix == "all" else _warnings(body)
    found: list[Found] = [*parted(SUMMARY, [*summary, *warnings]), *own]
    found += [*parted(PUBLISHED, audit), *parted(CONCLUSION, conclusion)]
    if appendix == "all":
        found += [(REST, tuple(_of_suites(body)), True, False)] if body else []
    if appendix != "none":
        found += [one for subject in (CONFIGURATION, METHOD, VALUES) for one in parted(subject, of(subject))]
    chapters = numbered(found)
    sections = tuple(section for chapter in chapters for section in chapter.sections)
    return replace(report, chapters=chapters, sections=sections, extent=extent, with_values=appendix != "none")


def _without(sections: Sequence[Section], placed: Sequence[Block]) -> Iterable[Section]:
    """`sections` without what stands in a chapter; one of which nothing else is left is none."""
    taken = {id(block) for block in placed}
    for section in sections:
        blocks = tuple(block for block in section.blocks if id(block) not in taken)
        if blocks:
            yield replace(section, blocks=blocks)


def _warnings(sections: Sequence[Section]) -> list[Section]:
    """What qualifies the result, which no layout leaves out."""
    blocks: list[Block] = []
    for section in sections:
        texts = [block for block in section.blocks if isinstance(block, Text) and block.severity in ("bad", "warning")]
        for text in (text for text in texts if text.detail == Detail.SUMMARY):
            blocks.append(replace(text, text=f"{section.chapter}: {text.text}" if section.chapter else text.text))
    return [Section(BEWARE, tuple(blocks), "beware")] if blocks else []


def _of_suites(sections: Sequence[Section]) -> Iterable[Section]:
    """Each with the name of its suite, suite by suite."""
    ordered = sorted(sections, key=lambda section: section.chapter)
    for suite, of in groupby(ordered, key=lambda section: section.chapter):
        for section in of:
            yield replace(section, title=f"{section.title}: {suite}" if suite else section.title)
