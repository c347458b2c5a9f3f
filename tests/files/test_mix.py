"""file-mix on real file systems, and Debian's loadfile unchanged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec
from tests.control import PATIENCE_S
from tests.files.appetite import appetite
from tests.files.mounts import memory_of

LOADFILE = Path("/usr/share/dbench/client.txt")
LINES = 458_344
CYCLE = 3_553  # calls
MIB = 1 << 20
LARGEST = 64 << 10  # bytes of a transfer
COUNTS = {
    "ReadX": 124_199, "NTCreateX": 79_230, "QUERY_PATH_INFORMATION": 71_814, "Close": 58_200,
    "WriteX": 39_502,
    "FIND_FIRST": 27_765, "Unlink": 16_000, "QUERY_FS_INFORMATION": 13_168, "QUERY_FILE_INFORMATION": 12_585,
    "SET_FILE_INFORMATION": 6_454, "Flush": 5_553, "Rename": 3_355, "LockX": 258, "UnlockX": 258,
    "Deltree": 2,
    "Mkdir": 1,
}  # fmt: skip


def mix(folder: Path, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "file-mix", "folder": str(folder), "loadfile": None, "once": False, "resolve": True,
        "workspace_bytes": 20_000_000, "flush": True, "verify": True, "reuse": None, "keep": False,
        "link_bytes_per_s": None, "iteration_bytes": None, "iteration_pause_s": 0.0, "stall_s": PATIENCE_S, **changes,
    }  # fmt: skip


def measure(
    folder: Path,
    clients: int = 1,
    virtual_users: int = 1,
    length_s: float = 600.0,
    max_operations: int | None = None,
    **changes: Any,
) -> TrialResult:
    workload = mix(folder, **changes)
    spec = TrialSpec.model_validate(
        {
            "workload": workload,
            "load": {"clients": clients},
            "virtual_users": virtual_users,
            "length_s": length_s,
            "max_operations": max_operations,
            "seed": 7,
        }
    )
    outcome = LocalAgent().start(spec).go().wait(PATIENCE_S)
    assert outcome is not None
    return outcome.result


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory that must be empty at the end."""
    with memory_of(tmp_path) as place:
        yield place
        assert list(place.iterdir()) == []


@pytest.mark.parametrize(("clients", "virtual_users"), [(1, 1), (3, 1), (2, 3)])
def test_the_office_mix_runs_without_surprise(tmp_path: Path, clients: int, virtual_users: int) -> None:
    result = measure(tmp_path, clients, virtual_users, max_operations=3 * CYCLE)
    figures = result.workload or {}
    assert (result.fatal, result.errors, figures["unexpected"]) == (None, {}, {})
    assert figures["data_bytes_per_client"] == pytest.approx(23.97e6, rel=0.01)
    assert figures["mean_response_ms"] > 0 and figures["throughput_mbit_s"] > 0
    names = {operation.name: operation for operation in result.per_operation}
    # Every time reached the histograms that the sessions share.
    assert all(operation.service.count == operation.operations for operation in result.per_operation)
    assert names["read"].bytes_in > 0 and names["write"].bytes_out > 0 and names["close"].bytes_in == 0
    assert list(tmp_path.iterdir()) == []


def test_a_cycle_of_the_office_mix_has_the_published_shares(tmp_path: Path) -> None:
    """As many calls as a cycle has, by one client: none of them is chance."""
    result = measure(tmp_path, max_operations=CYCLE)
    assert (result.fatal, result.errors, result.operations) == (None, {}, CYCLE)
    names = {operation.name: operation.operations for operation in result.per_operation}
    assert (names["read"] + names["write"]) / CYCLE == pytest.approx(0.357, abs=0.0005)


def test_sixty_clients_need_no_more_than_a_transfer_and_a_mebibyte_each(memory: Path) -> None:
    spec = {"workload": mix(memory, workspace_bytes=2_000_000), "load": {"clients": 60}, "length_s": 600.0, "seed": 7}
    needs = appetite({**spec, "max_operations": 60 * CYCLE})
    assert (needs["fatal"], needs["errors"], needs["operations"]) == (None, {}, 60 * CYCLE)
    assert needs["grown"] <= 60 * (LARGEST + MIB), f"{needs['grown'] / MIB:.1f} MiB"


def test_the_touched_working_set_is_that_of_a_client_not_of_its_threads(memory: Path) -> None:
    touched = []
    for virtual_users in (1, 3):
        result = measure(memory, 1, virtual_users, verify=False, max_operations=100 * CYCLE)
        figures = result.workload or {}
        touched.append(figures["touched_bytes_per_client"]["mean"])
    assert touched[0] == pytest.approx(24e6, rel=0.06)
    assert touched[1] == pytest.approx(touched[0], rel=0.03)


def test_every_line_of_debians_loadfile_is_replayed_once(tmp_path: Path) -> None:
    result = measure(tmp_path, length_s=3600, loadfile=str(LOADFILE), once=True)
    figures = result.workload or {}
    assert (result.fatal, result.errors, figures["unexpected"]) == (None, {}, {}), figures["first_unexpected"]
    ours = {operation.name: operation.operations for operation in result.per_operation if operation.operations}
    assert sum(ours.values()) == LINES and ours == COUNTS
    assert (result.bytes_in, result.bytes_out) == (1_472_088_767, 1_015_974_170)
    assert figures["touched_bytes"] == pytest.approx(24e6, rel=0.03)


def test_no_pause_of_a_loadfile_outlasts_the_trial(tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text('Mkdir "\\clients" 0x00000000\nSLEEP 3600000000\n')
    result = measure(tmp_path, length_s=5.0, loadfile=str(long))
    assert (result.fatal, result.operations) == (None, 1) and result.elapsed_s < 3600


def test_several_clients_replay_in_folders_of_their_own(tmp_path: Path) -> None:
    short = tmp_path / "short.txt"
    short.write_text("".join(LOADFILE.open().readlines()[:3000]))
    work = tmp_path / "work"
    work.mkdir()
    result = measure(work, clients=4, loadfile=str(short), once=True, length_s=3600)
    figures = result.workload or {}
    assert (result.errors, figures["unexpected"]) == ({}, {}), figures["first_unexpected"]
    assert result.operations == 4 * 3000
    assert list(work.iterdir()) == []


def test_a_broken_loadfile_is_told_with_its_line(tmp_path: Path) -> None:
    from bakeoff.core.errors import PlanError

    broken = tmp_path / "broken.txt"
    broken.write_text('Mkdir "\\clients" NT_STATUS_OK\nDance 1 NT_STATUS_OK\n')
    with pytest.raises(PlanError, match='line 2: "Dance"'):
        measure(tmp_path, loadfile=str(broken))
