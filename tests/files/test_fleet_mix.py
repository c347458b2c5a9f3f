"""The office mix by several machines on one export: the same files whoever has the clients, and figures that add up."""

from pathlib import Path

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import PlanError
from bakeoff.run.driver import start_run
from bakeoff.run.fleet.session import FleetOutcome
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.store.sqlite.read import read_run
from tests.control import PATIENCE_S
from tests.files.test_mix import mix
from tests.unit.run.fake import Notebook, plan_for

CLIENTS, OPERATIONS = 4, 6_000


def divided(folder: Path, agents: int) -> FleetOutcome:
    workload = mix(folder, workspace_bytes=2_000_000, keep=True)
    given = {"load": {"clients": CLIENTS}, "length_s": 600.0, "max_operations": OPERATIONS, "seed": 7}
    spec = TrialSpec.model_validate({"workload": workload, **given})
    fleet = Fleet([LocalAgent(f"m{number}") for number in range(agents)])
    outcome = fleet.start({agent.name: spec for agent in fleet.agents}).wait(PATIENCE_S)
    assert outcome is not None and outcome.whole is not None
    return outcome


def lasting(folder: Path) -> dict[str, int]:
    """The files that clients keep and their sizes, by their names below the work folders."""
    files = [path for work in folder.iterdir() for path in work.rglob("FILE*.DAT")]
    return {
        str(path.relative_to(folder).relative_to(path.relative_to(folder).parts[0])): path.stat().st_size
        for path in files
    }


def test_what_is_touched_does_not_depend_on_how_many_machines_there_are(tmp_path: Path) -> None:
    found = {}
    for agents in (1, 2, 4):
        folder = tmp_path / str(agents)
        folder.mkdir()
        outcome = divided(folder, agents)
        assert outcome.whole is not None
        result = outcome.whole.result
        figures = result.workload or {}
        assert (result.fatal, result.errors, result.operations) == (None, {}, OPERATIONS)
        assert figures["unexpected"] == {} and figures["throughput_mbit_s"] > 0 and figures["mode"] == "office"
        assert {client.client for client in result.per_client} == set(range(CLIENTS))
        assert sum(client.operations for client in result.per_client) == OPERATIONS
        assert len(list(folder.iterdir())) == agents, "a work folder for each machine"
        found[agents] = (lasting(folder), figures["data_bytes_per_client"])
        parts = [part.outcome.result for part in outcome.parts if part.outcome is not None]
        assert sum(part.operations for part in parts) == OPERATIONS
        assert result.bytes_in == sum(part.bytes_in for part in parts)
        if agents > 1:
            touched = [page for part in parts for page in (part.workload or {})["touched"]]
            assert figures["touched_bytes"] == sum(touched) > 0
            assert figures["touched_bytes_per_client"]["max"] == max(touched) and len(touched) == CLIENTS
    assert found[1] == found[2] == found[4]
    names = found[1][0]
    assert {name.split("/")[0] for name in names} == {f"c{client:05}" for client in range(CLIENTS)}


def test_cells_are_not_divided_and_why_is_said(tmp_path: Path) -> None:
    loadfile = tmp_path / "x.txt"
    loadfile.write_text('Mkdir "a" SUCCESS\n')
    workload = mix(tmp_path, loadfile=str(loadfile))
    spec = TrialSpec.model_validate({"workload": workload, "load": {"clients": 2}, "length_s": 1.0})
    fleet = Fleet([LocalAgent("one"), LocalAgent("two")])
    why = "cannot be divided among several machines: the clients of a loadfile wait for each other"
    with pytest.raises(PlanError, match=why):
        fleet.accept({"one": spec, "two": spec})


def test_each_machine_works_in_its_own_mount(tmp_path: Path) -> None:
    """A run whose second machine has the share elsewhere; nothing of it is left in either place."""
    here, there, path = tmp_path / "here", tmp_path / "there", tmp_path / "x.bakeoff"
    here.mkdir(), there.mkdir()
    tables = {"two": {"addresses": {"a": str(there)}}}
    once = {"clients": "2", "operations": "3000", "length": "600s", "workspace": "2MB", "stagger": "0s"}
    patient = {"start_spread": "60s"}
    plan = plan_for(str(here), suite="file-mix", plan={"blocks": 1}, fleet=patient, agents=tables, **once)
    start_run(plan, path, [LocalAgent("one"), LocalAgent("two")], Notebook())
    run = read_run(path)
    (trial,) = run.trials
    assert (trial.state, trial.operations, trial.errors_total) == ("ok", 3_000, 0), trial.reason
    assert [(share.agent, share.clients, share.operations) for share in trial.per_agent] == [
        ("one", 1, 1_500),
        ("two", 1, 1_500),
    ]
    assert run.environment["content"]["agents"]["two"]["contenders"]["a"]["file_system"]
    assert list(here.iterdir()) == list(there.iterdir()) == []
