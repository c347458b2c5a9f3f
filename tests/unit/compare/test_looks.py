"""Looks at a run: planned ones, blocks that were added after one, and what all of them together may call falsely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from bakeoff import stats
from bakeoff.compare import compare_run
from bakeoff.compare.estimate.interim import ALPHA, RESERVE, Look, look_of, planned_levels, standing
from bakeoff.report.compose import compose
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.gates import gate_text
from bakeoff.report.narrate.verdict.interim import looks_told
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.collections.join import join
from bakeoff.store.records.run_records import ADDED, CLEAR, FAILED, RETRIED, AmendmentRecord, PlannedTrial, RunRecord
from tests.told import headline_of
from tests.unit.compare.synthetic import FAST, Server, run
from tests.unit.report.shown import shown

RUNS = 2000
DELTA = 0.05


def added(seen: int, before: int, blocks: int, sort: str = ADDED) -> AmendmentRecord:
    return AmendmentRecord(
        "2026-11-20T10:00:09.000+00:00", sort, f"--blocks +{blocks - before}", seen, before, blocks, None, "1" * 64
    )


def ran(blocks: int, *amendments: AmendmentRecord, looks: Sequence[int] | None = None) -> RunRecord:
    """A run of so many blocks, of those that the plan has after its amendments, or of the `looks` that it names."""
    record = run((FAST, replace(FAST, name="other")), load_steps=(8,), blocks=blocks)
    plan = {**record.plan, "looks": None if looks is None else list(looks)}
    wanted = max(blocks, *looks) if looks else blocks
    ended = [each for each in amendments if each.sort == CLEAR]
    missing = [PlannedTrial(0, "other", record.load_steps[0], block, 1) for block in range(blocks + 1, wanted + 1)]
    return replace(
        record, plan=plan, blocks_planned=wanted, amendments=amendments, pending=() if ended else tuple(missing)
    )


def test_a_run_without_looks_has_one_at_its_end() -> None:
    look = look_of(ran(8))
    assert (look.number, look.blocks, look.earlier, look.level, look.is_told) == (1, 8, (), 0.95, False)
    assert look.alpha == pytest.approx(ALPHA - RESERVE) and not look.between
    assert look.next_alpha < 0.01


def test_added_blocks_are_another_look_and_each_spends_less() -> None:
    once = look_of(ran(13, added(6, 6, 13)))
    twice = look_of(ran(20, added(6, 6, 13), added(13, 13, 20)))
    assert (once.number, once.earlier, once.added, once.seen) == (2, (6,), (7,), (6,))
    assert (twice.number, twice.earlier, twice.added, twice.seen) == (3, (6, 13), (7, 7), (6, 13))
    assert RESERVE / 2 < once.alpha < 2 * RESERVE and RESERVE / 4 < twice.alpha < once.alpha
    assert once.level == pytest.approx(1.0 - once.alpha)
    assert "7 blocks after 6 had been seen and 7 blocks after 13 had been seen" in looks_told(twice)


def test_what_cannot_be_called_spends_nothing() -> None:
    """Three blocks have no verdict: whoever has seen them may still look once."""
    assert look_of(ran(10, added(3, 3, 10))).alpha == pytest.approx(ALPHA - RESERVE)
    broken_off = look_of(ran(15, added(7, 8, 15)))
    assert broken_off.earlier == (7,) and broken_off.alpha < 2 * RESERVE


def test_planned_looks_share_what_one_would_have() -> None:
    looks = (6, 12, 18)
    each = [look_of(ran(blocks, looks=looks)) for blocks in looks]
    assert [look.number for look in each] == [1, 2, 3] and [look.next_blocks for look in each] == [12, 18, None]
    assert not any(look.between for look in each) and all(look.alpha < ALPHA for look in each)
    between = look_of(ran(8, looks=looks))
    assert between.between and between.next_blocks == 12
    later = look_of(ran(25, added(18, 18, 25), looks=looks))
    spends = (*(stats.spent(blocks / 18, ALPHA - RESERVE) for blocks in looks), ALPHA - RESERVE / 2)
    assert later.alpha == pytest.approx(stats.nominal_levels((*looks, 25), spends)[-1])
    assert later.number == 4 and later.alpha < each[-1].alpha and later.added == (7,)


@pytest.mark.parametrize("looks", [["6", 12], [0, 6], {"a": 1}, [True, 6], [6, 10**6], "6,12"])
def test_looks_of_a_plan_that_somebody_wrote_are_believed_only_when_they_are_some(looks: object) -> None:
    record = run(load_steps=(8,), blocks=8)
    found = compare_run(replace(record, plan={**record.plan, "looks": looks}))
    assert found.run.look is not None and found.run.look.planned == ()


def test_between_looks_there_is_no_verdict_however_clear() -> None:
    record = run((Server("fast", 40_000.0, 0.1), Server("slow", 10_000.0, 0.4)), load_steps=(8,), blocks=8)
    planned = replace(
        record,
        plan={**record.plan, "looks": [6, 12]},
        blocks_planned=12,
        pending=tuple(PlannedTrial(0, "slow", record.load_steps[0], block, 1) for block in range(9, 13)),
    )
    verdict = compare_run(planned).pairs[0].primary.verdict
    assert verdict.kind == "inconclusive"
    assert sentence(verdict) == "inconclusive: the next planned look is after 12 blocks"
    assert sentence(standing(compare_run(planned))) == "not clear yet"
    assert compare_run(record).pairs[0].primary.verdict.kind == "better"
    told = standing(compare_run(record))
    ends, words = told.ends, sentence(told)
    assert ends and "fast" in words


def test_report_and_json_say_that_blocks_were_added_and_intervals_are_wider() -> None:
    once, grown = ran(13), ran(13, added(6, 6, 13))
    before, after = (compare_run(record).pairs[0].primary for record in (once, grown))
    assert after.high / after.low > before.high / before.low > 1.0
    found = compare_run(grown)
    plain = found.to_dict()["run"]
    assert plain["look"]["added"] == [7] and plain["look"]["seen"] == [6] and plain["plan_hash_first"] == "1" * 64
    assert plain["amendments"][0]["text"] == "--blocks +7" and plain["amendments"][0]["blocks_seen"] == 6
    assert "widened as 7 blocks were added after a look" in headline_of(found)[0]
    text = shown(grown, width=300)
    assert "Blocks were added that the plan did not have: 7 blocks after 6 had been seen." in text
    assert "What became of the plan" in text
    assert ("Blocks", "13 of 13 measured, 7 of them added after a look") in compose(grown, found).facts


def test_a_run_that_ended_at_a_look_says_so() -> None:
    ended = ran(12, added(12, 18, 12, CLEAR), looks=(6, 12, 18))
    found = compare_run(ended)
    assert found.run.look is not None and found.run.look.ended_early and found.run.blocks_planned == 12
    assert "Stopped at look 2 of 3: its verdict is clear." in shown(ended, width=300)
    assert not any("not complete" in warning.text for warning in warnings_of(found))


def test_repeated_trials_are_kept_and_named_in_verdict_headline_and_report() -> None:
    record = run(load_steps=(8,), blocks=8)
    first = record.trials[0]
    failed = replace(first, id=900, state=FAILED, reason="no operation succeeded (refused 9)", operations=0)
    void = replace(record.trials[1], id=901, state="voided", reason="the generator was suspended")
    again = replace(record, earlier=(failed, void), amendments=(added(8, 8, 8, RETRIED),))
    found = compare_run(again)
    assert [(each.contender, each.state, each.again) for each in found.repeated] == [
        (first.contender, "failed", "ok"),
        (record.trials[1].contender, "voided", "ok"),
    ]
    (gate,) = [gate for gate in found.pairs[0].primary.gates if gate.name == "repeated trials"]
    assert gate_text(gate) == f"{first.contender} had failed 1 trial that was repeated"
    assert f"{first.contender} had failed 1 trial before they were repeated; these are kept." in headline_of(found)
    text = shown(again, width=300)
    assert "Repeated trials" in text and "no operation succeeded (refused 9)" in text
    assert found.to_dict()["repeated"][0]["reason"] == "no operation succeeded (refused 9)"


def calls(logs: np.ndarray, looks: Sequence[Look], delta: float, wanted: Sequence[str]) -> int:
    """In how many runs one of these verdicts is given at one of the looks: who wants it adds blocks until it is."""
    number = 0
    for one in logs:
        for look in looks:
            found = stats.ratio_from_logs(one[: look.blocks], look.level)
            tost = stats.equivalence_p(found.log_mean, found.log_sd, found.blocks, delta)
            outcome = stats.decide(found, delta, found.p_t, tost, look.alpha).outcome
            if outcome in wanted:
                number += 1
                break
    return number


def grown(*blocks: int) -> list[Look]:
    """The looks of a run of the first number of blocks to which more are added, again and again."""
    amendments: list[AmendmentRecord] = []
    found = [look_of(ran(blocks[0]))]
    for before, now in pairwise(blocks):
        amendments.append(added(before, before, now))
        found.append(look_of(ran(now, *amendments)))
    return found


def planned() -> list[Look]:
    return [look_of(ran(blocks, looks=(6, 10, 14))) for blocks in (6, 10, 14)]


PLANS = {
    "6 + 7": grown(6, 13),
    "8 + 4 + 3": grown(8, 12, 15),
    "10 + 1": grown(10, 11),
    "planned": planned(),
}


@pytest.mark.parametrize("plan", PLANS)
def test_look_add_look_calls_equal_contenders_different_in_at_most_5_percent(plan: str) -> None:
    """The worst case: no smallest difference protects, and blocks are added whenever the verdict is open."""
    logs = np.random.default_rng(46).normal(0.0, 0.02, (RUNS, 15))
    assert calls(logs, PLANS[plan], 0.0, ("higher", "lower")) / RUNS <= 0.05


@pytest.mark.parametrize("plan", PLANS)
def test_look_add_look_calls_contenders_at_the_margin_equivalent_in_at_most_5_percent(plan: str) -> None:
    logs = np.random.default_rng(47).normal(math.log1p(DELTA), 0.02, (RUNS, 15))
    assert calls(logs, PLANS[plan], DELTA, ("equivalent",)) / RUNS <= 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / RUNS)


def test_without_the_correction_it_would_be_more() -> None:
    """The control: the same runs, each look as if it were the only one."""
    looks = [replace(look, alpha=0.05, level=0.95) for look in grown(8, 10, 12, 15)]
    logs = np.random.default_rng(46).normal(0.0, 0.02, (RUNS, 15))
    assert calls(logs, looks, 0.0, ("higher", "lower")) / RUNS > 0.065
    logs = np.random.default_rng(47).normal(math.log1p(DELTA), 0.02, (RUNS, 15))
    assert calls(logs, looks, DELTA, ("equivalent",)) / RUNS > 0.065


def test_a_real_difference_ends_a_run_at_an_early_look() -> None:
    logs = np.random.default_rng(48).normal(math.log(1.2), 0.03, (300, 15))
    first = planned()[:1]
    assert calls(logs, first, DELTA, ("higher",)) / 300 > 0.5
    assert calls(logs, planned(), DELTA, ("higher",)) == 300


def test_runs_side_by_side_have_no_looks_and_name_those_that_are_not_complete() -> None:
    one = replace(run((FAST,), blocks=1), path=Path("one.bakeoff"), amendments=(added(1, 1, 1, RETRIED),))
    two = replace(run((replace(FAST, name="other"),), blocks=1), path=Path("two.bakeoff"))
    gone = PlannedTrial(two.trials[-1].order, "other", two.trials[-1].load_step, 1, 1)
    killed = replace(two, trials=two.trials[:-1], pending=(gone,), finished_at=None)
    found = compare_run(join([one, killed]))
    assert found.run.amendments == one.amendments and found.run.look is not None and not found.run.look.is_told
    assert [w.text for w in warnings_of(found) if "not complete" in w.text] == [
        "two.bakeoff is not complete: 1 trial of it missing."
    ]
    stopped = tuple(replace(t, state="interrupted", reason="stopped after 2 s") for t in two.trials)
    nothing = compare_run(join([one, replace(two, trials=stopped, pending=(gone,), finished_at=None)]))
    told = "other and nginx are in different files, and have no figures that can be compared."
    assert headline_of(nothing)[0] == told and not nothing.pairs
    assert headline_of(nothing)[-1].endswith("; of other nothing was measured.")
    assert not any("not complete" in w.text for w in warnings_of(nothing)), "they are named as stopped"


def test_looks_have_the_levels_that_are_written_down() -> None:
    """O'Brien and Fleming's spends next to nothing early, so that the last look is nearly what a single one is."""
    looks = (6, 12, 18)
    assert planned_levels(looks) == pytest.approx((0.0002, 0.010, 0.042), rel=0.05, abs=0.00005)
    told = tuple(look_of(ran(blocks, looks=looks)).alpha for blocks in looks)
    assert told == pytest.approx(planned_levels(looks))
