"""Application servers that cheat, under every load: what they wrote is read again after the trial, and results are
worked out again. How much was spoilt the server counts.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.compare import compare_run
from bakeoff.report.compose import compose
from bakeoff.run.driver import start_run
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.store.sqlite.read import read_run
from tests.conftest import Target, app_workload
from tests.control import PATIENCE_S
from tests.told import headline_of
from tests.unit.run.fake import Notebook, plan_for

pytestmark = pytest.mark.usefixtures("patient")

MakeTarget = Callable[..., Target]
OPERATIONS = 3_000
LOADS: dict[str, dict[str, Any]] = {
    "closed loop": {"load": {"clients": 4}},
    "rate": {"load": {"rate": {"per_s": 5_000, "arrivals": {"shape": "constant"}, "most_connections": 4}}},
    "soak": {"load": {"clients": 4}, "interval_s": 0.1},
}


def looked_at(server: Target, load: str = "closed loop", agents: int = 1, secret: int = 77) -> TrialResult:
    workload = app_workload(server.address, look_again=True, unix=None, source_addresses=(), working_set=1.0)
    given = {"length_s": 600.0, "max_operations": OPERATIONS, "seed": 3, "secret": secret, **LOADS[load]}
    spec = TrialSpec.model_validate({"workload": workload, **given})
    fleet = Fleet([LocalAgent(f"m{number}") for number in range(agents)])
    outcome = fleet.start({agent.name: spec for agent in fleet.agents}).wait(PATIENCE_S)
    assert outcome is not None and outcome.whole is not None
    return outcome.whole.result


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("agents", [1, 2])
def test_an_honest_server_is_never_accused(target: MakeTarget, load: str, agents: int) -> None:
    measured = looked_at(target(kind="app"), load, agents).workload
    kept, again = measured["read_back"], measured["worked_again"]
    assert kept["writes"] > 500 and kept["asked"] == kept["read"] >= kept["records"] > 400
    assert (kept["lost"], kept["damaged"], again["wrong"]) == (0, 0, 0)
    assert again["checked"] >= again["answers"] > 500
    assert measured["times"]["too_long"] == measured["times"]["too_short"] == 0


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("agents", [1, 2])
def test_every_write_that_is_lost_for_good_is_found(target: MakeTarget, load: str, agents: int) -> None:
    server = target(kind="app", lose_every=60)
    measured = looked_at(server, load, agents).workload
    lost = measured["read_back"]["lost"] + measured["verified"]["lost"]
    # Of 4,096 records for each client few are written twice.
    assert 0.5 * server.counts()["spoilt"] <= lost <= server.counts()["spoilt"]


@pytest.mark.parametrize("fault", [{"damage_every": 60}, {"forget": True}])
def test_damaged_and_forgotten_writes_are_found(target: MakeTarget, fault: dict[str, Any]) -> None:
    measured = looked_at(target(kind="app", **fault)).workload
    kept = measured["read_back"]
    if "forget" in fault:
        assert kept["lost"] == kept["read"] > 0 and measured["verified"]["lost"] == 0, "all was right while it lasted"
    else:
        assert kept["damaged"] > 0 and kept["lost"] == 0


@pytest.mark.parametrize("load", LOADS)
def test_wrong_results_are_found(target: MakeTarget, load: str) -> None:
    server = target(kind="app", garbage_every=50)
    result = looked_at(server, load)
    wrong = result.workload["worked_again"]["wrong"] + result.workload["verified"]["wrong_results"]
    # The first and the last result are looked at twice.
    assert 0 < server.counts()["spoilt"] <= wrong + 8 and wrong <= server.counts()["spoilt"] + 8


def test_a_server_that_remembers_has_nothing_to_remember(target: MakeTarget) -> None:
    server = target(kind="app", remember=True)
    looked_at(server, secret=1)
    looked_at(server, secret=2)
    counts = server.counts()
    assert counts["remembered"] == 0 and counts["kinds"]["processor"]["requests"] > 1_000
    looked_at(server, secret=1)
    assert server.counts()["remembered"] > 300, "it does remember: no two trials have one secret"


@pytest.mark.parametrize(("fault", "name"), [("long", "too_long"), ("zero", "too_short")])
def test_false_times_are_counted(target: MakeTarget, fault: str, name: str) -> None:
    times = looked_at(target(kind="app", false_times=fault)).workload["times"]
    other = {"too_long": "too_short", "too_short": "too_long"}[name]
    # No processor does a thousand rounds in no time; of other work a reply may say so.
    assert times["told"] > 2_900 and times[name] > 0.15 * times["told"] and times[other] == 0


def test_what_was_lost_reaches_the_headline(target: MakeTarget, tmp_path: Path) -> None:
    good, bad = target(kind="app", service_s=0.001), target(kind="app", lose_every=50)
    settings = {"clients": "4", "operations": "2000", "length": "600s"}
    plan = plan_for(good.address, bad.address, suite="app", plan={"blocks": 1}, **settings)
    start_run(plan, tmp_path / "x.bakeoff", [LocalAgent()], Notebook())
    run = read_run(tmp_path / "x.bakeoff")
    compared = compare_run(run)
    assert headline_of(compared)[0].startswith("b is disqualified, it did not keep its data: of ")
    assert compared.pairs[0].primary.verdict.winner != "b"
    report = compose(run, compared)
    assert any(section.id == "read_back" for section in report.sections)
