"""A server that dies after its last reply is told of everywhere, and blamed only where the plan did not stop it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.cli.app import app
from bakeoff.compare import compare_run
from bakeoff.core.errors import ContenderError, GeneratorError
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.run.contenders.liveness_check import PATIENCE_S, unresponsive
from bakeoff.run.driver import RunInterruptedError, resume_run, start_run
from bakeoff.run.modes.amend import Asked
from bakeoff.store.collections.join import join
from bakeoff.store.records.run_records import UNRESPONSIVE, RunRecord, TrialRecord
from bakeoff.store.records.unresponsive import unresponsive_contenders, unresponsive_text
from bakeoff.store.sqlite.read import read_run
from tests.unit.report.shown import shown
from tests.unit.run.fake import FakeAgent, Notebook, WebServer, plan_for, result, two_contenders
from tests.unit.run.test_dead import goes_away

TRIALS = 8
"""Of two contenders, two load steps and two blocks."""


class LeavesAfter(Notebook):
    """The site answers nothing any more once so many trials are stored."""

    def __init__(self, site: WebServer, trials: int) -> None:
        super().__init__()
        self._site, self._left = site, trials

    def on_trial_end(self, record: TrialRecord) -> None:
        super().on_trial_end(record)
        self._left -= 1
        if not self._left:
            goes_away(self._site)


def measured(
    path: Path,
    after: int = TRIALS,
    resets: tuple[str | None, str | None] = (None, None),
    answer: Callable[[TrialSpec], TrialResult] = lambda spec: result(spec.load.clients),
) -> RunRecord:
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address, plan={"blocks": 2, "order": "contenders"})
        assert plan.trials == TRIALS
        contenders = tuple(c.model_copy(update={"reset": r}) for c, r in zip(plan.contenders, resets, strict=True))
        plan = plan.model_copy(update={"contenders": contenders})
        start_run(plan, path, [FakeAgent(answer)], LeavesAfter(two, after))
        return read_run(path)


def test_who_died_after_the_last_trial_is_told_of_first_everywhere_and_no_figure_changes(tmp_path: Path) -> None:
    run = measured(tmp_path / "x.bakeoff")
    assert {trial.state for trial in run.trials} == {"ok"} and run.finished_at is not None
    (why,) = unresponsive_contenders(run).values()
    found, without = compare_run(run), compare_run(replace(run, events=()))
    (warning_texts,) = [each for each in warnings_of(found) if each not in warnings_of(without)]
    assert warning_texts.text == f"{unresponsive_text('b', why.rstrip('.'))}." and warning_texts.first
    assert replace(found, warnings=without.warnings) == without
    assert warning_texts.text in shown(run, width=400)
    printed = CliRunner().invoke(app, ["show", str(run.path)]).output
    assert unresponsive_text("b", why) in printed and unresponsive_text("a", "") not in printed
    assert warning_texts.text in CliRunner().invoke(app, ["compare", str(run.path), "--json"]).output


def test_pages_tell_it_and_hold_what_it_takes_to_verify_them(tmp_path: Path) -> None:
    run, page = measured(tmp_path / "x.bakeoff"), tmp_path / "x.html"
    assert CliRunner().invoke(app, ["report", str(run.path), "-o", str(page)]).exit_code == 0
    run.path.unlink()
    assert unresponsive_text("b", "") in page.read_text()
    verified = CliRunner().invoke(app, ["verify", str(page)])
    assert verified.exit_code == 0, verified.output


def test_nobody_is_blamed_where_resets_may_have_stopped_it(tmp_path: Path) -> None:
    assert not unresponsive_contenders(measured(tmp_path / "x.bakeoff", resets=("true", None)))


def test_who_was_dead_in_its_last_trial_is_not_told_of_twice(tmp_path: Path) -> None:
    def failing(spec: TrialSpec) -> TrialResult:
        return result(operations=0, errors={"refused": 9}, errors_total=9)

    run = measured(tmp_path / "x.bakeoff", after=1, answer=failing)
    assert {trial.state for trial in run.trials} == {"failed"} and not unresponsive_contenders(run)


def test_an_interrupted_run_asks_nobody_and_one_that_goes_on_asks_anew(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"

    def stops(spec: TrialSpec, number: int) -> None:
        if number == TRIALS:
            raise KeyboardInterrupt

    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address, plan={"blocks": 2, "order": "contenders"})
        with pytest.raises(RunInterruptedError):
            start_run(plan, path, [FakeAgent(before=stops)], LeavesAfter(two, TRIALS))
        assert not unresponsive_contenders(read_run(path))
        two.fault = lambda path, count: None
        resume_run(path, [FakeAgent()], LeavesAfter(two, 1))
        assert list(unresponsive_contenders(read_run(path))) == ["b"]
        two.fault = lambda path, count: None
        resume_run(path, [FakeAgent()], Notebook(), asked=Asked(more_blocks=1))
        run = read_run(path)
    assert any(event.code == UNRESPONSIVE for event in run.events) and not unresponsive_contenders(run), (
        "it was there again"
    )


def test_of_several_files_each_tells_of_its_own(tmp_path: Path) -> None:
    one, other = measured(tmp_path / "one.bakeoff"), measured(tmp_path / "other.bakeoff", after=99)
    texts = unresponsive_contenders(join([other, one]))
    assert len(texts) == 1 and all(name.startswith("b") for name in texts)


def test_who_is_busy_is_asked_again_and_the_laboratory_blames_nobody() -> None:
    asked, moments = count(), count()

    def answers(name: str) -> None:
        if name == "lab":
            raise GeneratorError("no agent")
        if name == "gone" or next(asked) < 2:
            raise ContenderError(f"{name}: nobody")

    found = unresponsive(["lab", "gone", "busy"], answers, lambda: next(moments) * PATIENCE_S / 4.0)
    assert found == {"gone": "gone: nobody"}
