"""Checks with a known answer, and whatever a worse server could try to be let through."""

import math
import re
from dataclasses import replace

import pytest

from bakeoff.compare.limits.check import check_run
from bakeoff.compare.limits.check_model import Check
from bakeoff.compare.planning.noise import noise_of
from bakeoff.compare.planning.noise_model import NoiseFloor
from bakeoff.core.errors import PlanError
from bakeoff.report.narrate.collections.check import check_notes, check_sentence, check_sentences
from bakeoff.report.narrate.wording import percent
from bakeoff.store.records.marks import GENERATOR_LIMITED
from bakeoff.store.records.run_records import ADDED, CLEAR, AmendmentRecord, PlannedTrial, RunRecord
from tests.unit.compare.synthetic import Server, change, run

SPREAD = 0.004


def measured(ratio: float, blocks: int = 8, spread: float = SPREAD, seed: int = 5, **more: float) -> RunRecord:
    """`branch` is at `ratio` times the rate of `main`, at every load step."""
    servers = [Server(name, 40_000.0 * f, 0.1 / f, spread) for name, f in (("main", 1.0), ("branch", ratio))]
    servers += [Server(name, 40_000.0 * f, 0.1 / f, spread) for name, f in more.items()]
    return run(tuple(servers), blocks=blocks, seed=seed)


def checked(record: RunRecord, most: float | None = 0.03, **options: object) -> Check:
    return check_run(record, most, **options)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ratio", "outcome", "code"),
    [
        (1.2, "pass", 0),
        (1.0, "pass", 0),
        (0.99, "pass", 0),
        (0.97, "inconclusive", 3),
        (0.95, "worse", 1),
        (0.5, "worse", 1),
    ],
)
def test_known_answers(ratio: float, outcome: str, code: int) -> None:
    found = checked(measured(ratio))
    assert (found.outcome, found.exit_code) == (outcome, code)
    assert found.checked[0].low < ratio < found.checked[0].high
    assert found.checked[0].limit == pytest.approx(0.97)


def test_seen_from_the_other_side() -> None:
    assert checked(measured(1.1), baseline="branch").outcome == "worse"
    assert checked(measured(0.9), baseline="branch").outcome == "pass"


def test_the_limit_is_the_plans_delta_unless_given() -> None:
    assert checked(measured(0.96), None).outcome == "pass"
    assert checked(measured(0.96)).outcome == "worse"


def test_with_a_limit_of_nothing_only_what_is_better_passes() -> None:
    assert checked(measured(1.02), 0.0).outcome == "pass"
    assert checked(measured(0.98), 0.0).outcome == "worse"


def test_a_time_is_worse_when_it_is_more() -> None:
    found = checked(measured(0.95), 0.2, also={"p99": 0.03, "mean": None})
    by_metric = {each.metric: each for each in found.checked}
    assert {key: each.outcome for key, each in by_metric.items()} == {"rate": "pass", "p99": "worse", "mean": "pass"}
    assert by_metric["p99"].low < 1.0 / 0.95 < by_metric["p99"].high
    assert (by_metric["p99"].limit, by_metric["mean"].limit) == (1.03, 1.2)
    assert found.outcome == "worse"
    assert check_sentences(found)[0].startswith("worse: 99th percentile of response time (p99): branch is at 1.05")


def test_one_of_several_contenders_that_is_worse_is_enough() -> None:
    found = checked(measured(1.0, other=0.9))
    assert {each.contender: each.outcome for each in found.checked} == {"branch": "pass", "other": "worse"}
    assert found.outcome == "worse"


def test_inconclusive_names_blocks_and_the_command() -> None:
    found = checked(measured(0.985, spread=0.03)).checked[0]
    assert found.outcome == "inconclusive"
    assert found.more_blocks is not None
    assert check_sentence(found, "main").endswith(f"bakeoff resume synthetic.bakeoff --blocks +{found.more_blocks}.")


def test_few_blocks_never_pass_nor_fail() -> None:
    found = checked(measured(0.5, blocks=5)).checked[0]
    assert (found.outcome, found.more_blocks) == ("inconclusive", 1)
    assert "interval" not in check_sentence(found, "main")


