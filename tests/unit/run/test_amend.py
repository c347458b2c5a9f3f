"""More blocks for a run that is there, and failed trials once more; what was planned stays beside what was asked."""

import os
import signal
from pathlib import Path

import pytest

from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.compare import compare_run
from bakeoff.core.errors import PlanError, RunFileError
from bakeoff.plan.design.order import order_trials
from bakeoff.run.driver import RunInterruptedError, resume_run, start_run
from bakeoff.run.modes.amend import Asked
from bakeoff.run.prompts import Prompts, Standing
from bakeoff.store.records.run_records import ADDED, CLEAR, RETRIED
from bakeoff.store.sqlite.read import planned, read_run
from tests.unit.run.fake import FakeAgent, Notebook, plan_for, result, two_contenders


def failing(spec: TrialSpec) -> TrialResult:
    return result(operations=0, errors={"refused": 9}, errors_total=9)


def test_blocks_are_added_to_a_finished_run_and_the_first_plan_stays_beside(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address)
        start_run(plan, path, [FakeAgent()], Notebook())
        before, agent = read_run(path), FakeAgent()
        assert resume_run(path, [agent], Notebook(), asked=Asked(more_blocks=2)) == 8
        run = read_run(path)
        grown = plan.model_copy(update={"blocks": 4})
        assert list(planned(path)) == order_trials(grown) and [s.seed for s in agent.specs] == [
            p.seed for p in order_trials(grown)[8:]
        ]
        assert run.trials[:8] == before.trials and len(run.trials) == 16 and run.is_complete
        assert (run.plan_hash, run.first_plan_hash, run.blocks_planned) == (grown.hash, plan.hash, 4)
        (added,) = run.amendments
        assert (added.sort, added.text, added.blocks_seen, added.blocks_before, added.blocks) == (
            ADDED,
            "--blocks +2",
            2,
            2,
            4,
        )
        assert any("2 blocks added after 2 were seen" in event.text for event in run.events)
        # The plan file that the run was started with is still its plan.
        assert resume_run(path, [FakeAgent()], Notebook(), given=plan, asked=Asked(more_blocks=1)) == 4
        assert [each.blocks for each in read_run(path).amendments] == [4, 5]
        assert read_run(path).first_plan_hash == plan.hash
        assert resume_run(path, [FakeAgent()], Notebook()) == 0, "and it was started here"


def test_blocks_are_added_to_a_run_that_was_interrupted_too(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"

    def stop(_: TrialSpec, trial: int) -> None:
        if trial == 6:
            os.kill(os.getpid(), signal.SIGINT)

    with two_contenders() as (one, two):
        with pytest.raises(RunInterruptedError):
            start_run(plan_for(one.address, two.address), path, [FakeAgent(before=stop)], Notebook())
        assert read_run(path).blocks_whole == 1
        assert resume_run(path, [FakeAgent()], Notebook(), asked=Asked(more_blocks=1)) == 3 + 4
    (added,) = read_run(path).amendments
    assert (added.blocks_seen, added.blocks) == (1, 3) and read_run(path).is_complete


def test_failed_and_voided_trials_are_repeated_and_kept(tmp_path: Path) -> None:
    path, count = tmp_path / "x.bakeoff", 0

    def answer(spec: TrialSpec) -> TrialResult:
        nonlocal count
        count += 1
        if count == 1:
            return failing(spec)
        return result(errors={"ports_exhausted": 2}, errors_total=2) if count == 6 else result(spec.load.clients)

    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address), path, [FakeAgent(answer)], Notebook())
        first = read_run(path)
        agent = FakeAgent()
        assert resume_run(path, [agent], Notebook(), asked=Asked(retry_failed=True)) == 2
        run = read_run(path)
        assert {t.state for t in run.trials} == {"ok"} and run.is_complete and len(agent.specs) == 2
        assert [(t.order, t.state, t.reason) for t in run.earlier] == [
            (t.order, t.state, t.reason) for t in first.trials if t.state != "ok"
        ]
        (retried,) = run.amendments
        assert (retried.sort, retried.text) == (RETRIED, "--retry-failed: 2 failed or voided trials")
        assert run.plan_hash == first.plan_hash
        assert {each.state for each in compare_run(run).repeated} == {"failed", "voided"}
        assert resume_run(path, [FakeAgent()], Notebook(), asked=Asked(retry_failed=True)) == 0, "none is left"
    assert len(read_run(path).amendments) == 1


