"""Each contender is asked as its own settings say, in every trial, warm-up and checks included: servers count it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.compare.validity.generator_capacity import generator_capacities
from bakeoff.core.errors import ContenderError
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.run.driver import resume_run, start_run
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run
from tests.conftest import Target
from tests.control import went_well
from tests.http2_server import Http2Server
from tests.unit.run.fake import Notebook

pytestmark = pytest.mark.usefixtures("patient")

SETTINGS = {"clients": [1, 3], "operations": 200}
BLOCKS = 2


def plan_of(
    contenders: Mapping[str, tuple[str, dict[str, Any]]], settings: Mapping[str, Any] = MappingProxyType(SETTINGS)
) -> Plan:
    """Contenders with addresses and settings of their own."""
    tables = [
        {"name": name, "address": f"http://{address}/page", "settings": own}
        for name, (address, own) in contenders.items()
    ]
    return resolve_plan(PlanInput("test", {"suite": "web-url", "blocks": BLOCKS}, dict(settings), tables))


def opened(run: RunRecord, name: str) -> int:
    """Connections that trials of a contender opened, ramps included."""
    return sum(trial.connections["opened"] for trial in run.trials if trial.contender == name)


def test_connections_are_kept_for_one_and_not_for_the_other(target: Callable[..., Target], tmp_path: Path) -> None:
    """Also after the run was gone on with."""
    kept, fresh = target(), target()
    plan = plan_of({"kept": (kept.address, {}), "fresh": (fresh.address, {"keep_alive": False})})
    path, agent = tmp_path / "r.bakeoff", LocalAgent()
    start_run(plan, path, [agent], Notebook(), until_block=1)
    assert set(generator_capacities(read_run(path))) == {"kept", "fresh"}
    before = generator_capacities(read_run(path))
    resume_run(path, [agent], Notebook(), trust=True)
    run = read_run(path)
    assert run.is_complete and len(run.trials) == 2 * 2 * BLOCKS and not sum(t.errors_total for t in run.trials)
    assert opened(run, "kept") == (1 + 3) * BLOCKS
    counts = {"kept": kept.counts(), "fresh": fresh.counts()}
    checks = counts["kept"]["connections"] - opened(run, "kept")
    assert 0 < checks < 20, "the checks of start and resume have connections of their own"
    # The checks ask as well.
    asked = {name: sum(t.operations for t in run.trials if t.contender == name) for name in counts}
    assert counts["kept"]["requests"] > asked["kept"] > 10 * counts["kept"]["connections"]
    assert counts["fresh"]["connections"] >= counts["fresh"]["requests"] > asked["fresh"] > 100
    assert counts["fresh"]["connections"] - counts["fresh"]["requests"] < 20
    assert generator_capacities(run) == before, "measured once"
    assert before["kept"].words.startswith("kept connections")
    assert before["fresh"].words.startswith("a connection for each request")
    assert before["fresh"].operations_per_s != before["kept"].operations_per_s


def test_each_is_spoken_to_in_its_own_version(target: Callable[..., Target], tmp_path: Path) -> None:
    """Neither server understands the other's version: one trial, or one look before, in it would be an error."""
    old = target()
    with Http2Server() as new:
        plan = plan_of({"old": (old.address, {}), "new": (new.address, {"http": "2"})})
        path = tmp_path / "r.bakeoff"
        notes = Notebook()
        start_run(plan, path, [LocalAgent()], notes)
        run = read_run(path)
        counted = dict(new.counts)
    assert all(went_well(trial.state, trial.reason) and not trial.errors_total for trial in run.trials)
    assert opened(run, "new") == (1 + 3) * BLOCKS
    assert counted["requests"] > sum(t.operations for t in run.trials if t.contender == "new") > 0
    words = {name: capacity.words for name, capacity in generator_capacities(run).items()}
    assert words["old"].startswith("kept connections") and words["new"].startswith("HTTP/2, kept connections")
    assert not any("near-generator-capacity" in trial.marks for trial in run.trials if trial.contender == "new")
    texts = [event.text for event in notes.events]
    assert "streams at once on a connection differ: old tells none, new 100" in texts, "checks ask as clients will"
    stored = json.loads(json.dumps(run.plan))
    assert [contender.get("settings") for contender in stored["contenders"]] == [None, {"http": "2"}]
    again = Plan.from_dict(stored)
    assert again.hash == plan.hash and again.settings_of("new") == plan.settings_of("new")


def test_who_does_not_speak_it_is_refused_before_timing(target: Callable[..., Target], tmp_path: Path) -> None:
    one, other = target(), target()
    plan = plan_of({"old": (one.address, {}), "new": (other.address, {"http": "2"})})
    with pytest.raises(ContenderError, match=r"^new "):
        start_run(plan, tmp_path / "r.bakeoff", [LocalAgent()], Notebook())


def test_headers_go_to_one_alone(target: Callable[..., Target], tmp_path: Path) -> None:
    """By the bytes that servers were sent: those of the header, once in each request."""
    header = "X-Own: " + "x" * 100
    plain, own = target(), target()
    plan = plan_of(
        {"plain": (plain.address, {}), "own": (own.address, {"headers": [header]})},
        {"clients": [1, 3], "operations": 200},
    )
    path = tmp_path / "r.bakeoff"
    start_run(plan, path, [LocalAgent()], Notebook())
    run = read_run(path)
    out = {
        name: {trial.bytes_out / trial.operations for trial in run.trials if trial.contender == name}
        for name in ("plain", "own")
    }
    assert {each - next(iter(out["plain"])) for each in out["own"]} == {len(header) + 2}
