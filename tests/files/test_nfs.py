"""File suites by NFS without a mount, against a server that counts what it is asked and fails as it is told, and
against NFS-Ganesha."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.result import TrialResult
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run
from tests import forks
from tests.control import PATIENCE_S
from tests.files.loopback import run_beside_servers
from tests.files.nfs_server import ACCES, NOSPC, ROFS, STALE, Faults, MemoryNfs, memory_nfs
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
        (Faults(wrong_data_every=100), "other bytes than were written"),
        (Faults(status={"FSINFO": ACCES}), "ports below 1024"),
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
        server.faults.loses_write_every = 50
        lost = mix(server, verify=True, max_operations=CYCLE)
        assert kept.fatal is None and (kept.workload or {})["lost_writes"] == 0 < (kept.workload or {})["read_back"]
        # What is read again shows at once, what is not after the trial.
        assert lost.fatal is not None and ("other bytes" in lost.fatal or "is not there" in lost.fatal)


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


BLOCKS = ["file-blocks", "--clients", "2", "--region", "8MiB", "--block-sizes", "4KiB,128KiB", "--cell-time", "0.1s",
          "--patterns", "random_read,mixed", "--blocks", "1"]  # fmt: skip
MATRIX = ["file-matrix", "--tests", "write,rewrite,read,random_read,stride_read", "--file-max", "256KiB",
          "--record-max", "128KiB", "--clients", "1", "--blocks", "1"]  # fmt: skip
MIX = ["file-mix", "--clients", "1,4", "--workspace", "1MB", "--length", "5m", "--operations", "4000",
       "--blocks", "1"]  # fmt: skip
LOADFILE = ["file-mix", "--clients", "2", "--length", "5m", "--operations", "4000", "--blocks", "1", "--loadfile",
            "/usr/share/dbench/client.txt"]  # fmt: skip


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*forks.COMMAND, *words], capture_output=True, text=True, check=False, timeout=PATIENCE_S)


def is_sound(run: RunRecord) -> bool:
    """Whether trials measured without an error; some may be void on a busy machine."""
    assert not [trial.reason for trial in run.trials if trial.state == "failed"]
    return all(not trial.errors for trial in run.trials)


@pytest.mark.parametrize("outstanding", ["1", "1,8"])
def test_blocks_in_flight_read_what_was_written(tmp_path: Path, outstanding: str) -> None:
    out = tmp_path / "blocks.bakeoff"
    with memory_nfs() as server:
        done = command("run", *BLOCKS, "--outstanding", outstanding, f"nfs={server.address}", "-o", str(out))
        assert done.returncode == 0, done.stderr
        assert is_sound(read_run(out))
        assert server.calls["READ"] > 0 and server.calls["WRITE"] > 0 and server.names() == []


def test_what_needs_a_folder_is_refused_with_what_to_give() -> None:
    with memory_nfs() as server:
        streams = command("plan", "file-matrix", f"nfs={server.address}")
        direct = command("plan", *BLOCKS, f"nfs={server.address}", "--direct")
        other = command("plan", *MIX, "ftp=ftp://127.0.0.1/x")
    assert streams.returncode == 2 and "give --tests write,rewrite" in streams.stderr
    assert direct.returncode == 2 and "leave direct out" in direct.stderr
    assert other.returncode == 2 and "begins with nfs://" in other.stderr


def test_a_delay_of_the_server_is_found_and_left_out_operations_are_told(tmp_path: Path) -> None:
    out = tmp_path / "two.bakeoff"
    with memory_nfs() as fast, memory_nfs(Faults(delay_s={"READ": 0.003})) as slow:
        words = ["--clients", "1", "--workspace", "1MB", "--length", "5m", "--operations", "3600", "--blocks", "1"]
        done = command("run", "file-mix", *words, f"fast={fast.address}", f"slow={slow.address}", "-o", str(out))
        assert done.returncode == 0, done.stderr
        assert "NFS 3 without a mount, reads of 65.5 kB" in done.stderr
        assert fast.names() == slow.names() == []
    told = command("compare", str(out), "--json")
    trials = {trial.contender: trial for trial in read_run(out).trials}
    reads = {
        name: operation.service.p50_ns
        for name, trial in trials.items()
        for operation in trial.per_operation
        if operation.name == "read"
    }
    assert reads["slow"] > 3e6
    assert "Operations were left out" in json.dumps(json.loads(told.stdout))


def test_ganesha_serves_every_suite(tmp_path: Path) -> None:
    address = f"nfs=nfs://127.0.0.1{tmp_path}/served"
    suites = {"mix": [*MIX, "--keep"], "blocks": [*BLOCKS, "--outstanding", "1,4"], "matrix": MATRIX, "load": LOADFILE}
    runs = [["run", *words, address, "-o", str(tmp_path / f"{name}.bakeoff")] for name, words in suites.items()]
    said = run_beside_servers(tmp_path, runs)
    for name in suites:
        assert is_sound(read_run(tmp_path / f"{name}.bakeoff")), said
    # The mix keeps its workspace: what the server holds is what was made.
    (kept,) = (tmp_path / "served").iterdir()
    made = [path.stat() for path in kept.rglob("*.DAT")]
    assert len(made) > 100 and all(facts.st_size > 0 and facts.st_uid == 0 for facts in made)
    assert sorted(path.name for path in kept.iterdir()) == [f"c{client:05}" for client in range(4)]
