"""What the end of a run says with its exit code."""

from pathlib import Path

import pytest
import typer

from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.cli.measure.result import EXIT_DEFECT, end_by_objectives, print_result, stop_cleanly
from bakeoff.compare.limits.objective_model import ContenderObjective, ObjectiveOutcome, ObjectiveVerdict
from bakeoff.kinds.mail.run import MailRunPart
from bakeoff.run.checks.plan_origin import mark
from bakeoff.run.driver import RunInterruptedError, start_run
from bakeoff.store.sqlite.read import read_run
from bakeoff.store.sqlite.write import RunWriter
from tests.unit.run.fake import WEB, FakeAgent, Notebook, plan_for, result, two_contenders


@pytest.fixture(autouse=True)
def books_on_web(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trials of a web server, judged as if it had books on messages."""
    part = MailRunPart(WEB.check)
    monkeypatch.setattr("bakeoff.run.trials.run_part", lambda kind: part)


def run_with_ledger(path: Path, balanced: bool) -> None:
    """A run of which the last trial alone has a ledger."""

    def answer(spec: TrialSpec) -> TrialResult:
        ledger = {"ledger": {"balanced": balanced, "counts": {}}}
        return result(spec.load.clients, workload=ledger if len(agent.specs) == 8 else None)

    agent = FakeAgent(answer)
    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address), path, [agent], Notebook())


def test_books_that_do_not_balance_void_the_trial_and_the_command_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.bakeoff"
    run_with_ledger(path, balanced=False)
    assert [trial.state for trial in read_run(path).trials] == ["ok"] * 7 + ["voided"]
    with pytest.raises(typer.Exit) as stop:
        print_result(path)
    assert stop.value.exit_code == EXIT_DEFECT == 1
    assert "does not balance" in capsys.readouterr().err


def test_books_that_balance_do_not(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    run_with_ledger(path, balanced=True)
    print_result(path)


@pytest.mark.parametrize("instead", [None, "begin again with `bakeoff demo`"])
def test_an_interrupted_run_is_gone_on_with_by_the_command_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, instead: str | None
) -> None:
    path = tmp_path / "a name.bakeoff"
    run_with_ledger(path, balanced=True)
    said = []
    for state in ("mine", "of somebody else"):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / state))
        if state == "mine":
            with RunWriter.reopen(path) as writer:
                writer.set_started_here(mark(path, read_run(path).plan_hash))
        with pytest.raises(typer.Exit):
            stop_cleanly(RunInterruptedError(path), instead)
        said.append(capsys.readouterr().err.partition(f"kept in {path}. ")[2].strip())
    resume = f"Go on with: bakeoff resume '{path}'"
    assert said == ([instead] * 2 if instead else [resume, f"{resume} --trust"])


def held(verdict: ObjectiveVerdict, *names: str) -> ObjectiveOutcome:
    return ObjectiveOutcome("p99<=50ms", verdict, tuple(ContenderObjective(name, verdict, "", ()) for name in names))


@pytest.mark.parametrize(
    ("suites", "code", "said"),
    [
        ({"one": held("met", "a"), "two": None}, 0, ""),
        ({"one": held("undecided", "a"), "two": held("met", "a")}, 5, "one: objective p99<=50ms: not decided of a"),
        (
            {"one": held("missed", "a", "b"), "two": held("undecided", "a")},
            99,
            "one: objective p99<=50ms: missed by a and b",
        ),
    ],
)
def test_a_campaign_ends_as_the_objectives_of_its_suites_do(
    suites: dict[str, ObjectiveOutcome | None], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the exit codes of a run: a miss in one suite is a miss, whatever is not decided in others."""
    if not code:
        end_by_objectives(suites.items())
    else:
        with pytest.raises(typer.Exit) as ended:
            end_by_objectives(suites.items())
        assert ended.value.exit_code == code
    assert said in capsys.readouterr().err
