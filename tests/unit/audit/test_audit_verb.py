"""`bakeoff audit`: exit codes, refusals, JSON, the page, and the verb on a run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from bakeoff.cli.read.audit import register
from tests.stored_runs.files import unpack

CLEAN = """clients,requests/s,mean [ms],duration [s],operations
1,198.1,5.05,60,11886
2,390.9,5.12,60,23454
4,751.1,5.33,60,45066
8,1337.2,5.98,60,80232
"""


def audited(*words: object) -> Result:
    app = typer.Typer()
    register(app)
    return CliRunner().invoke(app, [str(word) for word in words])


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_what_is_consistent_ends_with_0_and_what_is_impossible_with_1(tmp_path: Path) -> None:
    clean = audited(written(tmp_path, CLEAN))
    assert clean.exit_code == 0 and "all consistent within rounding" in clean.output
    damaged = audited(written(tmp_path, CLEAN.replace("45066", "4506")))
    assert damaged.exit_code == 1
    assert "line 4, 4 clients, operations: 4506\n" in damaged.output and "a digit is lost" in damaged.output


def test_json_has_place_reason_and_repair(tmp_path: Path) -> None:
    path = written(tmp_path, CLEAN.replace("45066", "45660"))
    document = json.loads(audited(path, "--json").output)
    (finding,) = document["findings"]
    assert finding["place"]["line"] == 4 and finding["place"]["text"] == "45660"
    assert finding["grade"] == "impossible" and finding["data"]["law"] == "operations"
    assert document["impossible"] == 1 and document["comparisons"] > 10


def test_the_page_marks_the_cell(tmp_path: Path) -> None:
    path, page = written(tmp_path, CLEAN.replace("45066", "45660")), tmp_path / "audit.html"
    assert audited(path, "-o", page).exit_code == 1
    html = page.read_text()
    assert re.search(r'<td class="bad"[^>]*>(<span>)?45660 \[1\]', html) and ">[1]<" in html, (
        "the cell names its finding"
    )
    assert "operations = rate × duration" in html and "comparison, the plan" not in html
    assert audited(path, "-o", page).exit_code != 0 and "exists already" in str(audited(path, "-o", page).exception)


def test_a_calculated_row_is_on_the_page_and_marked(tmp_path: Path) -> None:
    text = "clients,one (MB/s),two (MB/s)\n1,12.5,11.0\n8,80.2,70.5\n64,238.6,190.2\nTotal,331.3,277.1\n"
    page = tmp_path / "audit.md"
    assert audited(written(tmp_path, text), "-o", page).exit_code == 1
    assert "| 5 | two | Total | – | 277.1 \\[1\\] |" in page.read_text() and "as 271.7" in page.read_text()


def test_the_sentence_counts_what_holds_and_what_does_not(tmp_path: Path) -> None:
    damaged = audited(written(tmp_path, CLEAN.replace("45066", "4506"))).output
    # Four rows by each of two laws and against each other, and three columns against each other.
    assert "1 file with 20 numbers, 15 comparisons: 14 consistent, 0 off and 1 impossible." in damaged


def test_claims_are_calculated_again(tmp_path: Path) -> None:
    table = written(tmp_path, "clients,one requests/s,two requests/s\n1,110.0,100.0\n8,900.0,600.0\n")
    text = written(
        tmp_path, "one is 50 % faster than two at 8 clients. two is 50 % slower at 8 clients.\n", "paper.txt"
    )
    found = audited(table, "--text", text)
    assert "consistent" in found.output and "another base" in found.output and found.exit_code == 0
    claims = written(tmp_path, "claim\none is 80 % faster than two at 8 clients\n", "claims.csv")
    assert audited(table, "--claims", claims).exit_code == 1


def test_a_run_is_held_to_the_same_and_to_its_own_audits(tmp_path: Path) -> None:
    (run,) = unpack("web-static", tmp_path)[:1]
    found = audited(run, "--json")
    checks = {check["check"]: check["comparisons"] for check in json.loads(found.output)["checks"]}
    assert found.exit_code == 0 and checks["trials: Counts"] > 0 and checks["operations"] > 0


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--link-speed", "fast"), "--link-speed"),
        (("--bus-speed", "9"), None),
        (("--memory-speed", "x"), "--memory-speed"),
        (("--memory", "much"), "--memory"),
        (("--better", "more"), "higher or lower"),
        (("--decimal", ";"), "point or comma"),
        (("--as", "psychic"), "no format"),
        (("--claims", "/does/not/exist"), "cannot be read"),
        (("-o", "page.doc"), "does not end in"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path, words: tuple[str, ...], part: str | None) -> None:
    found = audited(written(tmp_path, CLEAN), *words)
    if part is None:
        assert found.exit_code in (0, 1)
    else:
        assert found.exit_code and part in str(found.exception)


def test_a_text_without_claims_is_refused(tmp_path: Path) -> None:
    found = audited(written(tmp_path, CLEAN), "--text", written(tmp_path, "It rained.\n", "paper.txt"))
    assert "no sentence has a percentage" in str(found.exception)


def test_files_audited_in_several_processes_are_as_those_audited_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies stand in two files, which two processes read; what a file itself contradicts is found, too."""
    texts = [CLEAN, CLEAN.replace("45066", "4506"), "clients,a (MB/s)\n1,10.5521\n2,20.6632\n3,30.7713\n", CLEAN]
    files = [written(tmp_path, text, f"{number}.csv") for number, text in enumerate(texts)]
    one = audited(*files, "--json")
    monkeypatch.setattr("bakeoff.cli.read.audit.LARGE", 0)
    monkeypatch.setattr("bakeoff.core.system.forks.os.sched_getaffinity", lambda _: {0, 1})
    several = audited(*files, "--json")
    assert json.loads(one.output) == json.loads(several.output) and several.exit_code == 1
    assert {finding["check"] for finding in json.loads(several.output)["findings"]} >= {"copies", "operations"}
    files.insert(2, written(tmp_path, "clients,a (MB/s)\n1,x\n2,3\n", "bad.csv"))
    assert "bad.csv: line 2" in str(audited(*files).exception)
