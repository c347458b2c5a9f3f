"""The report as Markdown: the same tree, and nothing of it is read as markup."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from markdown_it import MarkdownIt
from typer import Typer
from typer.testing import CliRunner

from bakeoff.cli.read import report as report_verb
from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Bullets, Chart, Column, Listing, Table, Text
from bakeoff.report.charts.drawing import Drawing
from bakeoff.report.compose import compose
from bakeoff.report.layout.brief import brief
from bakeoff.report.layout.chapters import chapters_of
from bakeoff.report.renderers import markdown
from tests.unit.compare.synthetic import run
from tests.unit.report.test_renderers import report_of
from tests.unit.store.builders import stored

HOSTILE = "a|b *c* [d](http://x) <script>e</script> @everyone #1 ![f](g) `h` \\ $i$ ~~j~~"
COMMENT = 65_536  # signs that a comment on GitHub may have
app = Typer()
app.command("report")(report_verb.report)
app.command("nothing")(lambda: None)


def page(text: str) -> str:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


def test_it_says_what_the_page_says_and_its_figures_are_beside_it(tmp_path: Path) -> None:
    record = run()
    path, target = stored(record, tmp_path / "demo.bakeoff"), tmp_path / "demo.md"
    done = CliRunner().invoke(app, ["report", str(path), "-o", str(target)])
    assert done.exit_code == 0, done.output
    text = target.read_text()
    report = compose(record, compare_run(record))
    chapters = chapters_of(report)
    assert [chapter.title for chapter in chapters][:2] == ["How it was tested", "Results"]
    for chapter in chapters:
        assert f"\n## {chapter.heading}\n" in text
        assert all(f"\n### {section.title}\n" in text for section in chapter.sections if section.title)
    assert {section.id for chapter in chapters for section in chapter.sections} == {one.id for one in report.sections}
    for chart in report.charts():
        assert f"(demo.figures/{chart.id}.svg)" in text
        assert (tmp_path / "demo.figures" / f"{chart.id}.svg").read_text().startswith("<svg ")
    assert page(text).count("<table>") > len(report.charts())


def test_names_are_no_markup_and_call_nobody() -> None:
    table = Table(HOSTILE, (Column(HOSTILE), Column("n", group=HOSTILE)), ((HOSTILE, "1"),), HOSTILE)
    text = markdown.render(report_of(Text(HOSTILE), Bullets((HOSTILE,)), table)).decode()
    made = page(text)
    assert "@" not in text and "<script" not in made and "<a " not in made and "<img" not in made
    assert "<em>" not in made and "<s>" not in made and made.count("<tr>") == 2
    assert made.count("a|b") == 7, "each is there, as it was"


def test_a_listing_ends_where_it_ends() -> None:
    text = markdown.render(report_of(Listing("Plan", "```\n# no title\n````"))).decode()
    assert "<h1>no title" not in page(text) and "# no title" in page(text)


def test_the_short_edition_fits_into_a_comment() -> None:
    record = run()
    report = brief(compose(record, compare_run(record)))
    text = markdown.render(report).decode()
    assert len(text) < COMMENT / 4 and report.headline[0].split()[0] in text


def test_the_short_edition_leads_no_list_on_that_it_leaves_out() -> None:
    """Seen: "Assumed values: …" and no value."""
    record = run()
    record = replace(record, plan={**record.plan, "assumed": ["Shares of the classes: 50 %."]})
    report = compose(record, compare_run(record))
    whole, short = (markdown.render(one).decode() for one in (report, brief(report)))
    assert "Assumed values" in whole and "Shares of the classes" in whole
    assert "Assumed values" not in short and "Shares of the classes" not in short


def test_no_name_of_a_run_file_leads_a_figure_elsewhere() -> None:
    chart = Chart("chart-factors-a/../../../b\0", "t", "d", Drawing(dict), Table("", (), ()))
    assert chart.id == "chart-factors-a----------b-" == replace(chart, title="other").id