def test_a_run_that_is_not_complete_says_nothing_yet() -> None:
    record = measured(1.1)
    last = record.trials[-1]
    cut = replace(
        record,
        trials=record.trials[:-1],
        pending=(PlannedTrial(last.order, last.contender, last.load_step, last.block, last.seed),),
    )
    found = checked(cut)
    assert found.outcome == "inconclusive"
    assert "1 of 48 trials are missing: bakeoff resume synthetic.bakeoff." in check_sentences(found)[0]


@pytest.mark.parametrize("ratio", [1.3, 1.0, 0.8])
@pytest.mark.parametrize("who", ["main", "branch"])
def test_one_failed_trial_of_either_makes_it_void(ratio: float, who: str) -> None:
    broken = change(measured(ratio), who, 4, (3,), state="failed", reason="too many errors")
    found = checked(broken)
    assert (found.outcome, found.exit_code) == ("void", 4)
    assert f"{who} failed 1 of 24 trials" in check_sentences(found)[0]


def test_failed_trials_that_were_repeated_make_it_void_all_the_same() -> None:
    record = measured(1.1)
    first = next(trial for trial in record.trials if trial.contender == "branch")
    failed = replace(first, id=0, state="failed", reason="too many errors")
    found = checked(replace(record, earlier=(failed,)))
    assert found.outcome == "void"
    assert "branch had failed 1 trial that was repeated" in check_sentences(found)[0]


