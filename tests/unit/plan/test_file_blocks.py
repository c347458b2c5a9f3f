"""Plans of file-blocks and file-mix: defaults as published, specifications by name and file, refusals."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import PlanError
from bakeoff.formats.importers.file.icf import Icf, write_icf
from bakeoff.kinds.file_blocks.spec import FileBlocksWorkload
from bakeoff.load.load_step import Clients
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.access import find, shipped, spec_of
from bakeoff.run.kind import run_part


def resolve(suite: str, folder: Path, size: str = "full", **given: Any) -> Plan:
    contenders = [{"name": "a", "address": str(folder)}]
    return resolve_plan(PlanInput("test", {"suite": suite, "size": size}, given, contenders))


def workload(plan: Plan) -> dict[str, Any]:
    contender = plan.contenders[0]
    return run_part(plan.kind).check(plan).workload(contender, (contender.address,)).model_dump()


def test_the_full_suite_has_eighteen_sizes_and_five_patterns(tmp_path: Path) -> None:
    work = workload(resolve("file-blocks", tmp_path))
    cells = work["cells"]
    sizes = [cell["block_bytes"] for cell in cells[:18]]
    assert len(cells) == 90
    assert (sizes[0], sizes[1], sizes[-2], sizes[-1]) == (512, 1024, 32 << 20, 63 << 20)
    assert len({cell["pattern"] for cell in cells}) == 5
    assert (work["region_bytes"], work["cell_s"], work["outstanding"]) == (20_000_000_000, 30.0, 1)
    mixed = next(cell["lines"][0] for cell in cells if cell["pattern"] == "mixed")
    assert (mixed["read"], mixed["random"]) == (50, 50)


@pytest.mark.parametrize("size", ["quick", "long", "full"])
@pytest.mark.parametrize("suite", ["file-blocks", "file-mix"])
def test_the_work_of_every_size_fits_the_engine_and_plans_are_read_back(suite: str, size: str, tmp_path: Path) -> None:
    plan = resolve(suite, tmp_path, size)
    assert plan.settings.ends_with_its_work == (suite == "file-blocks"), "its length is a limit, told as such"
    TrialSpec.model_validate({"workload": workload(plan), "load": {"clients": 1}, "length_s": 1})
    assert Plan.from_dict(plan.to_dict()).hash == plan.hash


def test_specifications_are_named_or_come_from_an_iometer_file(tmp_path: Path) -> None:
    named = workload(resolve("file-blocks", tmp_path, "quick", access="file server, Database"))["cells"]
    assert [cell["pattern"] for cell in named] == ["File server", "Database"]
    assert (len(named[0]["lines"]), named[0]["block_bytes"]) == (8, None)
    path = tmp_path / "own.icf"
    path.write_text(write_icf(Icf(specs=((spec_of("Own", [(1024, 100, 10, 20)]), "NONE"),))))
    plan = resolve("file-blocks", tmp_path, "quick", icf=str(path))
    path.unlink()
    own = workload(Plan.from_dict(plan.to_dict()))["cells"]
    assert [(cell["pattern"], cell["lines"][0]["read"]) for cell in own] == [("Own", 10)]


@pytest.mark.parametrize(
    ("suite", "given", "part"),
    [
        ("file-blocks", {"patterns": "sideways"}, "sideways"),
        ("file-blocks", {"patterns": "mixed,mixed"}, "once"),
        ("file-blocks", {"access": "File serve"}, "File server"),
        ("file-blocks", {"access": "Database,File server,database"}, "is there twice"),
        ("file-blocks", {"icf": "/nowhere.icf"}, "cannot be read"),
        ("file-blocks", {"outstanding": 257}, "256"),
        ("file-blocks", {"outstanding": "4,1"}, "rising"),
        ("file-blocks", {"outstanding": "1,4", "clients": [1, 4]}, "1 × 4 and 4 × 1"),
        ("file-blocks", {"region": "1MiB", "block_sizes": "1MiB"}, "twice"),
        ("file-blocks", {"drop_caches": True}, "cache = cold"),
        ("file-blocks", {"block_sizes": "4KiB,4KiB"}, "different"),
        ("file-mix", {"direct": True}, "direct"),
        ("file-mix", {"once": True}, "loadfile"),
        ("file-mix", {"virtual_users": 10}, "9 virtual users"),
        ("file-mix", {"workspace": "1kB"}, "workspace"),
        ("file-mix", {"iteration_bytes": "2MB", "iteration_pause": "2s"}, "no longer than the rest after an iteration"),
    ],
)
def test_settings_that_do_not_fit_are_refused(suite: str, given: dict[str, Any], part: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        resolve(suite, tmp_path, "quick", **given)
    assert part in str(caught.value)


def test_several_depths_are_load_steps_and_one_is_stored_as_it_always_was(tmp_path: Path) -> None:
    plan = resolve("file-blocks", tmp_path, "quick", outstanding="1,4,16", clients="1,2")
    assert [str(load_step) for load_step in plan.settings.load_steps] == [
        "1 × 1",
        "2 × 1",
        "1 × 4",
        "2 × 4",
        "1 × 16",
        "2 × 16",
    ]
    assert Plan.from_dict(plan.to_dict()).hash == plan.hash
    one = resolve("file-blocks", tmp_path, "quick", outstanding="4")
    assert one.settings.load_steps == (Clients(1),) and one.settings.stored()["outstanding"] == 4
    spec = FileBlocksWorkload.model_validate(workload(plan))
    assert [spec.under(load_step).outstanding for load_step in plan.settings.load_steps] == [1, 1, 4, 4, 16, 16]


def test_buffers_that_do_not_fit_into_memory_are_refused(tmp_path: Path) -> None:
    plan = resolve("file-blocks", tmp_path, outstanding=256, clients=[60])
    with pytest.raises(PlanError, match="memory"):
        workload(plan)


def test_a_missing_loadfile_is_told(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="does not exist"):
        workload(resolve("file-mix", tmp_path, loadfile=str(tmp_path / "none.txt")))


def test_the_load_step_has_the_published_timing(tmp_path: Path) -> None:
    s = resolve("file-mix", tmp_path).settings
    assert (s.clients[:3], s.clients[-1], s.length_s, s.ramp_up_s, s.ramp_down_s, s.delay_s) == (
        (1, 4, 8),
        60,
        660,
        30,
        30,
        5,
    )


def test_shipped_specifications_are_the_known_ones() -> None:
    assert find("default").lines[0].row() == (2048, 100, 67, 100, 0, 1, 2048, 0)
    assert len(find("All in one").lines) == 29
    assert [line.share for line in find("File server").lines] == [10, 5, 5, 60, 2, 4, 4, 10]
    assert [line.share for line in find("Web server").lines] == [22, 15, 8, 23, 15, 2, 6, 7, 1, 1]
    assert find("Workstation").lines[0].random == 80
    assert len(shipped()) >= 36
