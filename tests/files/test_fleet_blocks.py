"""Cells by several machines: one window for all of them, a part of the region for each, and figures that add up."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import PlanError
from bakeoff.plan.settings.access import pattern_spec
from bakeoff.run.driver import start_run
from bakeoff.run.fleet.session import FleetOutcome
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.run.kind import run_part
from bakeoff.store.sqlite.read import read_run
from tests.control import PATIENCE_S
from tests.files.test_blocks import blocks
from tests.unit.run.fake import Notebook, plan_for
from tests.unit.run.fake import result as any_result

CLIENTS, REGION = 4, 9 << 20
SPECS = [pattern_spec(name, 64 << 10, 50, 50) for name in ("random_read", "sequential_write", "mixed")]


def divided(folder: Path, agents: int, **changes: Any) -> FleetOutcome:
    spec = TrialSpec.model_validate(blocks(folder, SPECS, CLIENTS, region_bytes=REGION, keep=True, **changes))
    fleet = Fleet([LocalAgent(f"m{number}") for number in range(agents)])
    outcome = fleet.start({agent.name: spec for agent in fleet.agents}).wait(PATIENCE_S)
    assert outcome is not None and outcome.whole is not None
    assert (outcome.whole.result.fatal, outcome.whole.result.errors, outcome.lost) == (None, {}, "")
    return outcome


@pytest.mark.parametrize("outstanding", [1, 4])
def test_what_is_touched_and_what_is_told_do_not_depend_on_how_many_machines_there_are(
    tmp_path: Path, outstanding: int
) -> None:
    shapes = []
    for agents in (1, 3):
        folder = tmp_path / str(agents)
        folder.mkdir()
        outcome = divided(folder, agents, outstanding=outstanding)
        assert outcome.whole is not None
        result = outcome.whole.result
        figures = result.workload or {}
        regions = [path.stat().st_size for path in folder.rglob("region")]
        assert len(regions) == agents and sum(regions) == REGION == figures["region_bytes"], "no byte is two machines'"
        parts = [part.outcome.result for part in outcome.parts if part.outcome is not None]
        assert sum(part.operations for part in parts) == result.operations
        assert result.operations == sum(cell["operations"] for cell in figures["cells"])
        assert result.window_s == pytest.approx(sum(cell["elapsed_s"] for cell in figures["cells"]))
        for number, cell in enumerate(figures["cells"]):
            assert cell["skipped"] is None and cell["operations"] > 0 and cell["damaged"] == 0
            assert len(cell["per_client"]) == cell["clients"] == CLIENTS
            assert cell["rate_kib_s"] == pytest.approx(sum(rate for _, rate in cell["per_client"]))
            assert cell["bytes"] == sum(moved for moved, _ in cell["per_client"]) == 65_536 * cell["operations"]
            assert cell["service"]["count"] == cell["operations"] == sum(cell["bins"])
            assert (cell["late_s"] is not None) == (agents > 1)
            if agents > 1 and outstanding > 1:  # counted from one moment, whichever clock a machine has
                own = [one[number] for part in parts for one in (part.workload or {})["book"]["sessions"]]
                assert {(one["from_ns"], one["to_ns"]) for one in own if not one["stretched"]} <= {
                    (2 * 10**7, 12 * 10**7)
                }
        shapes.append([{name: type(value) for name, value in cell.items()} for cell in figures["cells"]])
    late = {"late_s": float}
    assert [cell | late for cell in shapes[0]] == [cell | late for cell in shapes[1]], "one form of result"


def test_a_part_that_has_no_room_for_its_transfers_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    spec = TrialSpec.model_validate(blocks(tmp_path, SPECS, CLIENTS, region_bytes=256 << 10))
    fleet = Fleet([LocalAgent(f"m{number}") for number in range(3)])
    with pytest.raises(PlanError, match="make region larger, or use fewer agents"):
        fleet.accept({agent.name: spec for agent in fleet.agents})
    LocalAgent().accept(spec)


def test_each_machine_works_in_its_own_mount_and_the_run_file_has_one_rate_of_all(tmp_path: Path) -> None:
    here, there, path = tmp_path / "here", tmp_path / "there", tmp_path / "x.bakeoff"
    here.mkdir(), there.mkdir()
    tables = {"two": {"addresses": {"a": str(there)}}}
    short = {"clients": "1,2", "block_sizes": "4KiB", "patterns": "random_read,random_write", "cell_time": "200ms"}
    plan = plan_for(
        str(here), suite="file-blocks", plan={"blocks": 1}, fleet={"start_spread": "60s"}, agents=tables, region="4MB",
        **short,
    )  # fmt: skip
    start_run(plan, path, [LocalAgent("one"), LocalAgent("two")], Notebook())
    run = read_run(path)
    assert [(trial.state, trial.reason) for trial in run.trials] == [("ok", "")] * 2
    for trial in run.trials:
        assert [share.agent for share in trial.per_agent] == ["one", "two"][: trial.load_step.clients]
        assert sum(share.operations for share in trial.per_agent) == trial.operations > 0
        assert len(trial.workload["cells"]) == 2 and "book" not in trial.workload
    assert list(here.iterdir()) == list(there.iterdir()) == []


@pytest.mark.parametrize(
    ("late_s", "elapsed_s", "spread_s", "why"),
    [
        (0.004, 0.1, 0.005, None),
        (0.29, 30.0, 0.005, None),
        (0.31, 30.0, 0.005, "x began 310"),
        (0.31, 30.0, 0.5, None),
        (None, 30.0, 0.005, None),
    ],
)
def test_a_cell_that_machines_began_apart_voids_its_trial(
    late_s: float | None, elapsed_s: float, spread_s: float, why: str | None
) -> None:
    cells = [{"operation": "x", "late_s": late_s, "elapsed_s": elapsed_s}, {"operation": "y", "late_s": 0.0}]
    found = run_part("file-blocks").apart(any_result(workload={"cells": cells}), spread_s)
    assert (found is None) == (why is None)
    if found is not None:
        assert found.startswith(
            "the agents did not begin x together: one of them 310.0 ms after the others, over the limit of 300 ms"
        )
