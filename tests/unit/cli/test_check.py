"""`bakeoff check` at the command line: exit codes, files, and what is refused."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli import check as verb
from bakeoff.cli.app import app
from bakeoff.errors import PlanError
from tests.unit.compare.synthetic import Server, change, run

OLD = Path(__file__).parents[2] / "data/runs/version-6.bakeoff"


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


def test_a_run_file_is_read() -> None:
    done = CliRunner().invoke(app, ["check", str(OLD)])
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
        (["--junit", str(OLD)], "is the run file itself"),
        (["--markdown", str(OLD)], "is the run file itself"),
    ],
)
def test_refusals(words: list[str], sentence: str) -> None:
    before = OLD.read_bytes()
    done = CliRunner().invoke(app, ["check", str(OLD), *words])
    assert isinstance(done.exception, PlanError)
    assert sentence in str(done.exception)
    assert OLD.read_bytes() == before


def test_limits_of_endpoints() -> None:
    assert verb.endpoints(["p99=10%,mean", "p50 = 0.02"]) == {"p99": 0.1, "mean": None, "p50": 0.02}
    assert verb.endpoints([]) == {}
