"""The table [capacity] of a plan, and the flags that say the same."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.kinds import KINDS
from bakeoff.load.load_step import Clients, Rate
from bakeoff.plan.design.order import order_slots, order_trials
from bakeoff.plan.input.plan_file import plan_to_toml
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import PlanInput, parse_contenders, read_plan_file, resolve_plan, with_flags
from bakeoff.plan.model import Plan
from bakeoff.plan.rules.capacity import CapacityPlan

OBJECTIVE = {"objective": "p99<=50ms,errors<=0.1%"}
ADDRESSES = {"web-url": "http://127.0.0.1:1/", "app": "127.0.0.1:1"}


def resolved(
    capacity: dict[str, Any] | None, settings: dict[str, Any] | None = None, suite: str = "web-url", **plan: Any
) -> Plan:
    contenders = parse_contenders([f"a={ADDRESSES.get(suite, '127.0.0.1:1')}"])
    given = PlanInput("plan.toml", {"suite": suite, **plan}, settings or {}, contenders, {}, capacity)
    return resolve_plan(given)


def test_a_search_has_no_load_steps_of_its_own_and_bounds_for_what_it_may_ask() -> None:
    plan = resolved(OBJECTIVE, blocks=3)
    assert plan.capacity is not None and plan.load_steps == () and order_trials(plan) == []
    assert [load_step.x for load_step in plan.settings.load_steps] == [10.0, 1_000_000.0]
    assert plan.primary == "capacity: the highest load that meets p99<=50ms,errors<=0.1%"
    assert "rate" not in plan.changed
    load_step = plan.capacity.load_step(plan.settings, 512.5)
    assert isinstance(load_step, Rate) and (load_step.per_s, load_step.most_connections) == (512.5, 1000)
    assert [slot.contender for slot in order_slots(plan)] == ["a"] * 3
    assert plan.trials == 36 + 3 * 5 and plan.most_trials == 3 * 65


def test_a_search_by_clients() -> None:
    plan = resolved({**OBJECTIVE, "by": "clients", "least": 2, "most": "80"}, {"think": "10ms"})
    assert plan.capacity is not None and plan.settings.load_steps == (Clients(2), Clients(80))
    assert plan.capacity.load_step(plan.settings, 33.0) == Clients(33) and plan.capacity.range.whole


def test_a_plan_is_read_back_from_its_file_its_flags_and_a_run(tmp_path: Path) -> None:
    table = {
        **OBJECTIVE,
        "by": "rate",
        "least": "50/s",
        "most": "9000",
        "width": "0.5%",
        "repeats": "5",
        "shares": "50%,90%",
    }
    given = PlanInput("x", {"suite": "web-url"}, {"length": "5s"}, parse_contenders(["a=http://127.0.0.1:1/"]))
    by_flags = with_flags(given, {}, {}, {}, table)
    path = tmp_path / "plan.toml"
    path.write_text(plan_to_toml(by_flags, resolve_plan(by_flags)))
    plan = resolve_plan(by_flags)
    assert resolve_plan(read_plan_file(path)).hash == plan.hash and "[capacity]" in path.read_text()
    assert Plan.from_dict(plan.to_dict()) == plan
    assert plan.capacity == CapacityPlan(
        objective="p99<=50ms,errors<=0.1%", least=50.0, most=9000.0, width=0.005, repeats=5, shares=(0.5, 0.9)
    )
    other = resolve_plan(with_flags(given, {}, {}, {}, {**table, "objective": "p99<=60ms"}))
    assert other.hash != plan.hash


@pytest.mark.parametrize(
    ("capacity", "more", "why"),
    [
        ({}, {}, "plan.toml [capacity] objective: is missing: state the objective"),
        ({"objective": "p99>50ms"}, {}, "[capacity] objective: 'p99>50ms': p99 is bounded by <=: write p99<=50ms"),
        ({**OBJECTIVE, "by": "luck"}, {}, "[capacity] by: 'luck' does not fit"),
        ({**OBJECTIVE, "speed": "1"}, {}, "[capacity] speed: unknown key"),
        ({**OBJECTIVE, "least": "0"}, {}, "[capacity] least: 0.0 does not fit"),
        ({**OBJECTIVE, "least": "many"}, {}, "'many' is not a rate"),
        ({**OBJECTIVE, "least": "500", "most": "400"}, {}, "loads must rise and be 10,000,000 at most"),
        ({**OBJECTIVE, "most": "1e9"}, {}, "is not a rate"),
        ({**OBJECTIVE, "by": "clients", "least": "1.5"}, {}, "give whole numbers of clients"),
        ({**OBJECTIVE, "repeats": "4"}, {}, "a majority needs an odd number of probes"),
        ({**OBJECTIVE, "shares": "95%,50%"}, {}, "give different shares, rising"),
        ({**OBJECTIVE, "shares": "50"}, {}, "is not a share"),
        ({**OBJECTIVE, "shares": "500%"}, {}, "shares of a capacity are 1% to 200%"),
        ({**OBJECTIVE, "width": "4%"}, {}, "bounds 4% apart are too wide to tell differences of 2% (delta)"),
        ({**OBJECTIVE, "most_probes": "2"}, {}, "[capacity] most_probes: 2 does not fit"),
        ({"objective": "p99<=2s"}, {}, "make trials at least 20.4s long (--length)"),
        ({"objective": "errors<=6%"}, {}, "errors<=6% is more than the 5% at which a trial is failed"),
        ({"objective": "achieved>=99%", "by": "clients"}, {}, "achieved>=99% applies to rates"),
        (OBJECTIVE, {"clients": "1,2"}, "plan.toml [settings] clients: a search chooses the loads"),
        (OBJECTIVE, {"rate": "100"}, "plan.toml [settings] rate: a search chooses the loads"),
        (OBJECTIVE, {"operations": "100"}, "a probe is bounded by its length"),
        (OBJECTIVE, {"arrivals": "ramp:0.5-1.5"}, "a search needs the same load all through a probe"),
        (OBJECTIVE, {"think": "1s"}, "an open loop waits for no reply"),
    ],
)  # fmt: skip
def test_what_cannot_be_searched_is_refused_in_a_sentence(
    capacity: dict[str, Any], more: dict[str, Any], why: str
) -> None:
    with pytest.raises(PlanError) as caught:
        resolved(capacity, more)
    assert why in str(caught.value), str(caught.value)


def test_file_suites_have_no_load_that_can_be_searched(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="file-mix has no load that can be searched"):
        resolved(OBJECTIVE, suite="file-mix")


def test_which_kinds_can_be_searched() -> None:
    searchable = {kind for kind in KINDS if plan_part(kind).settings.SEARCHABLE}
    assert {"web", "mail", "app"} <= searchable and not any(kind.startswith("file") for kind in searchable)


def test_a_table_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('capacity = 3\n[plan]\nsuite = "web-url"\n')
    with pytest.raises(
        PlanError,
        match=r"write \[plan\], \[settings\], \[capacity\], \[fleet\], \[factors\] and \[agents.NAME\] as tables",
    ):
        read_plan_file(path)
