"""The chapters of a report as a paper file to edit: every figure and table by the name under which it can be placed."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bakeoff.report.blocks.tree import Chapter, Report, Section
from bakeoff.report.layout.chapters import CONCLUSION, SUMMARY, base_id, chapters_of
from bakeoff.report.layout.standard import standard
from bakeoff.report.paper.named_blocks import Named, NamedBlocks, named_blocks, remains_in

HEAD = """# The chapters of this report, to edit: change their order, write between figures, take some out.
# A line such as {figure curve=rate} is a figure; caption="…" in it is what stands below.
# {text name=result} is what a section says, {section name=errors} all of it.
# Summary, conclusion and warnings stand without being named.

[paper]
title = ""
author = ""
summary = ""
conclusion = ""
# Of what no chapter has: "all" is in the appendix, "values" of what stands here, or "none".
appendix = "all"
"""


def outline(report: Report) -> str:
    """The chapters of the standard edition between summary and conclusion; what is in the full one alone is named in
    comments.
    """
    named = named_blocks(report.sections)
    shown = standard(report)
    chapters = [
        chapter
        for chapter in chapters_of(shown)
        if not chapter.is_appendix and chapter.title not in (SUMMARY.title, CONCLUSION.title)
    ]
    return "\n".join([HEAD, *(_chapter(chapter, named) for chapter in chapters)])


def _chapter(chapter: Chapter, named: NamedBlocks) -> str:
    suite = chapter.sections[0].chapter if chapter.is_suite else ""
    texts: list[str] = []
    comments: list[str] = []
    for section in chapter.sections:
        texts += ["", f"## {section.title}"] if section.title else []
        for one, is_shown in _of(section, named):
            place = _place(one, suite)
            texts += [place] if is_shown else []
            if one.kind in ("figure", "table"):
                comments.append(f"# {place} {one.title}" + ("" if is_shown else " (not placed)"))
    head = ["[[chapter]]", f"title = {json.dumps(chapter.title, ensure_ascii=False)}"]
    head += [f"suite = {json.dumps(suite, ensure_ascii=False)}"] if suite else []
    return "\n".join([*head, *comments, "text = '''", *texts, "'''", ""])


def _of(section: Section, named: NamedBlocks) -> Iterator[tuple[Named, bool]]:
    """What can be placed of a section but itself, and whether it is shown."""
    for one in named.every:
        if one.section == base_id(section) and one.suite == section.chapter and one.kind != "section":
            yield one, remains_in(one, section)


def _place(one: Named, suite: str) -> str:
    key = "curve" if one.kind == "figure" else "name"
    of = f" suite={_quoted(one.suite)}" if one.suite and one.suite != suite else ""
    return f"{{{one.kind}{of} {key}={_quoted(one.name)}}}"


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name
