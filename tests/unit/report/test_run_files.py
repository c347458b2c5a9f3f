"""Several run files in every form of a report, on the command line and in Python: from the files to the sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import bakeoff
from bakeoff.cli.app import app
from bakeoff.core.errors import BakeoffError
from bakeoff.report.narrate.json_schema import json_schema
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic import Server, change, run
from tests.unit.store.builders import stored

A, B = Server("qube", 30_000.0, 0.12), Server("raq", 40_000.0, 0.1)
NOTE = "2026-11-21: qube failed at 4 clients, new driver, run again"


def day(seed: int, *servers: Server) -> RunRecord:
    record = run(servers, (1, 4), 6, seed=seed, window_s=2.0)
    contenders = tuple(replace(one, address=f"http://192.0.2.{len(one.name)}") for one in record.contenders)
    return replace(record, created_at=f"2026-11-2{seed}T10:00:00.000+00:00", contenders=contenders)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    stored(day(1, A, B), tmp_path / "monday.bakeoff")
    stored(day(2, A, B), tmp_path / "tuesday.bakeoff")
    stored(day(3, A), tmp_path / "alone.bakeoff")
    broken = change(day(4, A, B), "qube", 4, None, state="failed", reason="crashed")
    stored(broken, tmp_path / "broken.bakeoff")
    return tmp_path


def run_verb(*words: str) -> tuple[int, str, str]:
    """Exit code, output and the sentence of an error of a command line."""
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(words))
    if isinstance(done.exception, BakeoffError):
        return 2, done.stdout, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def test_every_form_has_the_files_and_is_verified(lab: Path) -> None:
    pair = ("broken.bakeoff", "monday.bakeoff")
    flags = ("--note", NOTE, "--failed-run", "broken.bakeoff")
    for form in ("html", "md", "txt", "pdf"):
        code, _, errors = run_verb("report", *pair, *flags, *(["--brief"] if form == "pdf" else []), "-o", f"r.{form}")
        assert code == 0, errors
        embedded = flags if form in ("md", "txt") else ()
        code, out, _ = run_verb("verify", f"r.{form}", *pair, *embedded)
        assert code == 0 and "says what" in out, (form, out)
        if form != "pdf":
            text = (lab / f"r.{form}").read_text()
            assert "The failed run and its repetition" in text and "new driver, run again" in text
            assert "If the failed run counted, too" in text and "failed: crashed" in text
    code, out, _ = run_verb("verify", "r.html", "broken.bakeoff", "tuesday.bakeoff")
    assert code == 1 and "is not what" in out


def test_compare_tells_it_and_its_json_is_of_the_schema(lab: Path) -> None:
    code, out, _ = run_verb("compare", "monday.bakeoff", "tuesday.bakeoff")
    assert code == 0 and "count together" in out and "What differs between the files" not in out
    for files in (("monday.bakeoff", "tuesday.bakeoff"), ("monday.bakeoff", "alone.bakeoff")):
        code, out, _ = run_verb("compare", *files, "--json", "--note", NOTE)
        made = json.loads(out)
        Draft202012Validator(json_schema()).validate(made)
        assert [one["label"] for one in made["joined"]["files"]] == ["A", "B"]
        assert made["notes"] == [{"date": "2026-11-21", "text": NOTE.partition(": ")[2]}]


def test_in_python_several_files_are_one_run(lab: Path) -> None:
    both = bakeoff.open(["monday.bakeoff", lab / "tuesday.bakeoff"])
    found = both.compare()
    assert found.joined is not None and found.run.blocks_measured == 12 and found.winner == "raq"
    assert len(both.trials) == 48 and "rate" in both.charts
    again = bakeoff.open(["broken.bakeoff", "monday.bakeoff"], failed=["A"], notes=[("2026-11-21", "a new driver")])
    assert len(again.compare().repeated) == 6


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("monday.bakeoff", "monday.bakeoff"), "have trials in common (24), which would count twice"),
        (("monday.bakeoff", "none.bakeoff"), "none.bakeoff"),
        (("monday.bakeoff", "torn.bakeoff"), "torn.bakeoff"),
        (("monday.bakeoff", "lab.bakeoff"), "lab.bakeoff is a campaign: name it alone"),
        (("lab.bakeoff", "--note", NOTE), "lab.bakeoff is a campaign, whose notes stand in a paper"),
        (("monday.bakeoff", "tuesday.bakeoff", "--note", "qube failed"), "has no day: write it as '2026-11-21:"),
        (("monday.bakeoff", "tuesday.bakeoff", "--note", "2026-13-41: qube failed"), "has no day"),
        (("broken.bakeoff", "monday.bakeoff", "--failed-run", "A"), "say when and why, as --note"),
        (("monday.bakeoff", "--failed-run", "monday.bakeoff"), "name it, too"),
    ],
)
def test_bad_input_is_one_sentence(
    lab: Path,
    words: tuple[str, ...],
    sentence: str,
) -> None:
    whole = (lab / "monday.bakeoff").read_bytes()
    (lab / "torn.bakeoff").write_bytes(whole[: len(whole) // 2])
    (lab / "lab.bakeoff").mkdir()
    (lab / "lab.bakeoff" / "campaign.json").write_text("{}")
    for verb in (("compare",), ("report", "-o", "x.html")):
        code, out, errors = run_verb(*verb, *words)
        assert (code, out) == (2, "") and sentence in errors and "\n" not in errors, errors
    assert not (lab / "x.html").exists()


def test_a_note_holds_no_secret(lab: Path) -> None:
    run_verb("report", "monday.bakeoff", "--note", "2026-11-21: password=geheim", "-o", "s.html")
    text = (lab / "s.html").read_text()
    assert "geheim" not in text and "2026-11-21" in text
