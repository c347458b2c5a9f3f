"""file-mix by NFS without a mount, against a server that counts what it is asked and fails as it is told."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.result import TrialResult
from tests.control import PATIENCE_S
from tests.files.nfs_server import NOSPC, ROFS, STALE, Faults, MemoryNfs, memory_nfs
from tests.files.test_mix import CYCLE, measure


def mix(server: MemoryNfs, **changes: Any) -> TrialResult:
    return measure(f"{server.address}?uid=7&gid=8", **{"workspace_bytes": 1_000_000, "verify": False, **changes})


@pytest.mark.parametrize("clients", [1, 5])
def test_what_a_trial_counts_is_what_the_server_counts(clients: int) -> None:
    with memory_nfs() as server:
        empty = mix(server, max_operations=1)
        workspace_bytes, keepers = server.written_bytes - empty.bytes_out, server.connections - 1
        server.calls.clear()
        server.read_bytes = server.written_bytes = server.connections = 0
        result = mix(server, clients=clients, max_operations=clients * CYCLE)
        assert (result.fatal, result.errors) == (None, {}), empty.fatal
        names = {operation.name: operation for operation in result.per_operation}
        counted = {name: operation.operations for name, operation in names.items()}
        assert server.calls["RENAME"] == counted["rename"] > 0
        assert server.calls["REMOVE"] >= counted["unlink"] > 0
        assert server.calls["FSSTAT"] == counted["query_fs"] + 1  # and one for the trial's own folder
        assert server.read_bytes == result.bytes_in
        # The workspace is written before the operations begin.
        assert server.written_bytes - result.bytes_out == clients * workspace_bytes
        assert server.users.keys() == {7}
        assert server.connections == clients + keepers
        assert (result.workload or {})["not_expressible"].keys() == {"lock", "unlock"}
        assert server.names() == []


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (Faults(status={"WRITE": NOSPC}), "full"),
        (Faults(status={"MKDIR": ROFS}), "read-only"),
        (Faults(status={"READ": STALE}), "vanished"),
        (Faults(wrong_data=True), "other bytes than were written"),
        (Faults(restarts_before_commit=True), "input/output error"),
    ],
)
def test_each_fault_is_told(faults: Faults, said: str) -> None:
    with memory_nfs(faults) as server:
        result = mix(server, verify=True, max_operations=CYCLE)
        assert result.fatal is not None and said in result.fatal


def test_writes_that_are_lost_are_found() -> None:
    with memory_nfs() as server:
        kept = mix(server, verify=True, max_operations=CYCLE)
        server.faults.loses_writes = True
        lost = mix(server, verify=True, max_operations=CYCLE)
        assert kept.fatal is None and (kept.workload or {})["lost_writes"] == 0 < (kept.workload or {})["read_back"]
        assert lost.fatal is not None and "other bytes" in lost.fatal


def test_a_lost_connection_is_an_error_and_the_trial_ends_in_a_sentence() -> None:
    with memory_nfs(Faults(disconnect_at=3000)) as server:
        result = mix(server, max_operations=CYCLE)
        assert result.errors and result.fatal is not None and "vanished" in result.fatal
        assert server.names() == []


def test_a_server_that_falls_silent_ends_the_trial() -> None:
    with memory_nfs(Faults(silent_from=500)) as server:
        result = mix(server, max_operations=CYCLE, stall_s=1.0)
        assert result.fatal is not None and "did not answer for 1 s" in result.fatal


def test_short_reads_are_read_on() -> None:
    with memory_nfs(Faults(short_reads=True)) as server:
        result = mix(server, verify=True, max_operations=CYCLE)
        assert (result.fatal, result.errors) == (None, {})


def test_nobody_listens(tmp_path: Path) -> None:
    with memory_nfs() as server:
        address = server.address
    result = measure(address, max_operations=10, stall_s=PATIENCE_S)
    assert result.fatal is not None and "is the server up?" in result.fatal
