"""Who meets the objective of a plan: known answers of trials that were judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.report.compose import compose
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.verdict.headline import result
from bakeoff.report.renderers.markdown import render
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import JudgedRecord, TermRecord
from tests.told import headline_of, kinds_of
from tests.unit.compare.synthetic import FAST, SLOW, run

GOAL = "p99<=50ms"
GENERATOR = "the generator was the limit: it was busy for 97% of the time"
Judged = Callable[[TrialRecord], TrialRecord]


def judged_at(ms: float, limit: str = "") -> JudgedRecord:
    met = ms <= 50.0
    return JudgedRecord(met, 0.0, limit, (TermRecord(GOAL, ms * 1e6, 0.0 if met else 0.05, met),))


def meets(trial: TrialRecord) -> TrialRecord:
    return replace(trial, judged=judged_at(20.0 + trial.load_step.x))


def held(judge: Judged, alone: bool = True, blocks: int = 4, objective: str = GOAL) -> Comparison:
    record: RunRecord = run((FAST,) if alone else (FAST, SLOW), load_steps=(1, 8), blocks=blocks)
    plan = {**record.plan, "objective": objective}
    return compare_run(replace(record, plan=plan, trials=tuple(judge(meets(trial)) for trial in record.trials)))


def test_one_contender_that_meets_it_everywhere() -> None:
    found = held(lambda trial: trial)
    assert found.objective is not None and found.objective.verdict == "met"
    assert headline_of(found)[0] == (
        "nginx meets p99<=50ms at 2 load steps from 1 to 8 clients, in all of 8 trials: at worst p99 was 28.00 ms "
        "at 8 clients."
    )
    assert kinds_of(found)[0] == "objective_met" and headline_of(found)[0] in result(found)
    assert json.loads(to_json(found))["objective"]["contenders"][0]["loads"][0]["met"] == 4


def test_one_miss_in_one_block_at_one_load_is_a_miss() -> None:
    found = held(lambda t: replace(t, judged=judged_at(63.0)) if (t.block, t.load_step.x) == (3, 8) else t)
    assert headline_of(found)[0] == "nginx misses p99<=50ms: at 8 clients p99 was 63.00 ms in 1 of 4 trials."


@pytest.mark.parametrize(
    "change",
    [
        {"state": "failed", "reason": "6 % failed", "judged": JudgedRecord(False, 0.06, "", judged_at(20.0).terms)},
        {"errors": {"wrong_content": 1}},
    ],
)
def test_failed_trials_and_wrong_answers_miss_it_however_fast(change: dict[str, object]) -> None:
    found = held(lambda t: replace(t, **change) if t.order == 2 else t)  # type: ignore[arg-type]
    assert found.objective is not None and found.objective.verdict == "missed"


@pytest.mark.parametrize(
    "change",
    [
        {"state": "voided", "reason": "the generator was stopped"},
        {"state": "interrupted", "reason": "stopped by the user"},
        {"judged": judged_at(63.0, GENERATOR)},
        {"judged": None},
    ],
)
def test_trials_that_say_nothing_decide_nothing(change: dict[str, object]) -> None:
    """Half of the blocks have to be usable at every load; what the generator missed is not the contender's."""

    def spoilt(blocks: int) -> Comparison:
        return held(lambda t: replace(t, **change) if t.block <= blocks and t.load_step.x == 8 else t)  # type: ignore[arg-type]

    two, three = spoilt(2).objective, spoilt(3)
    assert two is not None and two.verdict == "met"
    assert headline_of(three)[0] == (
        "Whether nginx meets p99<=50ms is not decided: at 8 clients 1 of 4 trials can be used."
    )


def test_a_percentile_needs_operations_enough() -> None:
    def few(number: int) -> Comparison:
        return held(lambda t: replace(t, operations=number, errors={}))

    ends = few(75).objective, few(74).objective
    assert [end.verdict for end in ends if end is not None] == ["met", "undecided"], "300 in four blocks"
    assert "296 operations are too few to show it: 300 would do" in headline_of(few(74))[0]


def test_each_of_two_is_held_to_it_and_compared_beside() -> None:
    found = held(lambda t: replace(t, judged=judged_at(70.0)) if t.contender == "apache" else t, alone=False, blocks=8)
    assert kinds_of(found)[:3] == ("objective_met", "objective_missed", "better")
    assert found.objective is not None and found.objective.verdict == "missed" and found.winner == "nginx"


def test_without_an_objective_nothing_is_said() -> None:
    assert compare_run(run()).objective is None
    assert held(meets, objective="p99<=").objective is None, "of a plan that somebody altered"


def test_the_report_says_it_at_its_head_and_load_by_load() -> None:
    record = run((FAST,), load_steps=(1, 8), blocks=4)
    record = replace(record, plan={**record.plan, "objective": GOAL}, trials=tuple(map(meets, record.trials)))
    report = compose(record, compare_run(record))
    assert (report.verdict, report.severity, report.severities[0]) == ("Objective met", "good", "good")
    assert "| nginx | 8 clients | met | 4 | 0 | 0 | 28.00 ms |" in " ".join(str(render(report)).split("  "))
