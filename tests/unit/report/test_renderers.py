"""One tree of blocks, several forms: each shows what the others show."""

from __future__ import annotations

import io
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from rich.console import Console
from typer import Typer
from typer.testing import CliRunner

from bakeoff.cli.read import report as report_verb
from bakeoff.compare import compare_run
from bakeoff.report import renderers
from bakeoff.report.blocks.tree import (
    Bullets,
    Card,
    Cards,
    Chart,
    Column,
    Listing,
    Report,
    Section,
    SeverityText,
    Table,
    Text,
)
from bakeoff.report.charts.drawing import Drawing
from bakeoff.report.compose import compose
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.renderers.terminal import show
from bakeoff.report.sections import sections_for
from bakeoff.store.records.run_records import RunRecord
from tests.told import headline_of
from tests.unit.compare.synthetic import change, run
from tests.unit.compare.synthetic_cells import matrix_run
from tests.unit.report.shown import shown
from tests.unit.store.builders import stored

app = Typer()
app.command("report")(report_verb.report)
app.command("nothing")(lambda: None)


def report_of(*blocks: object) -> Report:
    """A report of one section."""
    section = Section("One", blocks, "one")  # type: ignore[arg-type]
    return Report("a against b", "", "Equivalent", "good", ("They are level.",), ("good",), (section,), ())


def text_of(report: Report, detail: Detail = Detail.PAGE, width: int = 100, colours: bool = False) -> str:
    text = io.StringIO()
    style = "standard" if colours else None
    show(report, Console(file=text, width=width, force_terminal=colours, color_system=style, highlight=False), detail)  # type: ignore[arg-type]
    return text.getvalue()


def undrawable() -> dict[str, object]:
    raise AssertionError("a terminal draws nothing")


def test_every_form_has_a_module_with_what_a_renderer_needs() -> None:
    folder = resources.files("bakeoff.report.renderers")
    modules = {file.name.removesuffix(".py") for file in folder.iterdir() if file.name.endswith(".py")}
    assert modules - {"__init__"} == {form.module for form in renderers.FORMS.values()}
    for name in renderers.FORMS:
        made = renderers.renderer(name)
        assert callable(made.prepare) and callable(made.render) and callable(made.sidecar_files)
    assert len(renderers.endings()) == len(set(renderers.endings()))
    assert [renderers.form_of(Path(name)) for name in ("a.HTML", "b.txt", "c.pdf", "d.md", "e.odt", "f")] == [
        "html",
        "terminal",
        "pdf",
        "markdown",
        None,
        None,
    ]


def test_every_kind_of_block_has_a_form_in_plain_text() -> None:
    rows = (("x", SeverityText("1.20×", "good")),)
    table = Table("Figures", (Column("what", numeric=False), Column("ratio", group="b")), rows, "As measured.")
    chart = Chart("chart-x", "Drawn", "", Drawing(undrawable), table)
    other = Chart("chart-y", "Drawn", "", Drawing(undrawable), table, plain=Table("Instead", table.columns, ()))
    card = Card("nginx", "30 requests/s", "peak", (("Shape", "flat"),), 0)
    blocks = (
        Text("Plain."),
        Bullets(("First.", "Second.")),
        table,
        chart,
        other,
        Cards((card,)),
        Listing("Plan", "{}"),
    )
    text = text_of(report_of(*blocks, Text("Beware.", "warning", "Do so.")))
    for part in ("They are level.", "Plain.", "Second.", "b ratio", "1.20×", "As measured.", "Instead", "Shape: flat"):
        assert part in text, part
    assert text.count("Figures") == 2, "a chart is the table of its numbers, or what stands for it"
    assert text.rstrip().endswith("! Beware. Do so."), "what to beware of comes last"


def test_the_depth_decides_what_is_shown_and_tones_what_it_looks_like() -> None:
    marks = {"summary": Detail.SUMMARY, "comparison": Detail.COMPARISON, "page": Detail.PAGE}
    report = report_of(*(Text(f"the {name}", detail=detail) for name, detail in marks.items()))
    for name, detail in marks.items():
        seen = {other for other in marks if f"the {other}" in text_of(report, detail)}
        assert seen == {other for other in marks if marks[other] <= marks[name]}
    table = Table("T", (Column("a"), Column("b")), (("1", SeverityText("2", "bad")),))
    assert "\x1b[31m2" in text_of(report_of(table), colours=True)
    assert "\x1b" not in text_of(report_of(table))


def test_more_warnings_than_a_screen_takes_are_counted() -> None:
    report = report_of(*(Text(f"warning {n}", "warning", detail=Detail.SUMMARY) for n in range(15)))
    text = text_of(report, Detail.SUMMARY)
    assert "! warning 11" in text and "warning 12" not in text and "! 3 more warnings: see the report." in text
    assert "warning 14" in text_of(report)


@pytest.mark.parametrize("record", [run(), matrix_run(lambda *_: 1.2, tests=("read",))], ids=["curves", "cells"])
def test_no_block_is_shown_above_the_depth_of_its_section(record: RunRecord) -> None:
    """Else it would depend on who asks whether it is there: sections that are too deep are not made at all."""
    context = Context(record, compare_run(record))
    for section in sections_for(context):
        made = section(context)
        for block in made.blocks if made else ():
            assert block.detail >= section.detail, f"{section.id}: {block}"


def test_what_a_terminal_shows_is_in_the_page() -> None:
    """Every sentence and every table but those that stand for a drawing."""
    record = change(run(), "apache", 8, (1,), state="failed", reason="connection refused")
    comparison = compare_run(record)
    whole, short = compose(record, comparison), compose(record, comparison, detail=Detail.COMPARISON)
    assert len(short.sections) < len(whole.sections)
    page = set(map(repr, whole.blocks(Detail.PAGE)))
    missing = [block for block in short.blocks(Detail.COMPARISON) if repr(block) not in page]
    assert [block for block in missing if not isinstance(block, Chart)] == []
    assert {block.id for block in missing if isinstance(block, Chart)} <= {chart.id for chart in whole.charts()}


def test_a_report_in_plain_text_has_every_section(tmp_path: Path) -> None:
    record = run()
    path, target = stored(record, tmp_path / "demo.bakeoff"), tmp_path / "report.txt"
    result = CliRunner().invoke(app, ["report", str(path), "-o", str(target)])
    assert result.exit_code == 0, result.output
    text = target.read_text(encoding="utf-8")
    for section in compose(record, compare_run(record)).sections:
        assert f"\n{section.title}\n=" in text, section.title
    assert text.startswith(headline_of(compare_run(record))[0]) and "\x1b" not in text


def test_a_terminal_loads_no_drawing_library(tmp_path: Path) -> None:
    path = stored(run(), tmp_path / "demo.bakeoff")
    code = (
        "import sys\nfrom bakeoff.cli.read.compare import compare\nfrom pathlib import Path\n"
        f"compare([Path({str(path)!r})], None, None, False)\n"
        "print([name for name in ('altair.vegalite', 'vl_convert', 'jinja2') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]"), done.stderr


@pytest.mark.parametrize("detail", list(Detail))
def test_every_depth_begins_with_the_result(detail: Detail) -> None:
    record = run()
    assert shown(record, detail).splitlines()[0] == headline_of(compare_run(record))[0]
