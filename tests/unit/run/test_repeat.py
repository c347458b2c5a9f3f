"""A run's plan is shown, written and carried out once more, and nobody's commands are run unseen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bakeoff.cli.app import app
from bakeoff.core.errors import RunFileError
from bakeoff.plan.load import read_plan_file, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.run.checks.trust import repeated_plan
from bakeoff.run.driver import start_run
from bakeoff.store.sqlite.read import read_run
from tests.unit.run.fake import FakeAgent, Notebook, count_lines, plan_for, two_contenders

Finished = tuple[Path, Plan, Path]


@pytest.fixture
def finished(tmp_path: Path) -> Iterator[Finished]:
    """A run of a plan with a reset, and the log of resets."""
    log, path = tmp_path / "log", tmp_path / "x.bakeoff"
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address, resets={"a": f"echo reset >> {log}"})
        start_run(plan, path, [FakeAgent()], Notebook())
        log.unlink()
        yield path, plan, log


def invoke(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.run.checks.plan_origin._machine", lambda: "another")


def test_at_a_terminal_all_that_it_does_is_shown_and_asked(finished: Finished) -> None:
    path, plan, log = finished
    shown: list[str] = []

    def ask(lines: list[str]) -> bool:
        shown.extend(lines)
        return len(shown) > len(lines)

    assert repeated_plan(read_run(path), False, ask) is None
    assert any(f"echo reset >> {log}" in line for line in shown)
    assert all(any(contender.address in line for line in shown) for contender in plan.contenders)
    assert repeated_plan(read_run(path), False, ask) == plan


def test_elsewhere_only_who_started_it_needs_no_word(finished: Finished, monkeypatch: pytest.MonkeyPatch) -> None:
    path, plan, log = finished
    assert repeated_plan(read_run(path), False, None) == plan
    of_somebody_else(monkeypatch)
    with pytest.raises(RunFileError) as refused:
        repeated_plan(read_run(path), False, None)
    text = str(refused.value)
    assert f"echo reset >> {log}" in text and plan.contenders[1].address in text
    assert f"bakeoff run {path} --trust" in text
    assert repeated_plan(read_run(path), True, None) == plan


def test_run_repeats_the_plan_of_a_run(finished: Finished, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, plan, log = finished
    monkeypatch.setattr("bakeoff.cli.measure.run.make_agents", lambda plan, cluster: [FakeAgent()])
    of_somebody_else(monkeypatch)
    again = tmp_path / "again.bakeoff"
    outcome = invoke("run", path, "-o", again)
    assert isinstance(outcome.exception, RunFileError) and not again.exists() and not log.exists()
    outcome = invoke("run", path, "-o", again, "--trust")
    assert outcome.exit_code == 0, outcome.output
    assert read_run(again).plan_hash == plan.hash and read_run(again).finished_at is not None
    assert count_lines(log) > 0
    assert f"trusted: run in a shell before each block of a: echo reset >> {log}" in outcome.output


def test_plan_shows_it_and_writes_a_file_that_means_the_same(finished: Finished, tmp_path: Path) -> None:
    path, plan, _ = finished
    outcome = invoke("plan", path)
    assert outcome.exit_code == 0 and f"plan {plan.hash[:12]}" in outcome.output
    assert "(assumed)" not in outcome.output.splitlines()[2] and plan.contenders[0].address in outcome.output
    outcome = invoke("plan", path, "--toml")
    file = tmp_path / "plan.toml"
    file.write_text(outcome.stdout)
    assert resolve_plan(read_plan_file(file)).hash == plan.hash == read_run(path).plan_hash


@pytest.mark.parametrize("words", [["--blocks", "7"], ["--length", "3s"], ["c=http://h/"], ["--reset", "a=true"]])
@pytest.mark.parametrize("verb", ["run", "plan"])
def test_it_is_repeated_as_it_was_or_not_at_all(finished: Finished, verb: str, words: list[str]) -> None:
    path, _, log = finished
    outcome = invoke(verb, path, *words)
    assert outcome.exit_code != 0 and not log.exists()
    if words[0] != "--reset":
        assert "is a run, which `bakeoff run` repeats as it was" in str(outcome.exception)
        assert words[0].split("=")[0] in str(outcome.exception)


@pytest.mark.parametrize("verb", ["capacity", "soak"])
def test_other_verbs_say_who_repeats_a_run(finished: Finished, verb: str) -> None:
    path, _, log = finished
    outcome = invoke(verb, path, *(["--for", "1h"] if verb == "soak" else []))
    assert "`bakeoff run` repeats" in str(outcome.exception) and not log.exists()
