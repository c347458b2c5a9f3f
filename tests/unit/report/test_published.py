"""A paper holds tables of others to their arithmetic: cells that cannot be are marked, explained and verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.audited import MOST_BYTES
from bakeoff.disclosure.paper.read import paper_of, read_paper
from bakeoff.report.blocks.tree import Report, Section, SeverityText, Table, Text
from bakeoff.report.layout.chapters import PUBLISHED, chapters_of
from bakeoff.report.paper.display_names import with_names
from bakeoff.report.paper.published import published
from tests.unit.compare.synthetic import run
from tests.unit.importers.test_table import workbook
from tests.unit.report.test_own_chapters import laid
from tests.unit.report.test_paper import HOSTILE, letters, paper_report, read_of
from tests.unit.store.builders import stored

CLEAN = """server,clients,requests/s,mean [ms],duration [s],operations
apache,1,198.1,5.05,60,11886
apache,2,390.9,5.12,60,23454
apache,4,751.1,5.33,60,45066
apache,8,1337.2,5.98,60,80232
"""
SLIP = CLEAN.replace("45066", "54066")
SHEET = """<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>
<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>198.1</v></c></row>"""
AUDIT = '[audit]\nfiles = ["t.csv"]\n'


def paper_with(folder: Path, table: str, more: str = "") -> Report:
    (folder / "t.csv").write_text(table)
    return paper_report(folder, AUDIT + more)


def section_of(report: Report) -> Section:
    return next(section for section in report.sections if section.id == "published")


def tables_of(report: Report) -> dict[str, Table]:
    return {block.title: block for block in section_of(report).blocks if isinstance(block, Table)}


@pytest.mark.parametrize("form", ["html", "pdf", "markdown", "terminal"])
def test_a_slip_is_marked_in_its_cell_and_explained_in_every_form(form: str, tmp_path: Path) -> None:
    text = letters(read_of(form, paper_with(tmp_path, SLIP)))
    parts = [
        "Published results, audited",
        "15 comparisons: 14 consistent, 0 off and 1 impossible",
        "t.csv, line 4, apache, 4 clients, operations",
        "It fits as 45066: two digits are exchanged",
        "54066 [1]",
        "Certain: no value of the printed digits fits",
    ]
    for part in parts:
        assert letters(part) in text, part


def test_the_suspected_cell_alone_is_marked_with_the_number_of_its_finding(tmp_path: Path) -> None:
    tables = tables_of(paper_with(tmp_path, SLIP))
    (finding,) = tables["Findings"].rows
    assert finding[0] == "[1]" and finding[2] == "54066" and finding[-1] == "certain"
    assert "45,063 and 45,069" in finding[4] and finding[3].severity == "bad"  # type: ignore[attr-defined]
    printed = next(table for title, table in tables.items() if title.startswith("t.csv, as it is printed"))
    marked = [cell for row in printed.rows for cell in row if isinstance(cell, SeverityText)]
    assert marked == ["54066 [1]"] and marked[0].severity == "bad" and len(printed.rows) == 4


def test_a_clean_table_is_all_consistent_and_nothing_is_marked(tmp_path: Path) -> None:
    report = paper_with(tmp_path, CLEAN)
    result = section_of(report).blocks[0]
    assert isinstance(result, Text) and result.severity == "good"
    assert result.text == "1 file with 20 numbers, 15 comparisons: all consistent within rounding."
    assert "Findings" not in tables_of(report)
    assert not [c for t in tables_of(report).values() for row in t.rows for c in row if isinstance(c, SeverityText)]


def test_a_paper_that_names_no_files_has_no_such_chapter(tmp_path: Path) -> None:
    report = paper_report(tmp_path, '[paper]\nsummary = "Short."\n')
    assert all(chapter.title != PUBLISHED.title for chapter in chapters_of(report))


def test_claims_of_a_file_and_of_a_text_are_calculated_again(tmp_path: Path) -> None:
    other = CLEAN.partition("\n")[2].replace("apache", "nginx")
    two = CLEAN + other.replace("1337.2,5.98,60,80232", "668.6,11.9,60,40116")
    (tmp_path / "claims.csv").write_text("claim\napache is 100 % faster than nginx at 8 clients\n")
    (tmp_path / "text.txt").write_text("At 8 clients apache has a rate that is 70 % higher than that of nginx.\n")
    tables = tables_of(paper_with(tmp_path, two, 'claims = "claims.csv"\ntext = "text.txt"\n'))
    assert [row[:2] for row in tables["Claims"].rows] == [("claims.csv, line 2", "consistent")]
    assert ("text.txt, line 1, claim", "70 %", "impossible") in [row[1:4] for row in tables["Findings"].rows]


@pytest.mark.parametrize("form", ["html", "pdf", "markdown", "terminal"])
def test_hostile_text_of_a_file_is_shown_as_it_was_typed(form: str, tmp_path: Path) -> None:
    text = read_of(form, paper_with(tmp_path, SLIP.replace("apache", HOSTILE)))
    assert "\x1b" not in text
    if form == "html":
        body = text.partition("<script type")[0]
        assert "<script>alert" not in text and "<img" not in text and "&lt;script&gt;alert(1)" in body
    elif form == "markdown":
        shown = text.partition("<!-- ")[0]
        assert "<script" not in shown and "<img" not in shown and "@everyone" not in shown
    assert "scriptalert1" in letters(text).replace("ltscriptgt", "script")


@pytest.mark.parametrize(
    ("audit", "why"),
    [
        (
            'files = ["absent.csv"]',
            "absent.csv: it cannot be read (No such file or directory): check",
        ),
        ("files = []", "[audit] files"),
        ('files = ["t.csv"]\nclaims = "none.csv"', "none.csv: it cannot be read"),
        ('files = ["t.csv"]\nlink_speed = "fast"', "[audit]: link_speed: "),
        ('files = ["t.csv"]\nunits = "MB/s"', "did you mean 'unit'?"),
        ('files = ["run.bakeoff"]', "run.bakeoff is a run file"),
        ('files = ["empty.csv"]', "empty.csv: it is empty"),
        ('files = ["large.csv"]', "files hold more than 1 MiB"),
        ('files = ["t.csv"]\ntext = "t.csv"', "no sentence has a percentage that compares"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_a_sentence(audit: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CLEAN)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "large.csv").write_text("1," * MOST_BYTES)
    with pytest.raises(PlanError) as refused:
        paper_report(tmp_path, f"[audit]\n{audit}\n")
    assert why in str(refused.value) and "paper.toml [audit]" in str(refused.value) and "\n" not in str(refused.value)


def test_a_spreadsheet_goes_with_the_report_as_well(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(workbook(SHEET, ("clients", "apache (requests/s)")))
    (tmp_path / "paper.toml").write_text('[audit]\nfiles = ["t.xlsx"]\n')
    paper = read_paper(tmp_path / "paper.toml")
    (tmp_path / "t.xlsx").unlink()
    assert published(paper_of(paper.tables)) == published(paper) != []
    damaged: dict[str, Any] = {"audit": {**paper.tables["audit"], "embedded": [{"name": "t.xlsx", "packed": "?"}]}}
    with pytest.raises(PlanError, match="does not hold it whole"):
        published(paper_of(damaged))
    with pytest.raises(PlanError, match="the report does not hold it"):
        published(paper_of({"audit": {"files": ["t.xlsx"]}}))


def test_it_stands_once_whatever_chapters_its_author_made(tmp_path: Path) -> None:
    held = [{"name": "t.csv", "text": SLIP}]
    audit = {"audit": {"files": ["t.csv"], "embedded": held}}
    titles = [one.title for one in chapters_of(laid(more=audit, appendix="none"))]
    assert titles == ["Web", PUBLISHED.title], "named files are told of, like warnings"
    placed = laid("{section name=published}", more=audit, appendix="none")
    assert [one.title for one in chapters_of(placed)] == ["Web"]
    assert sum(t.title == "Findings" for s in placed.sections for t in s.blocks if isinstance(t, Table)) == 1


def test_a_contender_of_the_file_keeps_its_name(tmp_path: Path) -> None:
    report = paper_with(tmp_path, SLIP, '[contenders.apache]\ntitle = "Cobalt Qube 2"\n')
    named = with_names(report, read_paper(tmp_path / "paper.toml"))
    assert "Cobalt" in str(named.headline) and "Cobalt" not in str(section_of(named))


def does(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, f"{done.output}{done.exception or ''}"


@pytest.mark.parametrize("form", ["html", "md"])
def test_it_is_verified_without_its_files_and_what_is_altered_is_found(form: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(SLIP)
    path, paper, made = (
        stored(run(blocks=2), tmp_path / "demo.bakeoff"),
        tmp_path / "paper.toml",
        tmp_path / f"r.{form}",
    )
    paper.write_text(AUDIT)
    assert does("report", path, "--paper", paper, "--brief", "-o", made)[0] == 0
    (tmp_path / "t.csv").unlink()
    runs = [path] if form == "md" else []
    code, output = does("verify", made, *runs)
    assert code == 0 and ("audited files" in output) == (form == "html"), output
    made.write_text(made.read_text().replace("14 consistent", "15 consistent"))
    code, output = does("verify", made, *runs)
    assert code == 1 and "“15”, " in output


def test_a_report_of_another_file_is_found(tmp_path: Path) -> None:
    """What it holds is the author's word; the file itself shows whether it is that."""
    (tmp_path / "t.csv").write_text(SLIP)
    path, paper, made = stored(run(blocks=2), tmp_path / "demo.bakeoff"), tmp_path / "paper.toml", tmp_path / "r.md"
    paper.write_text(AUDIT)
    assert does("report", path, "--paper", paper, "--brief", "-o", made)[0] == 0
    assert does("verify", made, path, "--paper", paper)[0] == 0
    (tmp_path / "t.csv").write_text(CLEAN)
    assert does("verify", made, path, "--paper", paper)[0] == 1
