"""A report has chapters: numbered, each suite in one, its name in no heading below; facts are said once."""

from __future__ import annotations

import io
import re
from functools import cache
from pathlib import Path

import numpy as np
import pypdfium2
import pytest

from bakeoff.compare.collections.campaign import compare_folder
from bakeoff.report.blocks.tree import Report, Section, Table, Text
from bakeoff.report.collections.campaign import compose_campaign
from bakeoff.report.layout.brief import brief
from bakeoff.report.layout.chapters import chapters_of
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.repeated_texts import SAME, without_repeats
from bakeoff.report.layout.standard import standard
from bakeoff.report.renderers import pdf
from bakeoff.store.collections.campaign import CampaignFolder
from tests.unit.compare.test_campaign import planned, web

NAMES = ("alder", "birch", "cedar")
SUITES = ("web", "files", "mail")
# Where the text of a page begins and ends, as shares of its height.
TOP, BOTTOM = 0.0875, 0.926


@cache
def campaign(names: tuple[str, ...] = NAMES, suites: tuple[str, ...] = SUITES) -> Report:
    runs = {suite: web(1.3, seed=seed, names=names) for seed, suite in enumerate(suites, 1)}
    folder = CampaignFolder(Path("lab.bakeoff"), planned(*runs).model_copy(update={"contenders": names}), runs, {})
    return compose_campaign(compare_folder(folder), folder, (("Campaign", "lab"), ("Folder", "lab.bakeoff")))


def pages(made: bytes) -> list[str]:
    document = pypdfium2.PdfDocument(io.BytesIO(made))
    return [page.get_textpage().get_text_bounded().replace("\r\n", "\n") for page in document]


def test_chapters_stand_in_the_order_of_a_paper_and_are_numbered() -> None:
    chapters = chapters_of(campaign())
    assert [one.number for one in chapters if not one.is_appendix] == ["1", "2", "3", "4", "5"]
    assert [one.title for one in chapters][:2] == ["Summary", "How it was tested"]
    assert [one.is_suite for one in chapters][2:5] == [True] * 3
    assert [one.number for one in chapters if one.is_appendix] == ["A", "B", "C"]
    whole = {section.id for chapter in chapters for section in chapter.sections}
    assert whole == {section.id for section in campaign().sections}, "each section stands in one chapter"


def test_no_heading_in_the_chapter_of_a_suite_has_its_name() -> None:
    for chapter in chapters_of(campaign()):
        if chapter.is_suite:
            (suite,) = {section.chapter for section in chapter.sections}
            assert not any(suite in section.title for section in chapter.sections)


def test_the_summary_has_at_most_five_sentences_with_ratio_interval_and_conditions() -> None:
    lines = campaign(suites=tuple(f"s{number}" for number in range(9))).summary
    assert len(lines) == 5 and "6 more suites" in lines[-1]
    for line in campaign().summary[1:]:
        assert re.search(r"from \d+ to \d+ clients, \d+ blocks\): birch 1\.\d+× alder \(1\.\d+–1\.\d+\)", line), line


def section(suite: str, *blocks: Text | Table, part: ReportPart = ReportPart.RESULTS, id_: str = "x-1") -> Section:
    return Section("X", blocks, id_, part, suite)


def test_what_explains_is_told_where_it_is_first_needed_and_what_was_found_everywhere() -> None:
    how, none = Text("How to read it.", explains=True), Text("No operation failed.")
    made = without_repeats([section("a", how, none), section("b", how, none, id_="x-2")])
    assert [one.blocks for one in made] == [(how, none), (none,)]


def test_what_is_the_same_of_all_suites_stands_before_them() -> None:
    same, own = Text("The load came from one machine."), [Text("a"), Text("b")]
    made = without_repeats(
        [
            section("a", own[0], same, part=ReportPart.OVERVIEW, id_="overview-1"),
            section("b", own[1], same, part=ReportPart.OVERVIEW, id_="overview-2"),
        ]
    )
    assert [(one.title, one.chapter, one.blocks) for one in made] == [
        (SAME, "", (same,)), ("X", "a", (own[0],)), ("X", "b", (own[1],)),
    ]  # fmt: skip


@pytest.mark.parametrize("names", [("a", "b"), NAMES, tuple(f"server-{letter}" for letter in "abcdefgh")])
@pytest.mark.parametrize("suites", [("web",), SUITES])
def test_the_brief_extent_has_two_pages_whatever_was_measured(names: tuple[str, ...], suites: tuple[str, ...]) -> None:
    report = campaign(names, suites)
    read = pages(pdf.render(brief(report)))
    assert len(read) == 2
    assert report.verdict in read[0] and "Figure 1." in read[1]


def test_the_standard_extent_of_three_suites_has_no_more_than_25_pages_and_none_is_empty() -> None:
    made = pdf.render(standard(campaign()))
    read = pages(made)
    assert len(read) <= 25
    contents = [number for number, text in enumerate(read) if "Contents" in text]
    assert len(contents) == 1
    entries = [line for line in read[contents[0]].splitlines() if re.match(r"(\d|[A-C])\.\d|\d |Appendix", line)]
    assert len(entries) > 20 and "Appendix C" in read[contents[0]], "both levels on one page"
    heads = [re.search(r"^(\d [A-Z].*|Appendix [A-C]: .*)$", text.splitlines()[1], re.M) for text in read[2:]]
    document = pypdfium2.PdfDocument(io.BytesIO(made))
    for number, page in enumerate(document):
        if number < 2 or number == len(read) - 1 or begins_chapter(read[number + 1]):
            continue
        assert used(page) >= 0.4, f"page {number + 1} is nearly empty: {heads[number - 2]}"


def begins_chapter(text: str) -> bool:
    return any(re.match(r"(\d [A-Z]|Appendix [A-C]:)", line) for line in text.splitlines()[1:3])


def used(page: pypdfium2.PdfPage) -> float:
    ink = np.asarray(page.render(scale=1, grayscale=True).to_numpy()).min(axis=1) < 200
    body = np.flatnonzero(ink[int(TOP * len(ink)) : int(BOTTOM * len(ink))])
    return float(body.max() / ((BOTTOM - TOP) * len(ink)))