def test_errors_of_the_slower_one_are_no_way_through() -> None:
    """`compare` only notes them of the one behind: it has not won by them. Here it would pass."""
    slower = measured(0.99)
    assert checked(slower).outcome == "pass"
    errors = {t.id: {"refused": t.operations // 50} for t in slower.trials if t.contender == "branch"}
    trials = tuple(replace(t, errors=errors.get(t.id, {})) for t in slower.trials)
    found = checked(replace(slower, trials=trials))
    assert found.outcome == "void"
    assert "branch failed 1.96 % of the requests" in check_sentences(found)[0]


def test_a_baseline_that_the_generator_held_back_is_no_measure() -> None:
    """It could be faster still, and the change worse than it looks."""
    held = change(measured(0.99), "main", None, None, marks=(GENERATOR_LIMITED,))
    assert checked(held).outcome == "void"


def test_wrong_content_is_void() -> None:
    wrong = change(measured(1.1), "branch", 8, (1,), errors={"wrong_content": 1})
    assert checked(wrong).outcome == "void"


def test_a_load_step_without_trials_is_a_hole_that_nothing_passes_through() -> None:
    """A server may be worse just there."""
    voided = change(measured(1.0), "branch", 8, None, state="voided", reason="ports exhausted")
    found = checked(voided)
    assert found.outcome == "void"
    assert "too few pairs can be compared at 8 clients" in check_sentences(found)[0]


def test_nothing_comparable_is_void() -> None:
    voided = change(measured(1.0), "main", None, None, state="voided", reason="ports exhausted")
    assert checked(voided).outcome == "void"


def test_added_blocks_are_held_to_stricter_levels() -> None:
    record = measured(1.0)
    added = AmendmentRecord(record.created_at, ADDED, "--blocks +2", 6, 6, 8, None, "sha256:0")
    assert checked(record).checked[0].level == pytest.approx(0.955)
    assert checked(replace(record, amendments=(added,))).checked[0].level > 0.98


def test_a_run_that_ended_at_an_analysis_has_no_blocks_to_add() -> None:
    record = measured(0.985, spread=0.03)
    ended = AmendmentRecord(record.created_at, CLEAR, "equivalent", 8, 8, 8, None, "sha256:0")
    plan = {**record.plan, "interim_analyses": [8, 16]}
    found = checked(replace(record, plan=plan, blocks_planned=16, amendments=(ended,)))
    assert check_sentences(found)[0].endswith("needed: measure again with so many more.")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"also": {"p98": None}}, "this run has no endpoint 'p98': did you mean"),
        ({"also": {"rate": None}}, "this is the primary endpoint"),
        ({"most": 1.0}, "a limit lies between 0 % and 100 %"),
        ({"also": {"p99": 1.5}}, "--also p99: a limit lies between"),
        ({"baseline": "trunk"}, "there is no contender 'trunk'"),
    ],
)
def test_refusals(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(PlanError, match=sentence):
        check_run(measured(1.0), **options)  # type: ignore[arg-type]


def test_one_contender_is_refused() -> None:
    with pytest.raises(PlanError, match="has one contender"):
        check_run(run((Server("main", 40_000.0, 0.1),)))


def floor_of_set_up(spread: float = 0.02) -> NoiseFloor:
    """What equals differ by where runs spread like that."""
    record = run(tuple(Server(name, 40_000.0, 0.1, spread) for name in ("main", "again")), blocks=12, seed=4)
    one = record.contenders[0]
    found = noise_of(replace(record, contenders=(one, replace(one, name="again"))))
    assert found is not None
    return found


@pytest.mark.parametrize("spread", [0.002, 0.02, 0.2])
@pytest.mark.parametrize("ratio", [1.2, 1.0, 0.97, 0.96, 0.95, 0.5])
def test_a_noise_floor_changes_no_outcome(ratio: float, spread: float) -> None:
    """A file that lies beside a run must neither let a regression through nor make one."""
    noise, record = floor_of_set_up(spread), measured(ratio)
    with_floor, without = checked(record, noise=noise), checked(record)
    assert (with_floor.outcome, with_floor.exit_code) == (without.outcome, without.exit_code)
    assert [replace(each, why=None, floor=0.0, floor_hides=False) for each in with_floor.checked] == [
        replace(each, why=None, floor=0.0, floor_hides=False) for each in without.checked
    ]


def test_a_noise_floor_stands_beside_the_verdict() -> None:
    noise = floor_of_set_up()
    texts = f"the noise floor of this set-up is {percent(noise.primary.floor(8))}"
    worse, clear = checked(measured(0.994), 0.001, noise=noise), checked(measured(0.5), noise=noise)
    assert worse.outcome == clear.outcome == "worse"
    assert (
        f"more than 0.1 % worse; {texts}, so that equals may differ as much: it counts as worse all the"
        in check_sentences(worse)[0]
    )
    assert f"more than 3 % worse; {texts}." in check_sentences(clear)[0]
    passed, wide = checked(measured(1.0), 0.009, noise=noise), checked(measured(1.0), 0.2, noise=noise)
    assert passed.outcome == wide.outcome == "pass"
    assert f"{texts}, in which more than 0.9 % may hide." in check_sentences(passed)[0]
    assert f"not more than 20 % worse; {texts}." in check_sentences(wide)[0]
    assert any(
        note.startswith("The noise floor is of synthetic.bakeoff (2026-11-20, 12 blocks") for note in check_notes(wide)
    )


def test_the_floor_is_that_of_the_primary_endpoint_alone() -> None:
    found = checked(measured(1.0), also={"p99": 0.2}, noise=floor_of_set_up())
    by_metric = {each.metric: each for each in found.checked}
    assert by_metric["rate"].floor > 0.0 and math.isnan(by_metric["p99"].floor)
    assert "noise floor" not in check_sentence(by_metric["p99"], "main")


def test_noise_is_told_as_noise_and_never_by_a_number_of_blocks() -> None:
    tried = [checked(measured(1.0, spread=0.35, seed=seed)).checked[0] for seed in range(1, 9)]
    noisy = [found for found in tried if (found.outcome, found.more_blocks) == ("inconclusive", None)]
    assert noisy
    for found in noisy:
        assert re.search(
            r"blocks differ by \d+ % here; for 3 % that is .*: quiet the machine", check_sentence(found, "main")
        )
        assert "more block" not in check_sentence(found, "main") and "--blocks" not in check_sentence(found, "main")


def test_a_ratio_at_the_limit_is_not_called_noise() -> None:
    found = checked(measured(0.97, spread=0.0001)).checked[0]
    if found.outcome == "inconclusive" and found.more_blocks is None:
        assert "too near to 3 % for any reasonable number of blocks" in check_sentence(found, "main")
    with_time = checked(measured(0.985, spread=0.03)).checked[0]
    assert re.search(r"about \d+ more blocks? \(\d+ \w+\) needed: bakeoff resume", check_sentence(with_time, "main"))
