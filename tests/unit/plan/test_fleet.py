"""The tables [fleet] and [agents.NAME] of a plan, and the flags that say the same."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import PlanError
from bakeoff.plan.input.plan_file import plan_to_toml
from bakeoff.plan.load import PlanInput, parse_contenders, read_plan_file, resolve_plan, with_flags
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.fleet import ONE_MACHINE, FleetPlan

CONTENDERS = ["a=http://127.0.0.1:1/", "b=http://127.0.0.1:2/"]


def given(**tables: Any) -> PlanInput:
    return PlanInput("plan.toml", {"suite": "web-url"}, {}, parse_contenders(CONTENDERS), {}, None, **tables)


def test_one_machine_sends_unless_more_are_wanted() -> None:
    plan = resolve_plan(given())
    assert plan.fleet == FleetPlan(agents=1, least=None, start_spread="5ms", addresses={})
    assert plan.seen_by("anybody") is plan


def test_a_plan_of_before_is_one_of_a_single_machine() -> None:
    stored = resolve_plan(given()).to_dict()
    del stored["fleet"]
    assert Plan.from_dict(stored).fleet == ONE_MACHINE


def test_a_fleet_is_read_back_from_its_file_its_flags_and_a_run(tmp_path: Path) -> None:
    agents = {"loader-2": {"addresses": {"b": "http://10.0.0.1/"}}, "x.y": {"addresses": {"a": "http://10.0.0.2/"}}}
    by_flags = with_flags(given(agents=agents), {}, {}, {}, fleet={"agents": "4", "least": "3", "start_spread": "2ms"})
    path = tmp_path / "plan.toml"
    path.write_text(plan_to_toml(by_flags, resolve_plan(by_flags)))
    plan = resolve_plan(by_flags)
    assert resolve_plan(read_plan_file(path)).hash == plan.hash and "[fleet]" in path.read_text()
    assert Plan.from_dict(plan.to_dict()) == plan
    assert (plan.fleet.agents, plan.fleet.least, plan.fleet.start_spread_s) == (4, 3, 0.002)
    assert [c.address for c in plan.seen_by("loader-2").contenders] == ["http://127.0.0.1:1/", "http://10.0.0.1/"]
    assert plan.seen_by("loader-3") is plan


@pytest.mark.parametrize(
    ("fleet", "agents", "why"),
    [
        ({"agents": 0}, {}, "plan.toml [fleet] agents: 0 does not fit"),
        ({"agents": 2000}, {}, "plan.toml [fleet] agents: 2000 does not fit"),
        ({"agents": 2, "least": 3}, {}, "a run of 2 machines cannot go on with 3"),
        ({"start_spread": "0s"}, {}, "[fleet] start_spread: "),
        ({"start_spread": 5}, {}, "[fleet] start_spread: "),
        ({"speed": 5}, {}, "[fleet] speed: unknown key"),
        ({"addresses": {}}, {}, "[fleet] addresses: belongs in a table of its agent"),
        ({}, {"x": 3}, r"[agents.x]: write it as a table: [agents.NAME]"),
        ({}, {"x y": {}}, r"[agents.x y]: agents are called by letters"),
        ({}, {"x": {"address": {}}}, r"[agents.x] address: unknown key: did you mean 'addresses'?"),
        ({}, {"x": {"addresses": {"c": "http://h/"}}}, "there is no contender 'c'"),
        ({}, {"x": {"addresses": {"a": 7}}}, "[agents.x] addresses: write them as"),
        ({}, {"x": {"addresses": {"a": "ftp://h/"}}}, "ftp://h/"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(fleet: dict[str, Any], agents: dict[str, Any], why: str) -> None:
    with pytest.raises(PlanError) as refused:
        resolve_plan(given(fleet=fleet, agents=agents))
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("suite", "settings", "why"),
    [
        (
            "file-matrix",
            {},
            "a test of file-matrix ends when its file is through, a small one in less time than machines",
        ),
        ("file-mix", {"loadfile": "x.txt"}, "the clients of a loadfile wait for each other"),
    ],
)
def test_work_whose_clients_wait_for_each_other_is_refused_and_what_to_do_said(
    suite: str, settings: dict[str, Any], why: str, tmp_path: Path
) -> None:
    (tmp_path / "x.txt").write_text("Mkdir a SUCCESS\n")
    settings = {key: str(tmp_path / value) for key, value in settings.items()}
    folder = parse_contenders([f"a={tmp_path}"])
    shared = PlanInput("plan.toml", {"suite": suite}, settings, folder, {}, None, {"agents": 2}, {})
    with pytest.raises(PlanError, match=rf"^plan.toml \[fleet\] agents: {why}.*: leave agents out, or "):
        resolve_plan(shared)
    resolve_plan(replace(shared, fleet={}))


def test_office_work_is_shared(tmp_path: Path) -> None:
    folder = parse_contenders([f"a={tmp_path}"])
    plan = resolve_plan(PlanInput("plan.toml", {"suite": "file-mix"}, {}, folder, {}, None, {"agents": 2}, {}))
    assert plan.fleet.agents == 2


def test_flags_are_named_as_they_were_given() -> None:
    with pytest.raises(PlanError, match=r"^--agents-least: 'many' is not a whole number"):
        resolve_plan(with_flags(given(), {}, {}, {}, fleet={"least": "many"}))


def test_the_verb_plan_says_who_sends() -> None:
    words = ["web-url", *CONTENDERS, "--agents", "3", "--agents-least", "2", "--start-spread", "7ms"]
    said = CliRunner().invoke(app, ["plan", *words], catch_exceptions=False).output
    assert (
        "load machines: 3, which divide each load step" in said
        and "begin within 7ms" in said
        and "goes on with 2" in said
    )


def test_addresses_of_contenders_that_are_left_out_are_no_fault(tmp_path: Path) -> None:
    agents = {"x": {"addresses": {"a": "http://10.0.0.1/", "b": "http://10.0.0.2/"}}}
    path = tmp_path / "plan.toml"
    path.write_text(plan_to_toml(given(agents=agents), resolve_plan(given(agents=agents))))
    said = CliRunner().invoke(app, ["plan", str(path), CONTENDERS[0]], catch_exceptions=False).output
    assert "from x: a http://10.0.0.1/" in said and "10.0.0.2" not in said


def test_an_agent_that_has_an_address_of_its_own_for_one_contender_alone_is_warned_of(tmp_path: Path) -> None:
    own = {"x": {"a": "http://10.0.0.1/"}, "y": {"a": "http://10.0.0.1/", "b": "http://10.0.0.2/"}}
    observed = FleetPlan.model_validate({"addresses": own}).one_sided(["a", "b"])
    assert len(observed) == 1 and observed[0].startswith(
        "[agents.x] addresses: they name a, and not b, which that machine"
    )
    assert FleetPlan.model_validate({"addresses": own}).one_sided(["a"]) == []
    path = tmp_path / "plan.toml"
    agents = {"x": {"addresses": own["x"]}}
    path.write_text(plan_to_toml(given(agents=agents), resolve_plan(given(agents=agents))))
    said = CliRunner().invoke(app, ["plan", str(path)], catch_exceptions=False).output
    assert "warning: [agents.x] addresses: they name a, and not b" in " ".join(said.split())
