"""What a campaign is told by a pilot: blocks for each suite in the family of all of them, and the hours of all."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from statistics import median_low

import numpy as np
import pytest

from bakeoff import stats
from bakeoff.compare.collections.campaign import Measured, _verdicts, compare_campaign
from bakeoff.compare.collections.campaign_model import SuiteResult
from bakeoff.compare.planning.power import power_of
from bakeoff.compare.planning.power_suites import CampaignPower, NotKnown, Pilot, pilots_of, power_of_suites
from bakeoff.compare.planning.power_time import FORECAST, PILOT, block_time, block_times
from bakeoff.core.errors import PlanError
from bakeoff.plan.campaign import Campaign, SuiteRun, campaign_of_one
from bakeoff.plan.design.durations import expected_duration
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.store.records.run_records import LEFT_OUT, RunRecord
from tests.unit.compare.synthetic import Server, run

NAMES = ("blue", "red")
# Three standard errors of a share of 80 % in RUNS campaigns.
RUNS = 400
SLACK = 3.0 * math.sqrt(0.8 * 0.2 / RUNS)


def pilot(spread: float, suite: str = "web-static", seed: int = 1, blocks: int = 8) -> RunRecord:
    servers = tuple(Server(name, 9000.0, 0.5, spread=spread) for name in NAMES)
    return replace(run(servers, load_steps=(4,), blocks=blocks, seed=seed, window_s=2.0), suite=suite)


def plan(suite: str, *names: str, **settings: object) -> Plan:
    contenders = [{"name": name, "address": f"http://127.0.0.1:{1 + i}"} for i, name in enumerate(names or NAMES)]
    return resolve_plan(PlanInput("test", {"suite": suite}, settings, contenders))


def campaign(*plans: Plan) -> Campaign:
    suite_runs = tuple(SuiteRun(each.suite, each, 1.0) for each in plans)
    return Campaign("lab", "Lab", 1, NAMES, suite_runs)


STEADY, RESTLESS = pilot(0.01), pilot(0.02, "web-dynamic", 2)
BOTH = pilots_of({"web-static": STEADY, "web-dynamic": RESTLESS})
LAB = campaign(plan("web-static"), plan("web-dynamic"))


@cache
def power_of_lab() -> CampaignPower:
    """What both pilots tell of the campaign."""
    return power_of_suites(BOTH, LAB)


def blocks_of(given: CampaignPower, suite: int, difference: float | None, power: float = 0.8) -> int:
    known = given.suites[suite].power
    assert known is not None
    found = [n.blocks for n in known.series[0].needs if (n.difference, n.power) == (difference, power)]
    assert found[0] is not None
    return found[0]


def test_the_suites_of_a_campaign_are_one_family_and_the_most_restless_decides() -> None:
    planned = power_of_lab()
    assert planned.family == 2 and [suite.name for suite in planned.suites] == ["web-static", "web-dynamic"]
    known = planned.suites[1].power
    assert known is not None
    assert known.series[0].alpha == pytest.approx(0.045 / 2.0)
    for need in planned.needs:
        own = [blocks_of(planned, suite, need.difference, need.power) for suite in (0, 1)]
        assert need.blocks == max(own) and need.suite == "web-dynamic"
        times = [suite.block_s for suite in planned.suites]
        assert need.duration_s == pytest.approx(sum(need.blocks * each for each in times))
        assert need.own_duration_s == pytest.approx(sum(n * each for n, each in zip(own, times, strict=True)))
    pairs = power_of_suites(BOTH, campaign(plan("web-static", "blue", "red", "green"), plan("web-dynamic")))
    assert pairs.family == 4 and blocks_of(pairs, 1, 0.02) > blocks_of(planned, 1, 0.02)


def simulated(given: CampaignPower, effects: tuple[float, float], blocks: tuple[int, int], delta: float) -> list[float]:
    """By suite the share of campaigns in which its two contenders are told apart, or called equal where no effect is:
    blocks drawn with the pilot's spread, judged as a suite is by itself, then in the family as campaigns are.
    """
    random = np.random.default_rng(11)
    made = compare_campaign("lab", "Lab", NAMES, [Measured("one", 1.0, STEADY), Measured("two", 1.0, RESTLESS)])
    spreads = [suite.power.series[0].log_sd for suite in given.suites if suite.power is not None]
    seen = np.zeros(2)
    for _ in range(RUNS):
        suites = [
            _drawn(suite, random.normal(effect, sd, number), delta)
            for suite, effect, sd, number in zip(made.suites, effects, spreads, blocks, strict=True)
        ]
        for place, verdict in enumerate(_verdicts(suites)):
            distinct = verdict.kind in ("better", "near_margin") and verdict.ratio > 1.0
            seen[place] += distinct if effects[place] else verdict.kind == "equivalent"
    return [float(each) / RUNS for each in seen]


def _drawn(suite: SuiteResult, logs: np.ndarray[tuple[int], np.dtype[np.float64]], delta: float) -> SuiteResult:
    assert suite.comparison is not None
    found = stats.ratio_from_logs(logs, 0.95)
    tost = stats.equivalence_p(found.log_mean, found.log_sd, found.blocks, delta)
    outcome = stats.decide(found, delta, found.p_t, tost, 0.045).outcome
    kind = "better" if outcome in ("higher", "lower") else outcome
    pair = suite.comparison.pairs[0]
    end = replace(
        pair.primary,
        ratio=found.ratio,
        p_t=found.p_t,
        p_equivalence=tost,
        verdict=replace(pair.primary.verdict, kind=kind),  # type: ignore[arg-type]
    )
    return replace(suite, comparison=replace(suite.comparison, pairs=(replace(pair, primary=end),)))


def test_a_difference_in_one_suite_is_seen_as_often_as_planned() -> None:
    """Nothing else is shown, so that Holm's strictest step is the one that decides."""
    planned = power_of_lab()
    number = blocks_of(planned, 1, 0.05)
    share = simulated(planned, (0.0, math.log1p(0.05)), (6, number), 0.02)[1]
    known = planned.suites[1].power
    assert known is not None
    exact = stats.power_of_difference(number, known.series[0].log_sd, math.log1p(0.05), known.series[0].alpha)
    assert share == pytest.approx(exact, abs=SLACK) and share >= 0.8 - SLACK
    fewer = stats.power_of_difference(number - 1, known.series[0].log_sd, math.log1p(0.05), known.series[0].alpha)
    assert fewer < 0.8, "no fewer would do"


