"""Interim analyses of a run: planned ones, blocks that were added after one, and what all of them together may call
falsely.
"""

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
from bakeoff.compare.estimate.interim import ALPHA, RESERVE, InterimAnalysis, interim_of, planned_levels, standing
from bakeoff.report.compose import compose
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.gates import gate_text
from bakeoff.report.narrate.verdict.interim import interim_text
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


def ran(blocks: int, *amendments: AmendmentRecord, interim_analyses: Sequence[int] | None = None) -> RunRecord:
    """A run of so many blocks, of those that the plan has after its amendments, or of the `interim_analyses` that it
    names.
    """
    record = run((FAST, replace(FAST, name="other")), load_steps=(8,), blocks=blocks)
    plan = {**record.plan, "interim_analyses": None if interim_analyses is None else list(interim_analyses)}
    wanted = max(blocks, *interim_analyses) if interim_analyses else blocks
    ended = [each for each in amendments if each.sort == CLEAR]
    missing = [PlannedTrial(0, "other", record.load_steps[0], block, 1) for block in range(blocks + 1, wanted + 1)]
    return replace(
        record, plan=plan, blocks_planned=wanted, amendments=amendments, pending=() if ended else tuple(missing)
    )


def test_a_run_without_interim_analyses_has_one_at_its_end() -> None:
    interim = interim_of(ran(8))
    assert (interim.number, interim.blocks, interim.earlier, interim.level, interim.is_reported) == (
        1,
        8,
        (),
        0.95,
        False,
    )
    assert interim.alpha == pytest.approx(ALPHA - RESERVE) and not interim.between
    assert interim.next_alpha < 0.01


def test_added_blocks_are_another_analysis_and_each_spends_less() -> None:
    once = interim_of(ran(13, added(6, 6, 13)))
    twice = interim_of(ran(20, added(6, 6, 13), added(13, 13, 20)))
    assert (once.number, once.earlier, once.added, once.seen) == (2, (6,), (7,), (6,))
    assert (twice.number, twice.earlier, twice.added, twice.seen) == (3, (6, 13), (7, 7), (6, 13))
    assert RESERVE / 2 < once.alpha < 2 * RESERVE and RESERVE / 4 < twice.alpha < once.alpha
    assert once.level == pytest.approx(1.0 - once.alpha)
    assert "7 blocks after 6 had been seen and 7 blocks after 13 had been seen" in interim_text(twice)


def test_what_cannot_be_called_spends_nothing() -> None:
    """Three blocks have no verdict: whoever has seen them may still analyse once."""
    assert interim_of(ran(10, added(3, 3, 10))).alpha == pytest.approx(ALPHA - RESERVE)
    broken_off = interim_of(ran(15, added(7, 8, 15)))
    assert broken_off.earlier == (7,) and broken_off.alpha < 2 * RESERVE


def test_planned_interim_analyses_share_what_one_would_have() -> None:
    interim_analyses = (6, 12, 18)
    each = [interim_of(ran(blocks, interim_analyses=interim_analyses)) for blocks in interim_analyses]
    assert [interim.number for interim in each] == [1, 2, 3] and [interim.next_blocks for interim in each] == [
        12,
        18,
        None,
    ]
    assert not any(interim.between for interim in each) and all(interim.alpha < ALPHA for interim in each)
    between = interim_of(ran(8, interim_analyses=interim_analyses))
    assert between.between and between.next_blocks == 12
    later = interim_of(ran(25, added(18, 18, 25), interim_analyses=interim_analyses))
    spends = (*(stats.spent(blocks / 18, ALPHA - RESERVE) for blocks in interim_analyses), ALPHA - RESERVE / 2)
    assert later.alpha == pytest.approx(stats.nominal_levels((*interim_analyses, 25), spends)[-1])
    assert later.number == 4 and later.alpha < each[-1].alpha and later.added == (7,)


@pytest.mark.parametrize("interim_analyses", [["6", 12], [0, 6], {"a": 1}, [True, 6], [6, 10**6], "6,12"])
def test_interim_analyses_of_a_plan_that_somebody_wrote_are_believed_only_when_they_are_some(
    interim_analyses: object,
) -> None:
    record = run(load_steps=(8,), blocks=8)
    found = compare_run(replace(record, plan={**record.plan, "interim_analyses": interim_analyses}))
    assert found.run.interim is not None and found.run.interim.planned == ()


def test_between_interim_analyses_there_is_no_verdict_however_clear() -> None:
    record = run((Server("fast", 40_000.0, 0.1), Server("slow", 10_000.0, 0.4)), load_steps=(8,), blocks=8)
    planned = replace(
        record,
        plan={**record.plan, "interim_analyses": [6, 12]},
        blocks_planned=12,
        pending=tuple(PlannedTrial(0, "slow", record.load_steps[0], block, 1) for block in range(9, 13)),
    )
    verdict = compare_run(planned).pairs[0].primary.verdict
    assert verdict.kind == "inconclusive"
    assert sentence(verdict) == "inconclusive: the next planned interim analysis is after 12 blocks"
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
    assert plain["interim"]["added"] == [7] and plain["interim"]["seen"] == [6] and plain["plan_hash_first"] == "1" * 64
    assert plain["amendments"][0]["text"] == "--blocks +7" and plain["amendments"][0]["blocks_seen"] == 6
    assert "widened as 7 blocks were added after an analysis" in headline_of(found)[0]
    text = shown(grown, width=300)
    assert "Blocks were added that the plan did not have: 7 blocks after 6 had been seen." in text
    assert "What became of the plan" in text
    assert ("Blocks", "13 of 13 measured, 7 of them added after an analysis") in compose(grown, found).facts


