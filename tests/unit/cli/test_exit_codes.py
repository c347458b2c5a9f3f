"""What the exit code of a run says, and the sentence beside it."""

from pathlib import Path

import pytest
import typer

from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.cli.measure import prompts
from bakeoff.cli.measure.result import print_result
from bakeoff.run.driver import start_run
from tests.unit.run.fake import FakeAgent, Notebook, plan_for, result, two_contenders


def good(spec: TrialSpec) -> TrialResult:
    return result(spec.load.clients)


def failed(spec: TrialSpec) -> TrialResult:
    return result(operations=0, errors={"refused": 9}, errors_total=9)


def voided(spec: TrialSpec) -> TrialResult:
    return result(errors={"ports_exhausted": 2}, errors_total=2)


@pytest.mark.parametrize(
    ("a", "b", "code", "sentence"),
    [
        (good, good, 0, ""),
        (good, failed, 4, "bakeoff: b dead in 4 of 4 trials"),
        (failed, failed, 3, "bakeoff: nothing is comparable: no block has usable trials of two contenders"),
        (good, voided, 3, "bakeoff: nothing is comparable: no block has usable trials of two contenders"),
    ],
)
def test_exit_codes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], a: object, b: object, code: int, sentence: str
) -> None:
    path, first = tmp_path / "x.bakeoff", ""

    def answer(spec: TrialSpec) -> TrialResult:
        chosen = a if getattr(spec.workload, "host", "") == first else b
        assert callable(chosen)
        made: TrialResult = chosen(spec)
        return made

    with two_contenders() as (one, two):
        first = one.address.removeprefix("http://")
        start_run(plan_for(one.address, two.address), path, [FakeAgent(answer)], Notebook())
    found = 0
    try:
        print_result(path)
    except typer.Exit as ended:
        found = ended.exit_code
    assert found == code
    assert sentence in capsys.readouterr().err


def test_one_contender_that_failed_is_told_as_failed(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    with two_contenders() as (one, _):
        start_run(plan_for(one.address), path, [FakeAgent(failed)], Notebook())
    with pytest.raises(typer.Exit) as ended:
        print_result(path)
    assert ended.value.exit_code == 4


@pytest.mark.parametrize(("typed", "answer"), [("n\n", False), ("no\n", False), ("\n", True), ("y\n", True)])
def test_a_question_takes_an_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, typed: str, answer: bool
) -> None:
    (tmp_path / "in").write_text(typed)
    with (tmp_path / "in").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert prompts.ask("Go on without it?") is answer
    assert capsys.readouterr().err.startswith("Go on without it? [Y/n] (yes after 60 s) ")


def test_who_does_not_answer_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "w"):
        monkeypatch.setattr("sys.stdin", stdin)
        assert prompts.ask("Go on without it?", patience_s=0.01) is True