def test_with_the_blocks_of_all_each_suite_is_seen_at_least_as_often_as_planned() -> None:
    planned = power_of_lab()
    common = max(blocks_of(planned, suite, 0.03) for suite in (0, 1))
    shares = simulated(planned, (math.log1p(0.03), math.log1p(0.03)), (common, common), 0.02)
    assert all(share >= 0.8 - SLACK for share in shares)


def test_equals_are_called_so_as_often_as_planned() -> None:
    planned = power_of_lab()
    numbers = blocks_of(planned, 0, None), blocks_of(planned, 1, None)
    shares = simulated(planned, (0.0, 0.0), numbers, 0.05)
    assert all(share >= 0.8 - SLACK for share in shares)


def test_a_pilot_of_one_suite_tells_of_that_suite_alone() -> None:
    planned = power_of_suites(pilots_of({"": RESTLESS}), LAB)
    assert [suite.power is not None for suite in planned.suites] == [False, True]
    assert planned.suites[0].why_not == NotKnown("no_pilot", "web-static") and planned.family == 2
    need = planned.needs[0]
    assert need.duration_s is not None and need.blocks is not None
    assert need.duration_s == pytest.approx(need.blocks * sum(suite.block_s for suite in planned.suites))
    other = replace(RESTLESS, suite="app")
    with pytest.raises(PlanError, match="no run of web-static and web-dynamic"):
        power_of_suites(pilots_of({"x": other}), LAB)
    with pytest.raises(PlanError, match=r"is of app, and what is planned is web-static, web-dynamic: leave it out"):
        power_of_suites([*BOTH, Pilot("", other, ())], LAB)
    with pytest.raises(PlanError, match="are all of web-static: name the one that is meant"):
        power_of_suites([Pilot("a", STEADY, ()), Pilot("b", STEADY, ())], LAB)
    few = replace(STEADY, trials=tuple(trial for trial in STEADY.trials if trial.block < 3))
    short = power_of_suites(pilots_of({"": few}), LAB)
    kinds = [suite.why_not and suite.why_not.kind for suite in short.suites]
    assert short.needs == () and kinds == ["unusable", "no_pilot"]


