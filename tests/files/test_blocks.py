"""file-blocks on real file systems: memory and disk, blocking calls and rings, command to export."""

import csv
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec
from bakeoff.plan.settings.access import AccessSpec, find, pattern_spec
from bakeoff.store.sqlite.read import read_run
from tests.control import PATIENCE_S
from tests.files.appetite import appetite
from tests.files.mounts import LoopDisk, memory_of
from tests.forks import COMMAND


@pytest.fixture(params=["memory", "disk"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if request.param == "disk":
        yield tmp_path
        return
    with memory_of(tmp_path) as place:
        yield place
        assert list(place.iterdir()) == []


def blocks(folder: Path, specs: list[AccessSpec], clients: int, **changes: Any) -> dict[str, Any]:
    """The specification of a short trial."""
    cells = [
        {"pattern": s.name, "block_bytes": s.size, "lines": [line.model_dump() for line in s.lines]} for s in specs
    ]
    workload = {
        "kind": "file-blocks", "folder": str(folder), "region_bytes": 8 << 20, "outstanding": 1,
        "cells": cells, "cell_s": 0.1, "ramp_up_s": 0.02, "direct": False, "dsync": False, "verify": True,
        "cache": "warm", "drop_caches": False, "cold_command": None, "reuse": None, "keep": False,
        "carrier": "disk", "link_bytes_per_s": None, "min_transfers": 1, "cell_limit_s": PATIENCE_S,
        "stall_s": PATIENCE_S, **changes,
    }  # fmt: skip
    return {"workload": workload, "load": {"clients": clients}, "length_s": 600, "seed": 5}


def measure(folder: Path, specs: list[AccessSpec], clients: int = 1, **changes: Any) -> dict[str, Any]:
    """The cells of a short trial by operation."""
    spec = TrialSpec.model_validate(blocks(folder, specs, clients, **changes))
    outcome = LocalAgent().start(spec).go().wait(PATIENCE_S)
    assert outcome is not None
    result = outcome.result
    assert (result.fatal, result.errors) == (None, {})
    figures = result.workload or {}
    assert sum(cell["operations"] for cell in figures["cells"] if not cell["skipped"]) == result.operations
    return {cell["operation"]: cell for cell in figures["cells"]}


@pytest.mark.parametrize("outstanding", [1, 8])
def test_a_remount_before_each_cell_makes_its_cache_cold(disk: LoopDisk, outstanding: int) -> None:
    command = f"umount {disk.point} && {disk.mount}"
    specs = [pattern_spec(name, 64 << 10, 50, 50) for name in ("sequential_read", "random_write")]
    found = measure(disk.point, specs, 2, outstanding=outstanding, cache="cold", cold_command=command)
    assert len(found) == 2
    for cell in found.values():
        assert (cell["cache"]["level"], cell["cache"]["name"], cell["cache"]["proved"]) == (4, "command", True)
        assert cell["operations"] > 0


PATTERNS = ["sequential_read", "sequential_write", "random_read", "random_write", "mixed"]


@pytest.mark.parametrize(("outstanding", "clients"), [(1, 1), (1, 3), (2, 1), (32, 2), (256, 1)])
def test_every_pattern_runs_at_every_depth(folder: Path, outstanding: int, clients: int) -> None:
    specs = [pattern_spec(pattern, size, 50, 50) for pattern in PATTERNS for size in (512, 4096, 1 << 20)]
    depth = min(outstanding, 32) if outstanding > 32 else outstanding
    cells = measure(folder, specs if depth == outstanding else specs[:2], clients, outstanding=outstanding)
    for operation, cell in cells.items():
        pattern = operation.split("/")[0]
        assert cell["skipped"] is None and cell["damaged"] == 0
        assert cell["operations"] == cell["reads"]["ios"] + cell["writes"]["ios"] == sum(cell["bins"])
        assert cell["service"]["count"] == cell["operations"]
        if pattern.endswith("read"):
            assert cell["writes"]["ios"] == 0
        if pattern.endswith("write"):
            assert cell["reads"]["ios"] == 0
        if pattern == "mixed":  # a fair coin, 4.9 standard deviations; slow ones may be under way
            apart = abs(cell["reads"]["ios"] - cell["writes"]["ios"])
            assert apart <= 4.9 * cell["operations"] ** 0.5 + outstanding * clients


@pytest.mark.parametrize(("block", "outstanding"), [(4 << 10, 1), (256 << 10, 1), (4 << 10, 32)])
def test_sixty_clients_need_their_blocks_and_a_mebibyte_each_at_most(
    folder: Path, block: int, outstanding: int
) -> None:
    specs = [pattern_spec(pattern, block, 50.0, 50.0) for pattern in PATTERNS]
    needs = appetite(blocks(folder, specs, 60, outstanding=outstanding, cell_s=0.3))
    # On a busy machine some clients may get no turn in that time; they have their memory from the start.
    assert (needs["fatal"], needs["errors"]) == (None, {}) and needs["operations"] > 0
    assert needs["grown"] <= 60 * (block * outstanding + (1 << 20)), f"{needs['grown'] / 2**20:.1f} MiB"


def test_named_specifications_run_with_all_their_sizes(folder: Path) -> None:
    cells = measure(folder, [find("File server"), find("Web server"), find("Streaming write")], outstanding=8)
    assert list(cells) == ["File server", "Web server", "Streaming write"]
    server = cells["File server"]
    mean = server["bytes"] / server["operations"]
    expected = sum(line.size * line.share for line in find("File server").lines) / 100
    # The mean of so many draws: six times its own deviation is met less than once in a million.
    deviation = sum(line.share / 100 * (line.size - expected) ** 2 for line in find("File server").lines) ** 0.5
    assert abs(mean - expected) <= 6 * deviation / server["operations"] ** 0.5
    assert cells["Web server"]["writes"]["ios"] == 0


def test_direct_io_comes_from_the_disk_and_sizes_that_do_not_fit_are_skipped(disk: LoopDisk) -> None:
    """On a disk of its own: what else the machine reads meanwhile counts on other devices."""
    specs = [pattern_spec("random_read", 100, 50, 50), pattern_spec("random_read", 4096, 50, 50)]
    cells = measure(disk.point, specs, direct=True, outstanding=8)
    assert "multiples of" in cells["random_read/100"]["skipped"]
    assert cells["random_read/4K"]["cached"] is False
    warm = measure(disk.point, specs[1:])["random_read/4K"]
    assert warm["cached"] is True and " % of" in warm["cached_reason"]


def test_a_cold_cell_is_proved_to_be_cold(disk: LoopDisk) -> None:
    cell = measure(disk.point, [pattern_spec("random_read", 65536, 50, 50)], cache="cold")["random_read/64K"]
    assert cell["cache"]["asked"] == "cold" and cell["cache"]["level"] >= 2
    assert cell["cache"]["resident_pages"] == 0 and cell["cache"]["proved"]


def bakeoff(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=check, timeout=PATIENCE_S)


def test_a_run_from_the_command_line_leaves_nothing_and_is_exported(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for each in folders:
        each.mkdir()
    run, out = tmp_path / "r.bakeoff", tmp_path / "r.csv"
    bakeoff(
        "run", "file-blocks", f"a={folders[0]}", f"b={folders[1]}", "--size", "quick", "--blocks", "1",
        "--block-sizes", "4KiB,64KiB", "--cell-time", "100ms", "--region", "8MiB", "--outstanding", "4",
        "-o", str(run),
    )  # fmt: skip
    assert [list(each.iterdir()) for each in folders] == [[], []]
    trials = read_run(run).trials
    assert [trial.state for trial in trials] == ["ok", "ok"]
    assert [len(trial.workload["cells"]) for trial in trials] == [10, 10]
    bakeoff("export", str(run), "--to", "iometer-csv", "-o", str(out))
    rows = [row for row in csv.reader(out.open()) if row and row[0] == "ALL"]
    assert len(rows) == 20 and all(len(row) == 80 for row in rows)
    refused = bakeoff("export", str(run), "--to", "iometer-cvs", check=False)
    assert refused.returncode == 2 and "iometer-csv" in refused.stderr


def test_specifications_are_written_and_read_by_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "all.icf"
    bakeoff("access", "Database", "--write", str(path))
    shown = bakeoff("access", "--icf", str(path)).stdout
    assert "Database" in shown and "8192" in shown
    missing = bakeoff("access", "Databse", check=False)
    assert missing.returncode == 2 and "Database" in missing.stderr


def test_the_engine_and_the_control_plane_agree_on_the_fields(tmp_path: Path) -> None:
    engine = LocalAgent()
    session = engine.start(
        TrialSpec.model_validate({"workload": {**_smallest(tmp_path)}, "load": {"clients": 1}, "length_s": 10})
    )
    outcome = session.go().wait(PATIENCE_S)
    assert outcome is not None and outcome.result.fatal is None
    text = json.dumps(outcome.result.workload)
    for field in ("ios_per_s", "rate_mb_s", "cpu_us_per_io", "cached_reason", "carried_bytes", "per_client"):
        assert f'"{field}"' in text


def _smallest(folder: Path) -> dict[str, Any]:
    return {
        "kind": "file-blocks", "folder": str(folder), "region_bytes": 1 << 20, "outstanding": 1,
        "cells": [{"pattern": "x", "block_bytes": None, "lines": [find("Default").lines[0].model_dump()]}],
        "cell_s": 0.05, "ramp_up_s": 0.0, "direct": False, "dsync": False, "verify": True, "cache": "warm",
        "drop_caches": False, "cold_command": None, "reuse": None, "keep": False, "carrier": "unknown",
        "link_bytes_per_s": None, "min_transfers": 1, "cell_limit_s": PATIENCE_S, "stall_s": PATIENCE_S,
    }  # fmt: skip
