"""What a plan is told by a pilot: its spread, at the level of the plan's own verdicts, and what is assumed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from bakeoff.compare.planning.power import OtherSetting, Power, power_of
from bakeoff.core.errors import PlanError
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.report.narrate.document import plain
from bakeoff.stats import blocks_with_power, power_of_equivalence
from tests.unit.compare import synthetic

EQUAL = (synthetic.Server("a", 30_000.0, 0.1, spread=0.03), synthetic.Server("b", 30_000.0, 0.1, spread=0.03))
PILOT = synthetic.run(EQUAL, load_steps=(1, 4, 8), blocks=10, seed=3)


def plan(*names: str, **head: object) -> Plan:
    contenders = [{"name": name, "address": f"http://127.0.0.1:{1 + i}"} for i, name in enumerate(names)]
    return resolve_plan(PlanInput("test", {"suite": "web-static", **head}, {}, contenders))


def fewest(given: Power, difference: float | None, power: float = 0.8, series: int = 0) -> int:
    found = [n.blocks for n in given.series[series].needs if n.difference == difference and n.power == power]
    assert found[0] is not None
    return found[0]


def test_smaller_differences_surer_answers_more_pairs_and_interim_analyses_take_more_blocks() -> None:
    told = power_of(PILOT, plan("a", "b"), 30.0, 5.0)
    assert 6 <= fewest(told, 0.05) < fewest(told, 0.03) < fewest(told, 0.02)
    assert fewest(told, 0.02, 0.9) > fewest(told, 0.02)
    assert fewest(power_of(PILOT, plan("a", "b", "c"), 30.0), 0.02) > fewest(told, 0.02)
    analysed = power_of(PILOT, plan("a", "b", interim_analyses="6,12,18"), 30.0)
    assert told.series[0].alpha == pytest.approx(0.045)
    assert analysed.series[0].alpha < 0.045 and fewest(analysed, 0.02) > fewest(told, 0.02)
    need = told.series[0].needs[-1]
    assert need.blocks is not None and need.duration_s == 5.0 + 30.0 * need.blocks
    assert need.low is not None and need.high is not None and need.low <= need.blocks <= need.high


def test_each_load_step_has_its_own_spread_at_a_level_for_all_of_them() -> None:
    primary, *load_steps = power_of(PILOT, plan("a", "b"), 30.0).series
    assert [each.title for each in load_steps] == ["at 1 client", "at 4 clients", "at 8 clients"]
    assert all(each.alpha == pytest.approx(primary.alpha / 3) for each in load_steps)
    assert all(each.log_sd > primary.log_sd for each in load_steps), "a mean over load steps varies less"
    assert primary.log_sd_low < primary.log_sd < primary.log_sd_high


def test_what_is_assumed_is_said() -> None:
    assert [one.kind for one in power_of(PILOT, plan("a", "b"), 30.0).assumed] == ["other_settings"]
    others, *_ = power_of(PILOT, plan("x", "y"), 30.0).assumed
    assert (others.kind, others.names, others.pilot) == ("other_pair", ("x", "y"), ("a", "b"))
    (elsewhere,) = power_of(replace(PILOT, suite="web-dynamic"), plan("a", "b"), 30.0).assumed
    assert (elsewhere.kind, elsewhere.names, elsewhere.pilot) == ("other_work", ("web-static",), ("web-dynamic",))
    alone = replace(PILOT, contenders=PILOT.contenders[:1], trials=tuple(t for t in PILOT.trials if t.contender == "a"))
    assert "alone" in {one.kind for one in power_of(alone, plan("a", "b"), 30.0).assumed}


def test_a_pilot_of_too_few_blocks_is_refused_in_a_sentence() -> None:
    short = replace(PILOT, trials=tuple(trial for trial in PILOT.trials if trial.block <= 2))
    with pytest.raises(PlanError, match="2 usable blocks: a spread takes 3 at least, better 6"):
        power_of(short, plan("a", "b"), 30.0)


def test_the_json_holds_no_nan() -> None:
    planned = plain(power_of(PILOT, plan("a", "b"), 30.0))
    assert planned["schema"] == "bakeoff-power/1" and "nan" not in str(planned).lower()
    assert planned["series"][1]["clients"] == 1 and planned["series"][0]["needs"][0]["difference"] == 0.05


def test_a_pilot_of_another_order_and_a_search_are_told_from_pilots() -> None:
    (planned,) = power_of(PILOT, plan("a", "b"), 30.0).assumed
    assert planned.settings[0] == OtherSetting("order", "contenders", "load_steps")
    same_machines = power_of(replace(PILOT, plan={**PILOT.plan, "order": "load_steps"}), plan("a", "b"), 30.0)
    assert "order" not in {setting.name for one in same_machines.assumed for setting in one.settings}
    for number in (1, 2):
        search = replace(PILOT, plan={**PILOT.plan, "capacity": {}}, contenders=PILOT.contenders[:number])
        with pytest.raises(PlanError, match="searched for capacities"):
            power_of(search, plan("a", "b"), 30.0)


def test_at_a_load_step_equals_take_as_many_blocks_as_its_band_does() -> None:
    """The band of a load step has two sides, and both must lie within ±δ."""
    wide = plan("a", "b", delta="10%")

    def chance(log_sd: float, alpha: float, blocks: int) -> float:
        return power_of_equivalence(blocks, log_sd, 0.1, alpha)

    for number, share in ((0, 1.0), (1, 0.5)):
        planned = power_of(PILOT, wide, 30.0).series[number]
        expected = blocks_with_power(partial(chance, planned.log_sd, planned.alpha * share), 0.8)
        assert next(need.blocks for need in planned.needs if need.difference is None and need.power == 0.8) == expected
