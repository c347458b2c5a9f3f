"""file-matrix on real file systems: several clients, and what is counted when they stop each other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.kinds.file_matrix.plan import AUTOMATIC
from tests.control import PATIENCE_S
from tests.files.appetite import appetite
from tests.files.mounts import LoopDisk, command, memory_of

KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder on tmpfs that must be empty at the end."""
    with memory_of(tmp_path) as place:
        yield place
        assert list(place.iterdir()) == []


def matrix(folder: Path, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "file-matrix", "folder": str(folder), "pairs": [[64 * KIB, 4 * KIB]], "tests": ["write", "read"],
        "keep": False, "fsync": False, "close": False, "direct": False, "dsync": False, "sync": False, "mmap": False,
        "verify": True, "cache": "warm", "drop_caches": False, "cold_command": None, "stonewall": False,
        "mixed_read_percent": None, "stride": 17, "carrier": "memory", "link_bytes_per_s": None,
        "stall_s": PATIENCE_S, **changes,
    }  # fmt: skip


def measure(folder: Path, clients: int = 1, **changes: Any) -> TrialResult:
    workload = matrix(folder, **changes)
    spec = TrialSpec.model_validate({"workload": workload, "load": {"clients": clients}, "length_s": 600, "seed": 5})
    outcome = LocalAgent().start(spec).go().wait(PATIENCE_S)
    assert outcome is not None
    return outcome.result


def cells(result: TrialResult) -> list[dict[str, Any]]:
    assert (result.fatal, result.errors) == (None, {})
    found = (result.workload or {})["cells"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("clients", [2, 6])
def test_short_files_with_stonewall_have_sane_times_and_every_idle_client_is_named(memory: Path, clients: int) -> None:
    pairs = [[64 * KIB, 4 * KIB], [128 * KIB, 4 * KIB], [4 * MIB, 4 * KIB]]
    result = measure(memory, clients, pairs=pairs, tests=["write", "read", "random_read"], stonewall=True)
    for cell in cells(result):
        moved = [part[0] for part in cell["per_client"]]
        assert sum(moved) == cell["bytes"] and min(moved) == cell["slowest_bytes"]
        assert sum(part[1] for part in cell["per_client"]) == pytest.approx(cell["rate_kib_s"])
        assert max(moved) == cell["file_bytes"], "the first client does all of its file"
        assert cell["idle_clients"] == moved.count(0) < clients
        assert 0 < cell["first_done_s"] <= cell["last_done_s"] < result.elapsed_s
        assert cell["whole"] == (min(moved) == cell["file_bytes"])
        fastest = cell["file_bytes"] / KIB / cell["fastest_kib_s"]
        assert cell["last_done_s"] >= 0.99 * fastest, "no client is done before its own clock says so"


def test_a_processor_that_is_not_there_is_told(memory: Path) -> None:
    workload = matrix(memory, pairs=[[64 * KIB, 4 * KIB]], tests=["write"])
    spec = TrialSpec.model_validate(
        {"workload": workload, "load": {"clients": 1}, "length_s": 600, "seed": 5, "pin": [9_999]}
    )
    session = LocalAgent().start(spec).go()
    outcome = session.wait(PATIENCE_S)
    assert outcome is not None and outcome.result.fatal is None
    (warning,) = [event for event in session.drain_events() if event.level == "warning"]
    assert "could not be bound to processor 9999" in warning.text


def test_without_stonewall_all_of_every_file_is_done_inside_the_clock(memory: Path) -> None:
    for cell in cells(measure(memory, 4, pairs=[[1 * MIB, 16 * KIB]])):
        assert cell["bytes"] == 4 * MIB and cell["operations"] == 256 == cell["service"]["count"]
        assert cell["whole"] and cell["idle_clients"] == 0 and cell["slowest_bytes"] == MIB


STREAMS = ["fwrite", "refwrite", "fread", "refread"]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("record", [4 * KIB, 256 * KIB])
def test_sixty_clients_need_a_record_and_a_mebibyte_each_at_most(memory: Path, record: int, streams: bool) -> None:
    """A C stream has a buffer of one record beside that of its user: so IOzone defines its tests."""
    pairs = [[size, record] for size in (256 * KIB, 512 * KIB, 1 * MIB)]
    tests = [test for test in AUTOMATIC if streams or test not in STREAMS]
    workload = matrix(memory, pairs=pairs, tests=tests)
    spec = {"workload": workload, "load": {"clients": 60}, "length_s": 600}
    needs = appetite(spec)
    assert needs["fatal"] is None and needs["operations"] == 60 * len(tests) * sum(size // record for size, _ in pairs)
    assert needs["grown"] <= 60 * (record * (1 + streams) + MIB), f"{needs['grown'] / MIB:.1f} MiB"


@pytest.mark.parametrize(
    ("changes", "level", "name"),
    [
        ({}, 2, "dropped"),
        ({"drop_caches": True}, 3, "drop_caches"),
        ({"cold_command": "umount {point} && {mount}"}, 4, "command"),
    ],
)
def test_every_rung_of_the_cold_ladder_is_reached_and_proved(
    disk: LoopDisk, changes: dict[str, Any], level: int, name: str
) -> None:
    if "cold_command" in changes:
        changes = {"cold_command": changes["cold_command"].format(point=disk.point, mount=disk.mount)}
    tests, pairs = ["write", "read", "random_read"], [[4 * MIB, 64 * KIB]]
    for clients in (1, 2):
        result = measure(disk.point, clients, pairs=pairs, tests=tests, carrier="disk", cache="cold", **changes)
        write, *reads = cells(result)
        assert (write["cache"]["level"], write["cache"]["name"], write["cache"]["asked"]) == (1, "fresh", "cold")
        for cell in reads:
            assert (cell["cache"]["level"], cell["cache"]["name"]) == (level, name)
            assert cell["cache"]["resident_pages"] == 0 and cell["cache"]["proved"]
            assert cell["cached"] is False and cell["carried_bytes"] >= cell["bytes"], cell["cached_reason"]
    warm = cells(measure(disk.point, pairs=pairs, tests=tests, carrier="disk"))[1]
    assert (warm["cache"]["level"], warm["cache"]["proved"], warm["cached"]) == (0, False, True)
    assert warm["cache"]["resident_share"] == pytest.approx(1.0)


def test_what_is_mounted_again_from_another_device_is_counted_there(disk: LoopDisk, tmp_path: Path) -> None:
    """Between `umount` and `mount` something else takes the loop device that the share had."""
    taken = tmp_path / "taken.image"
    taken.write_bytes(bytes(MIB))
    remount = f"umount {disk.point} && losetup --find {taken} && {disk.mount}"
    tests, pairs = ["write", "read", "random_read"], [[4 * MIB, 64 * KIB]]
    before = disk.point.stat().st_dev
    try:
        result = measure(disk.point, 1, pairs=pairs, tests=tests, carrier="disk", cache="cold", cold_command=remount)
        assert disk.point.stat().st_dev != before
    finally:
        for line in command("losetup", "--associated", taken).splitlines():
            command("losetup", "--detach", line.split(":")[0])
    for cell in cells(result)[1:]:
        assert cell["cached"] is False and cell["carried_bytes"] >= cell["bytes"], cell["cached_reason"]


def test_a_cold_command_that_fails_is_told(memory: Path) -> None:
    measured = measure(memory, tests=["read"], cache="cold", cold_command="echo target is busy >&2; exit 32").fatal
    assert measured is not None and "makes caches cold failed" in measured
    assert measured.endswith("; it ended with exit code 32: target is busy")
