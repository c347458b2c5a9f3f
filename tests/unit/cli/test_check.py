"""`bakeoff check` at the command line: exit codes, files, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.cli.read import check as verb
from bakeoff.core.errors import PlanError
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import JudgedRecord, TermRecord
from tests.unit.compare.synthetic import Server, change, run
from tests.unit.store.builders import stored


@pytest.mark.parametrize(
    ("ratio", "state", "code", "start"),
    [
        (1.0, "ok", 0, "pass: Requests/s: branch is at "),
        (0.9, "ok", 1, "worse: Requests/s: branch is at 0.90"),
        (0.97, "ok", 3, "inconclusive: Requests/s: branch is at 0.97"),
        (1.2, "failed", 4, "void: branch and main: branch failed 1 of 18 trials"),
    ],
)
def test_exit_codes(
    ratio: float, state: str, code: int, start: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = run((Server("main", 4e4, 0.1), Server("branch", 4e4 * ratio, 0.1 / ratio)), seed=3)
    monkeypatch.setattr(verb, "read_run", lambda path: change(record, "branch", 4, (2,), state=state))
    xml, text = tmp_path / "check.xml", tmp_path / "check.md"
    words = ["check", "x.bakeoff", "--max-regression", "3%", "--junit", str(xml), "--markdown", str(text)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == code
    assert done.output.startswith(start)
    assert xml.read_bytes().startswith(b"<?xml")
    assert text.read_text().startswith("# main against branch")
    done = CliRunner().invoke(app, ["check", "x.bakeoff", "--max-regression", "3%", "--github"])
    assert done.exit_code == code
    assert done.output.startswith("::")


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    record = run((Server("main", 4e4, 0.1), Server("branch", 4e4, 0.1)), blocks=2)
    return stored(change(record, "branch", 4, (2,), state="failed"), tmp_path / "run.bakeoff")


def test_a_run_file_is_read(run_file: Path) -> None:
    done = CliRunner().invoke(app, ["check", str(run_file)])
    assert done.exit_code == 4


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--max-regression", "lots"], "--max-regression: 'lots' is not a share"),
        (["--also", "p99=much"], "--also p99: 'much' is not a share"),
        (["--also", "p99,p99=3%"], "--also: p99 is named twice"),
        (["--also", "p99,,mean"], "--also: an endpoint has no name"),
        (["--also", "p98"], "no endpoint 'p98'"),
        (["--baseline", "nobody"], "no contender 'nobody'"),
        (["--junit", "run.bakeoff"], "is the run file itself"),
        (["--markdown", "run.bakeoff"], "is the run file itself"),
    ],
)
def test_refusals(words: list[str], sentence: str, run_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = run_file.read_bytes()
    monkeypatch.chdir(run_file.parent)
    done = CliRunner().invoke(app, ["check", str(run_file), *words])
    assert isinstance(done.exception, PlanError)
    assert sentence in str(done.exception)
    assert run_file.read_bytes() == before


def test_limits_of_endpoints() -> None:
    assert verb.endpoints(["p99=10%,mean", "p50 = 0.02"]) == {"p99": 0.1, "mean": None, "p50": 0.02}
    assert verb.endpoints([]) == {}


def judged_at(ms: float) -> JudgedRecord:
    return JudgedRecord(
        ms <= 50.0, 0.0, "", (TermRecord("p99<=50ms", ms * 1e6, 0.0 if ms <= 50.0 else 0.05, ms <= 50.0),)
    )


def held(ms: float, *servers: Server, blocks: int = 6, state: str = "ok") -> RunRecord:
    record = run(servers or (Server("api", 4e4, 0.1),), blocks=blocks, seed=3)
    trials = tuple(replace(trial, judged=judged_at(ms), state=state) for trial in record.trials)
    return replace(record, plan={**record.plan, "objective": "p99<=50ms"}, trials=trials)


@pytest.mark.parametrize(
    ("ms", "state", "code", "start", "junit"),
    [
        (31.0, "ok", 0, "pass: api meets p99<=50ms at ", "<system-out>api meets"),
        (63.0, "ok", 99, "missed: api misses p99<=50ms: at ", '<failure type="missed"'),
        (31.0, "voided", 5, "undecided: Whether api meets p99<=50ms is not decided", '<error type="undecided"'),
    ],
)
def test_one_contender_is_held_to_the_objective_of_its_plan(
    ms: float, state: str, code: int, start: str, junit: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the exit codes of the run itself (docs/how-to/ci.md)."""
    monkeypatch.setattr(verb, "read_run", lambda path: held(ms, state=state))
    xml, text = tmp_path / "check.xml", tmp_path / "check.md"
    done = CliRunner().invoke(app, ["check", "x.bakeoff", "--junit", str(xml), "--markdown", str(text)])
    assert (done.exit_code, done.output.startswith(start)) == (code, True), done.output
    assert junit in xml.read_text() and 'name="api meets p99&lt;=50ms"' in xml.read_text()
    assert "p99&lt;=50ms" in text.read_text()
    assert CliRunner().invoke(app, ["check", "x.bakeoff", "--github"]).output.startswith("::")


def test_an_objective_counts_beside_a_baseline_and_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = (Server("main", 4e4, 0.1), Server("branch", 3e4, 0.13))
    words = ["check", "x.bakeoff", "--max-regression", "3%"]
    for ms, code in ((63.0, 99), (31.0, 1)):
        monkeypatch.setattr(verb, "read_run", lambda path, ms=ms: held(ms, *servers))
        assert CliRunner().invoke(app, words).exit_code == code
    assert "pass: branch meets" in CliRunner().invoke(app, words).output


def test_what_is_met_in_a_part_of_a_run_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    record = held(31.0)
    part = replace(record, trials=record.trials[:-2], finished_at=None)
    monkeypatch.setattr(verb, "read_run", lambda path: part)
    done = CliRunner().invoke(app, ["check", "x.bakeoff"])
    assert done.exit_code == 5 and "the run is not complete, `bakeoff resume" in done.output, done.output
