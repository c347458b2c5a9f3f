"""What acts on a plan again, and who sends load, honours the settings of contenders."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.compare import compare_run
from bakeoff.compare.collections.challenge_model import AskedOtherwise
from bakeoff.compare.validity.generator_capacity import generator_capacities
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan, with_flags
from bakeoff.run.driver import start_run
from bakeoff.store.sqlite.read import read_run
from tests.conftest import Target
from tests.told import headline_of
from tests.unit.run.fake import WHENEVER, FakeAgent, Notebook, WebServer, serving
from tests.unit.run.test_challenge import invoke


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, WebServer]]:
    """The run file of a, and of b whose connections are not kept and that is gone by now; and a server."""
    folder = tmp_path_factory.mktemp("client_options")
    with serving({"": b"page"}) as one:
        with serving({"": b"page"}) as two:
            given = PlanInput(
                "test",
                {"suite": "web-url", "blocks": 6},
                {"clients": "1,2", "length": "1s"},
                parse_contenders([f"a={one.address}", f"b={two.address}"]),
            )
            plan = resolve_plan(with_flags(given, {}, {}, {}, client_options={"b": {"keep_alive": "off"}}))
            start_run(plan, folder / "r.bakeoff", [FakeAgent()], Notebook())
        yield folder / "r.bakeoff", one


def test_a_challenger_is_asked_as_it_is_said(
    report: tuple[Path, WebServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bakeoff.agents.make.make_agent", FakeAgent)
    path, server = report
    words = ("challenge", path, f"c={server.address}", "-o", tmp_path / "c.bakeoff", "--trust")
    refused = invoke(*words)
    assert "in several ways (a: the settings of the run, b: keep_alive no)" in str(refused.exception)
    assert "no contender 'x'" in str(invoke(*words, "--settings-of", "x").exception)
    done = invoke(*words, "--settings-of", "a")
    assert done.exit_code == 0, done.output
    run = read_run(tmp_path / "c.bakeoff")
    assert [contender.get("settings", {}) for contender in run.plan["contenders"]] == [{}, {}]
    challenge = compare_run(run).challenge
    assert challenge is not None and list(challenge.absent) == ["b"]
    assert [one.contender for one in challenge.ratios] == ["a"], "b was asked otherwise: it is not divided"
    assert AskedOtherwise("b", "c", ("keep_alive",)) in challenge.differences
    (tmp_path / "c.bakeoff").unlink()
    assert invoke(*words, "--settings-of", "b").exit_code == 0
    run = read_run(tmp_path / "c.bakeoff")
    assert [contender.get("settings", {}) for contender in run.plan["contenders"]] == [{}, {"keep_alive": False}]
    found = compare_run(run)
    assert found.challenge is not None and [one.reference for one in found.challenge.ratios] == ["a", "b"]
    assert any("c with a connection for each request" in text for text in headline_of(found))


def test_an_a_a_run_asks_both_as_the_one(report: tuple[Path, WebServer], tmp_path: Path) -> None:
    _, server = report
    words = ("aa", "web-url", f"a={server.address}", "--contender-setting", "a:keep_alive=off", "--blocks", "1")
    done = invoke(*words, "--length", "100ms", "--clients", "1", "-o", tmp_path / "aa.bakeoff")
    run = read_run(tmp_path / "aa.bakeoff")
    assert done.exit_code in (0, 3, 4), done.output
    assert [contender["settings"] for contender in run.plan["contenders"]] == [{"keep_alive": False}] * 2
    assert compare_run(run).client_options == ()


def test_several_machines_ask_each_contender_its_own_way(tmp_path: Path) -> None:
    kept, fresh = Target(), Target()
    given = PlanInput(
        "test",
        {"suite": "web-url", "blocks": 1},
        {"clients": [4], "length": "1h", "operations": 200},
        parse_contenders([f"kept=http://{kept.address}/page", f"fresh=http://{fresh.address}/page"]),
        fleet={"agents": 2, **WHENEVER},
    )
    plan = resolve_plan(with_flags(given, {}, {}, {}, client_options={"fresh": {"keep_alive": "off"}}))
    path = tmp_path / "r.bakeoff"
    start_run(plan, path, [LocalAgent("one"), LocalAgent("two")], Notebook())
    run = read_run(path)
    counts = {"kept": kept.counts(), "fresh": fresh.counts()}
    for target in (kept, fresh):
        target.stop()
    opened = {trial.contender: trial.connections["opened"] for trial in run.trials}
    assert opened["kept"] == 4 and counts["kept"]["connections"] < 30 < counts["kept"]["requests"]
    assert counts["fresh"]["connections"] >= counts["fresh"]["requests"] > 30
    assert set(generator_capacities(run)) == {"kept", "fresh"}
    assert all(set(one["agents"]) == {"one", "two"} for one in run.environment["generator_capacities"].values())
    assert plan.hash == run.plan_hash