def test_a_repetition_that_fails_again_is_failed(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address), path, [FakeAgent(failing)], Notebook())
        resume_run(path, [FakeAgent(failing)], Notebook(), asked=Asked(retry_failed=True))
    run = read_run(path)
    assert {t.state for t in run.trials} == {"failed"} and len(run.earlier) == 8


def test_nothing_is_written_when_the_contenders_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address), path, [FakeAgent()], Notebook())
        one.pages = {}
        with pytest.raises(Exception, match="a"):
            resume_run(path, [FakeAgent()], Notebook(), asked=Asked(more_blocks=1))
    run = read_run(path)
    assert run.amendments == () and run.is_complete and run.blocks_planned == 2


def test_what_cannot_be_asked_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address), path, [FakeAgent()], Notebook())
        with pytest.raises(PlanError, match="too many for one run: at most 1000"):
            resume_run(path, [FakeAgent()], Notebook(), asked=Asked(more_blocks=999))
        other = plan_for(one.address, two.address, plan={"blocks": 3})
        with pytest.raises(RunFileError, match="the plan given is not the one"):
            resume_run(path, [FakeAgent()], Notebook(), given=other, asked=Asked(more_blocks=1))


@pytest.mark.parametrize("clear_at", [6, 8, None])
def test_a_run_ends_at_the_first_planned_analysis_that_is_clear(tmp_path: Path, clear_at: int | None) -> None:
    path, analysed = tmp_path / "x.bakeoff", list[int]()

    def analyse(file: Path) -> Standing:
        analysed.append(read_run(file).blocks_whole)
        return Standing(analysed[-1] == clear_at, "a better" if analysed[-1] == clear_at else "not clear yet")

    with two_contenders() as (one, two):
        plan = plan_for(
            one.address, two.address, plan={"interim_analyses": "6,8,10", "until": "clear", "blocks": None}, clients="1"
        )
        agent = FakeAgent()
        start_run(plan, path, [agent], Notebook(), Prompts(analyse=analyse))
        run = read_run(path)
        assert run.is_complete and run.finished_at is not None and len(agent.specs) == 2 * (clear_at or 10)
        assert analysed == [6, 8][: 1 if clear_at == 6 else 2], "at planned analyses and nowhere else"
        assert (run.blocks_wanted, run.trials_planned) == (clear_at or 10, 2 * (clear_at or 10))
        ended = [each.text for each in run.amended(CLEAR)]
        number = {6: 1, 8: 2}.get(clear_at or 0)
        expected = f"stopped at interim analysis {number} of 3, after {clear_at} of 10 blocks: a better"
        notes = [event.text for event in run.events if event.text.startswith("interim analysis ")]
        assert notes == ["interim analysis 1 of 3, after 6 of 10 blocks: not clear yet; the run goes on"][
            : clear_at != 6
        ] + (
            ["interim analysis 2 of 3, after 8 of 10 blocks: not clear yet; the run goes on"]
            if clear_at is None
            else []
        )
        assert ended == ([] if clear_at is None else [expected])
        if clear_at is not None:
            assert resume_run(path, [FakeAgent()], Notebook(), prompts=Prompts(analyse=analyse)) == 0
            with pytest.raises(PlanError, match="ended at a planned interim analysis; more blocks"):
                resume_run(path, [FakeAgent()], Notebook(), asked=Asked(more_blocks=1))


def test_a_run_that_was_interrupted_after_the_last_trial_before_an_analysis_analyses_before_it_goes_on(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.bakeoff"

    def stop(file: Path) -> Standing:
        os.kill(os.getpid(), signal.SIGINT)
        return Standing(False, "not clear yet")

    with two_contenders() as (one, two):
        plan = plan_for(
            one.address, two.address, plan={"interim_analyses": "6,8", "until": "clear", "blocks": None}, clients="1"
        )
        with pytest.raises(RunInterruptedError):
            start_run(plan, path, [FakeAgent()], Notebook(), Prompts(analyse=stop))
        agent = FakeAgent()
        resume_run(path, [agent], Notebook(), prompts=Prompts(analyse=lambda _: Standing(True, "b better")))
        assert agent.specs == [] and read_run(path).is_complete and read_run(path).blocks_wanted == 6
