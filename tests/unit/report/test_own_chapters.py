"""An author lays out chapters of text between named figures and tables; unknown names are refused with the known."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.compare import compare_run
from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.read import paper_of
from bakeoff.report.blocks.tree import Chart, Report, Text
from bakeoff.report.compose import compose
from bakeoff.report.embed.report_options import Extent
from bakeoff.report.layout.chapters import chapters_of
from bakeoff.report.layout.standard import standard
from bakeoff.report.paper.authored import with_paper
from bakeoff.report.paper.outline import outline
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored

WORDS = """Before the curve {ratio contender=apache}.

{figure curve=rate caption="How many requests"}

## Where the time is
{text name=response}
{figure name=p99}
{table name=peak-and-saturation}
"""


NOTHING: dict[str, Any] = {}


def laid(text: str = WORDS, extent: Extent = "standard", more: dict[str, Any] = NOTHING, **paper: Any) -> Report:
    record = run()
    comparison = compare_run(record)
    tables: dict[str, Any] = {"paper": paper, "chapter": [{"title": "Web", "text": text}], **more}
    return with_paper(compose(record, comparison), paper_of(tables), {record.suite: comparison}, extent=extent)


def test_prose_stands_beside_its_figures_in_the_order_of_the_author() -> None:
    report = laid()
    first, second = next(one for one in chapters_of(report) if one.title == "Web").sections
    assert [type(block).__name__ for block in first.blocks] == ["Prose", "Chart"]
    assert first.blocks[1].title == "How many requests" == first.blocks[1].spec["title"]["text"]  # type: ignore[union-attr]
    assert second.title == "Where the time is"
    assert [type(block).__name__ for block in second.blocks] == ["Text", "Chart", "Table"]
    assert report.embedded["inserted"][0]["asked"] == "ratio contender=apache"
    assert sum(chart.id == "chart-rate" for chart in report.charts()) == 1, "what is placed is nowhere else"


def test_what_no_chapter_has_is_in_the_appendix_or_left_out() -> None:
    charts = {kind: {chart.id for chart in laid(appendix=kind).charts()} for kind in ("all", "values", "none")}
    assert charts["values"] == charts["none"] == {"chart-rate", "chart-p99"} < charts["all"]
    titles = {kind: [one.title for one in chapters_of(laid(appendix=kind))] for kind in ("all", "values", "none")}
    assert "More figures and tables" in titles["all"] and "More figures and tables" not in titles["values"]
    assert "Configuration and disclosure" in titles["values"] and titles["none"] == ["Web"]
    assert laid(appendix="values").with_values and not laid(appendix="none").with_values


def test_warnings_cannot_be_left_out() -> None:
    record = run()
    comparison = compare_run(record)
    whole = compose(record, comparison)
    warning = Text("The servers were not asked alike.", "bad", detail=whole.sections[0].blocks[0].detail.SUMMARY)
    sections = tuple(
        replace(one, blocks=(warning, *one.blocks)) if one.id == "result" else one for one in whole.sections
    )
    tables: dict[str, Any] = {"paper": {"appendix": "none"}, "chapter": [{"title": "Web", "text": "Nothing else."}]}
    made = with_paper(replace(whole, sections=sections), paper_of(tables), {record.suite: comparison})
    assert warning.text in [getattr(block, "text", "") for one in made.sections for block in one.blocks]
    assert made.headline == whole.headline and made.caveat == whole.caveat


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{figure curve=rat}", "no figure 'rat': the names are rate, throughput"),
        ("{table name=x}", "no table 'x': the names are "),
        ("{section name=x}", "no section 'x': the names are "),
        ("{figure}", "names nothing: write {figure name=NAME}"),
        ("{figure rate}", "has 'rate' where KEY=VALUE is wanted"),
        ("{figure curve=rate colour=red}", "unknown key 'colour'"),
        ('{figure curve="rate}', "quotation mark that is not closed"),
        ("{figure curve=rate}\n{figure curve=rate}", "stands in a chapter already"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(text: str, why: str) -> None:
    with pytest.raises(PlanError, match=r"\[\[chapter\]\] 'Web'") as caught:
        laid(text)
    assert why in str(caught.value)


def test_the_outline_is_the_standard_edition_when_nothing_is_edited() -> None:
    record = run()
    comparison = compare_run(record)
    whole = compose(record, comparison)
    tables = tomllib.loads(outline(whole))
    made = with_paper(whole, paper_of(tables), {record.suite: comparison}, extent="standard")
    plain = standard(whole)
    body = [one for one in chapters_of(plain) if not one.is_appendix]
    assert [one.heading for one in chapters_of(made) if not one.is_appendix] == [one.heading for one in body]
    ids = [
        [block.id for section in one.sections for block in section.blocks if isinstance(block, Chart)] for one in body
    ]
    again = chapters_of(made)[: len(body)]
    found = [[block.id for s in one.sections for block in s.blocks if isinstance(block, Chart)] for one in again]
    assert found == ids and any(ids)


def test_a_paper_so_cut_is_verified(tmp_path: Path) -> None:
    path, paper = stored(run(), tmp_path / "demo.bakeoff"), tmp_path / "paper.toml"
    done = CliRunner().invoke(app, ["report", str(path), "--outline", "-o", str(paper)])
    assert done.exit_code == 0, done.output
    cut = paper.read_text().replace('appendix = "all"', 'appendix = "values"').replace("{figure curve=throughput}", "")
    paper.write_text(cut.replace("## Result", "Six of sixty.\n\n## Result"))
    for name in ("cut.html", "cut.pdf"):
        target = tmp_path / name
        done = CliRunner().invoke(app, ["report", str(path), "--paper", str(paper), "-o", str(target)])
        assert done.exit_code == 0, done.output
        done = CliRunner().invoke(app, ["verify", str(target), str(path)])
        assert done.exit_code == 0, done.output