def test_a_suite_of_one_contender_has_no_verdict_to_plan() -> None:
    planned = power_of_suites(BOTH, campaign(plan("web-static"), plan("web-dynamic", "blue")))
    assert (
        planned.family == 1
        and planned.suites[1].power is None
        and planned.suites[1].why_not == NotKnown("alone", "web-dynamic")
    )


def at(record: RunRecord, begins: dict[int, int]) -> RunRecord:
    """The run with its blocks begun at these seconds of an hour."""

    def moved(order: int, block: int) -> str:
        second = begins[block] + order % 2
        return f"2026-11-20T10:{second // 60:02d}:{second % 60:02d}.000+00:00"

    return replace(record, trials=tuple(replace(t, started_at=moved(t.order, t.block)) for t in record.trials))


def test_blocks_last_until_the_next_one_of_any_suite_begins() -> None:
    one = at(pilot(0.02, blocks=3), {1: 0, 2: 50, 3: 100})
    two = at(pilot(0.02, "web-dynamic", blocks=3), {1: 20, 2: 70, 3: 120})
    assert block_times({"one": one, "two": two}) == {"one": (20.0, 20.0, 20.0), "two": (30.0, 30.0)}
    left = tuple(replace(t, code=LEFT_OUT) if (t.block, t.contender) == (2, "red") else t for t in one.trials)
    assert block_times({"": replace(one, trials=left)}) == {"": (50.0,)}
    lost = tuple(replace(t, started_at="yesterday") for t in one.trials)
    assert block_times({"": replace(one, trials=lost)}) == {"": ()}


def test_a_clock_that_is_set_makes_no_block_short() -> None:
    """By hours forwards, and by more than a block backwards: neither changes the lower one of the middle."""
    for begins in ({1: 0, 2: 50, 3: 100, 4: 3000, 5: 3050}, {1: 100, 2: 150, 3: 200, 4: 175, 5: 225}):
        one = at(pilot(0.02, blocks=5), begins)
        (took,) = block_times({"one": one}).values()
        assert median_low(took) == 50.0, took
    other = at(pilot(0.02, "web-dynamic", blocks=3), {1: 20, 2: 70, 3: 120})
    assert block_times({"one": one, "two": other}) == {"one": (), "two": ()}, "whose turn it was cannot be told"


def test_a_block_takes_what_it_took_in_the_pilot_in_the_measure_of_forecasts() -> None:
    then, now = plan("web-static", length="2s"), plan("web-static", "blue", "red", "green", length="4s")
    measured = replace(STEADY, plan=then.to_dict())
    # One block was broken off for an hour.
    took = (40.0, 41.0, 3600.0)
    assert block_time(measured, took, then, expected_duration(then)) == (pytest.approx(41.0), PILOT)
    by = expected_duration(now).trials_s / expected_duration(then).trials_s
    assert by > 2.5
    assert block_time(measured, took, now, expected_duration(now)) == (pytest.approx(41.0 * by), PILOT)
    forecast_s = expected_duration(now).trials_s / now.blocks
    for run_, times in ((measured, ()), (STEADY, took), (replace(measured, plan=plan("web-dynamic").to_dict()), took)):
        assert block_time(run_, times, now, expected_duration(now)) == (pytest.approx(forecast_s), FORECAST)


def test_a_plan_by_itself_is_a_campaign_of_one() -> None:
    own = campaign_of_one(plan("web-static", "blue", "red", "green"))
    (suite,) = power_of_suites(pilots_of({"": STEADY}), own).suites
    assert suite.power == power_of(STEADY, own.suite_runs[0].plan, suite.block_s, suite.layout_s)
    (elsewhere,) = power_of_suites(pilots_of({"": RESTLESS}), own).suites
    assert elsewhere.power is not None and elsewhere.power.assumed[-1].kind == "other_work"
    with pytest.raises(PlanError, match="is of web-dynamic, and what is planned is web-static: leave it out"):
        power_of_suites([Pilot("", STEADY, ()), Pilot("", RESTLESS, ())], own)