def test_a_run_that_ended_at_an_analysis_says_so() -> None:
    ended = ran(12, added(12, 18, 12, CLEAR), interim_analyses=(6, 12, 18))
    found = compare_run(ended)
    assert found.run.interim is not None and found.run.interim.ended_early and found.run.blocks_planned == 12
    assert "Stopped at interim analysis 2 of 3: its verdict is clear." in shown(ended, width=300)
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


def calls(logs: np.ndarray, interim_analyses: Sequence[InterimAnalysis], delta: float, wanted: Sequence[str]) -> int:
    """In how many runs one of these verdicts is given at one of the analyses: who wants it adds blocks until it is."""
    number = 0
    for one in logs:
        for interim in interim_analyses:
            found = stats.ratio_from_logs(one[: interim.blocks], interim.level)
            tost = stats.equivalence_p(found.log_mean, found.log_sd, found.blocks, delta)
            outcome = stats.decide(found, delta, found.p_t, tost, interim.alpha).outcome
            if outcome in wanted:
                number += 1
                break
    return number


def grown(*blocks: int) -> list[InterimAnalysis]:
    """The analyses of a run of the first number of blocks to which more are added, again and again."""
    amendments: list[AmendmentRecord] = []
    found = [interim_of(ran(blocks[0]))]
    for before, now in pairwise(blocks):
        amendments.append(added(before, before, now))
        found.append(interim_of(ran(now, *amendments)))
    return found


def planned() -> list[InterimAnalysis]:
    return [interim_of(ran(blocks, interim_analyses=(6, 10, 14))) for blocks in (6, 10, 14)]


PLANS = {
    "6 + 7": grown(6, 13),
    "8 + 4 + 3": grown(8, 12, 15),
    "10 + 1": grown(10, 11),
    "planned": planned(),
}


@pytest.mark.parametrize("plan", PLANS)
def test_analyse_add_analyse_calls_equal_contenders_different_in_at_most_5_percent(plan: str) -> None:
    """The worst case: no smallest difference protects, and blocks are added whenever the verdict is open."""
    logs = np.random.default_rng(46).normal(0.0, 0.02, (RUNS, 15))
    assert calls(logs, PLANS[plan], 0.0, ("higher", "lower")) / RUNS <= 0.05


@pytest.mark.parametrize("plan", PLANS)
def test_analyse_add_analyse_calls_contenders_at_the_margin_equivalent_in_at_most_5_percent(plan: str) -> None:
    logs = np.random.default_rng(47).normal(math.log1p(DELTA), 0.02, (RUNS, 15))
    assert calls(logs, PLANS[plan], DELTA, ("equivalent",)) / RUNS <= 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / RUNS)


def test_without_the_correction_it_would_be_more() -> None:
    """The control: the same runs, each analysis as if it were the only one."""
    interim_analyses = [replace(interim, alpha=0.05, level=0.95) for interim in grown(8, 10, 12, 15)]
    logs = np.random.default_rng(46).normal(0.0, 0.02, (RUNS, 15))
    assert calls(logs, interim_analyses, 0.0, ("higher", "lower")) / RUNS > 0.065
    logs = np.random.default_rng(47).normal(math.log1p(DELTA), 0.02, (RUNS, 15))
    assert calls(logs, interim_analyses, DELTA, ("equivalent",)) / RUNS > 0.065


def test_a_real_difference_ends_a_run_at_an_early_analysis() -> None:
    logs = np.random.default_rng(48).normal(math.log(1.2), 0.03, (300, 15))
    first = planned()[:1]
    assert calls(logs, first, DELTA, ("higher",)) / 300 > 0.5
    assert calls(logs, planned(), DELTA, ("higher",)) == 300


def test_runs_side_by_side_have_no_interim_analyses_and_name_those_that_are_not_complete() -> None:
    one = replace(run((FAST,), blocks=1), path=Path("one.bakeoff"), amendments=(added(1, 1, 1, RETRIED),))
    two = replace(run((replace(FAST, name="other"),), blocks=1), path=Path("two.bakeoff"))
    gone = PlannedTrial(two.trials[-1].order, "other", two.trials[-1].load_step, 1, 1)
    killed = replace(two, trials=two.trials[:-1], pending=(gone,), finished_at=None)
    found = compare_run(join([one, killed]))
    assert (
        found.run.amendments == one.amendments and found.run.interim is not None and not found.run.interim.is_reported
    )
    assert [w.text for w in warnings_of(found) if "not complete" in w.text] == [
        "two.bakeoff is not complete: 1 trial of it missing."
    ]
    stopped = tuple(replace(t, state="interrupted", reason="stopped after 2 s") for t in two.trials)
    nothing = compare_run(join([one, replace(two, trials=stopped, pending=(gone,), finished_at=None)]))
    told = "other and nginx are in different files, and have no figures that can be compared."
    assert headline_of(nothing)[0] == told and not nothing.pairs
    assert headline_of(nothing)[-1].endswith("; of other nothing was measured.")
    assert not any("not complete" in w.text for w in warnings_of(nothing)), "they are named as stopped"


def test_interim_analyses_have_the_levels_that_are_written_down() -> None:
    """O'Brien and Fleming's spends next to nothing early, so that the last analysis is nearly what a single one is."""
    interim_analyses = (6, 12, 18)
    assert planned_levels(interim_analyses) == pytest.approx((0.0002, 0.010, 0.042), rel=0.05, abs=0.00005)
    told = tuple(interim_of(ran(blocks, interim_analyses=interim_analyses)).alpha for blocks in interim_analyses)
    assert told == pytest.approx(planned_levels(interim_analyses))
