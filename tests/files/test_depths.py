"""Several queue depths in one run: each load step has its own, as the engine says, and all cells are those of one
region.
"""

from pathlib import Path

from bakeoff.agents.local import LocalAgent
from bakeoff.compare import compare_run
from bakeoff.kinds.file_blocks.figures import BlockFigures
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.run.driver import start_run
from bakeoff.store.sqlite.read import read_run
from tests.unit.run.fake import Notebook


def test_each_load_step_of_a_run_has_its_own_depth(tmp_path: Path) -> None:
    settings = {
        "outstanding": "1,4", "clients": "1,3", "block_sizes": "4KiB", "patterns": "random_read", "region": "1MiB",
        "cell_time": "30ms", "ramp_up": "0s",
    }  # fmt: skip
    contenders = [{"name": "a", "address": str(tmp_path)}]
    plan = resolve_plan(PlanInput("", {"suite": "file-blocks", "blocks": "1"}, settings, contenders))
    path = tmp_path / "r.bakeoff"
    start_run(plan, path, [LocalAgent()], Notebook())
    run = read_run(path)
    assert [str(load_step) for load_step in run.load_steps] == ["1 × 1", "3 × 1", "1 × 4", "3 × 4"]
    for trial in run.trials:
        (cell,) = trial.figures(BlockFigures).cells or ()
        assert {"clients": len(trial.per_client), "outstanding": cell.outstanding} == trial.load_step.to_json()
    found = compare_run(run)
    assert found.cells is not None
    assert [level.load_step for level in found.cells.measured] == list(run.load_steps)
