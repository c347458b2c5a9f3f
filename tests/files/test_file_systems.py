"""The three suites, from the command line, on file systems of every sort: memory, two disks, SSH, NFS and SMB."""

import contextlib
import math
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Table
from bakeoff.report.compose import compose
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.sqlite.read import read_run
from tests.control import PATIENCE_S
from tests.files import mounts
from tests.patient import COMMAND as BAKEOFF

TYPES = {"tmpfs": "tmpfs", "ext4": "ext4", "xfs": "xfs", "sshfs": "fuse.sshfs", "nfs": "nfs4", "smb": "cifs"}
CARRIERS = {"tmpfs": "memory", "ext4": "disk", "xfs": "disk", "sshfs": "wire", "nfs": "mount", "smb": "wire"}
PAIRS = [("tmpfs", "ext4"), ("xfs", "sshfs")]
TESTS, PATTERNS = 13, 5

MATRIX = ["file-matrix", "--file-sizes", "64KiB,1MiB", "--record-sizes", "4KiB,64KiB", "--blocks", "1"]
ONE_CELL = ["file-matrix", "--file-sizes", "1MiB", "--record-sizes", "64KiB", "--blocks", "1"]
BLOCKS = [
    "file-blocks", "--size", "quick", "--blocks", "1", "--block-sizes", "4KiB,64KiB", "--region", "8MiB",
    "--cell-time", "250ms", "--ramp-up", "20ms",
]  # fmt: skip
MIX_OPERATIONS = 200
MIX = [
    "file-mix", "--blocks", "1", "--clients", "1,4", "--operations", str(MIX_OPERATIONS), "--length", "5m",
    "--stagger", "100ms", "--workspace", "2MB",
]  # fmt: skip


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """A mounted folder by the name of its file system."""
    base = tmp_path_factory.mktemp("systems")
    with contextlib.ExitStack() as stack:
        yield {
            "tmpfs": stack.enter_context(mounts.tmpfs(base)),
            "ext4": stack.enter_context(mounts.disk(base, "ext4")),
            "xfs": stack.enter_context(mounts.disk(base, "xfs")),
            "sshfs": stack.enter_context(mounts.sshfs(base)).folder,
        }


def run(path: Path, words: list[str], folders: dict[str, Path]) -> RunRecord:
    """What a command measured; nothing is left in the folders."""
    suite, *options = words
    before = {name: sorted(folder.iterdir()) for name, folder in folders.items()}
    contenders = [f"{name}={folder}" for name, folder in folders.items()]
    command = [*BAKEOFF, "run", suite, *contenders, *options, "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    assert {name: sorted(folder.iterdir()) for name, folder in folders.items()} == before
    return read_run(path)


def cells(trial: TrialRecord) -> list[dict[str, Any]]:
    """The cells of a trial, after what must be true of all of them."""
    found: list[dict[str, Any]] = trial.workload["cells"]
    assert (trial.state, trial.workload["complete"]) == ("ok", True)
    for cell in found:
        assert cell["skipped"] is None, cell
        assert cell["damaged"] == 0, cell
        # Of calls that wait for nobody, the time that checking took outside of their clocks cannot be told apart.
        assert (cell["verify_s"] is None) == (trial.workload.get("outstanding", 1) > 1), cell
        assert cell["operations"] == cell["service"]["count"] > 0 and cell["rate_kib_s"] > 0, cell
        assert cell["cached_reason"], cell
    return found


def check_matrix(stored: RunRecord) -> None:
    """Every test of every pair was done, and each file system says what it can of caches."""
    for trial in stored.trials:
        found = cells(trial)
        assert len(found) == 4 * TESTS
        assert sum(cell["operations"] for cell in found) == TESTS * (16 + 1 + 256 + 16)
        judged = {cell["cached"] for cell in found if cell["test"] == "reread"}
        # sshfs asks the server at every open; memory has nothing behind it; all others read from the page cache.
        assert judged == {{"tmpfs": None, "sshfs": False}.get(trial.contender, True)}


def check_blocks(stored: RunRecord) -> None:
    """Every pattern was done at both sizes."""
    for trial in stored.trials:
        assert len(cells(trial)) == 2 * PATTERNS


def check_mix(stored: RunRecord) -> None:
    """Clients of the office mix did what they were to do, and found what they expected."""
    for trial in stored.trials:
        assert (trial.state, trial.errors, trial.workload["unexpected"]) == ("ok", {}, {})
        assert trial.operations == MIX_OPERATIONS
    assert [trial.load_step.clients for trial in stored.trials] == [1, 4] * len(stored.contenders)


def check_environment(stored: RunRecord, **options: str) -> None:
    """The run file says what was measured: file system, source and mount options of each contender."""
    facts = stored.environment["content"]["contenders"]
    assert isinstance(facts, dict) and set(facts) == {contender.name for contender in stored.contenders}
    for name, found in facts.items():
        assert (found["file_system"], found["carrier"]) == (TYPES[name], CARRIERS[name])
        assert found["source"] and found["mount_options"].startswith("rw") and found["free_bytes"] > 100e6
        assert options.get(name, "rw") in found["mount_options"].split(",")
    method = next(part for part in compose(stored, compare_run(stored)).sections if part.id == "method")
    table = next(block for block in method.blocks if isinstance(block, Table) and block.title == "File systems")
    assert {row[0]: row[1] for row in table.rows} == {name: TYPES[name] for name in facts}
    assert all(row[2] == facts[row[0]]["source"] for row in table.rows)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_the_matrix_runs_on(pair: tuple[str, str], systems: dict[str, Path], tmp_path: Path) -> None:
    stored = run(tmp_path / "r.bakeoff", MATRIX, {name: systems[name] for name in pair})
    check_matrix(stored)
    check_environment(stored, tmpfs="size=524288k", sshfs="user_id=0")


@pytest.mark.parametrize("outstanding", [1, 8])
@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_blocks_run_on(pair: tuple[str, str], outstanding: int, systems: dict[str, Path], tmp_path: Path) -> None:
    words = [*BLOCKS, "--outstanding", str(outstanding)]
    check_blocks(run(tmp_path / "r.bakeoff", words, {name: systems[name] for name in pair}))


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_the_office_mix_runs_on(pair: tuple[str, str], systems: dict[str, Path], tmp_path: Path) -> None:
    check_mix(run(tmp_path / "r.bakeoff", MIX, {name: systems[name] for name in pair}))


def test_a_cold_cache_is_proved_where_there_is_something_behind_it(systems: dict[str, Path], tmp_path: Path) -> None:
    stored = run(tmp_path / "r.bakeoff", [*ONE_CELL, "--tests", "write,read,random_read", "--cache", "cold"], systems)
    for trial in stored.trials:
        for cell in cells(trial)[1:]:
            cache = cell["cache"]
            if trial.contender == "tmpfs":
                assert (cell["cached"], cache["proved"], cache["resident_pages"]) == (None, False, 256)
            else:
                assert cache["name"] == "dropped" and cache["proved"] and cell["cached"] is False, cell
                assert cell["carried_bytes"] >= 1 << 20


def test_a_remount_before_each_read_is_the_coldest(systems: dict[str, Path], tmp_path: Path) -> None:
    point = systems["xfs"]
    folders = {name: point / name for name in ("one", "two")}
    for folder in folders.values():
        folder.mkdir()
    device = mounts.command("findmnt", "--noheadings", "--output", "SOURCE", point).strip()
    cold = ["--cache", "cold", "--cold-command", f"umount {point} && mount {device} {point}"]
    stored = run(tmp_path / "r.bakeoff", [*ONE_CELL, "--tests", "write,read,random_read", *cold], folders)
    for trial in stored.trials:
        for cell in cells(trial)[1:]:
            assert (cell["cache"]["name"], cell["cache"]["proved"], cell["cached"]) == ("command", True, False)
    for folder in folders.values():
        folder.rmdir()


@pytest.mark.parametrize("option", ["--direct", "--mmap", "--fsync"])
def test_direct_mapped_and_flushed_work_everywhere(option: str, systems: dict[str, Path], tmp_path: Path) -> None:
    stored = run(tmp_path / "r.bakeoff", [*ONE_CELL, option], systems)
    for trial in stored.trials:
        found = {cell["test"]: cell for cell in cells(trial)}
        assert len(found) == TESTS
        if trial.contender == "tmpfs":
            continue
        if option != "--mmap":  # neither writes nor direct reads may end in a cache
            assert found["write"]["cached"] is False, found["write"]
        if option == "--direct":
            assert found["reread"]["cached"] is False, found["reread"]


# Shares that fall off or hang.

# A small workspace: what a share has not written yet, its first call waits for.
FAULTY = ["--workspace", "1MB"]
TIMED = ["--clients", "1,8", "--length", "3s", "--ramp-up", "200ms", "--ramp-down", "200ms"]


def lines_until_the_end(process: subprocess.Popen[str], patience_s: float) -> list[str]:
    """What a command prints up to its last line: with calls that hang in the kernel, it cannot end after that."""
    assert process.stdout is not None
    found: list[str] = []
    clock = threading.Timer(patience_s, process.kill)
    clock.start()
    try:
        for line in process.stdout:
            found.append(line.rstrip())
            if line.startswith("Next:"):
                return found
    finally:
        clock.cancel()
    raise AssertionError("\n".join(found))


def reply_timeout_s(share: Path, tmp_path: Path) -> int:
    """What no healthy call needs on this machine now: ten times the longest of eight clients, and 5 s at least."""
    path = tmp_path / "control.bakeoff"
    words = [f"share={share}", *FAULTY, "--clients", "8", "--blocks", "1", "--reply-timeout", f"{PATIENCE_S:.0f}s"]
    words += ["--operations", "200", "--length", f"{PATIENCE_S:.0f}s"]
    command = [*BAKEOFF, "run", "file-mix", *words, "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0 and list(share.glob(".bakeoff-*")) == [], done.stdout + done.stderr
    longest_ns = read_run(path).trials[0].service.max_ns or 0
    return max(5, math.ceil(10 * longest_ns / 1e9))


@pytest.mark.parametrize("fault", ["drops", "hangs"])
def test_a_share_that(fault: str, tmp_path: Path) -> None:
    """It fails the loads it was asked for from then on, with the reason; the run goes on with the others."""
    disk, path = tmp_path / "disk", tmp_path / "r.bakeoff"
    disk.mkdir()
    with mounts.sshfs(tmp_path) as share:
        timeout_s = reply_timeout_s(share.folder, tmp_path)
        words = [
            f"share={share.folder}",
            f"disk={disk}",
            *FAULTY,
            *TIMED,
            "--blocks",
            "2",
            "--stagger",
            "0s",
            "--seed",
            "1",
        ]
        words += ["--reply-timeout", f"{timeout_s}s"]
        command = [*BAKEOFF, "run", "file-mix", *words, "-o", str(path)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            mounts.wait_for(lambda: any(share.served.glob(".bakeoff-mix-*/c00007")), "eight clients")
            time.sleep(0.7)  # until the middle of that trial
            if fault == "drops":
                share.drop()
            else:
                share.client.send_signal(signal.SIGSTOP)
            said = lines_until_the_end(process, PATIENCE_S)
        finally:
            share.client.send_signal(signal.SIGCONT)
            mounts.end(share.client)
            process.kill()
            process.wait(PATIENCE_S)
    check_faulty(read_run(path), fault, f"did not answer for {timeout_s} s", said)
    assert list(disk.iterdir()) == []


def check_faulty(stored: RunRecord, fault: str, hung: str, said: list[str]) -> None:
    """All that the disk did counts; of the share, only what it did before. `hung` is what a call without reply says."""
    assert len(stored.trials) == stored.trials_planned == 8
    assert {trial.state for trial in stored.trials if trial.contender == "disk"} == {"ok"}
    share = sorted((trial for trial in stored.trials if trial.contender == "share"), key=lambda trial: trial.order)
    first = next(trial for trial in share if trial.load_step.clients == 8)
    before = [trial for trial in share if trial.order < first.order]
    after = [trial for trial in share if trial.order > first.order]
    reasons = [(trial.order, trial.state, trial.reason) for trial in share]
    # On a busy machine three seconds may be too short for a call.
    assert all(trial.state == "ok" or "none was finished" in trial.reason for trial in before), reasons
    assert {trial.state for trial in [first, *after]} == {"failed"}, reasons
    # Which call of which client meets it first is chance; what sshfs had accepted but not sent yet is lost.
    dropped = ("vanished", "failed transfer", "other bytes than were written came back")
    causes = dropped if fault == "drops" else (hung,)
    assert any(reason in first.reason for reason in causes), first.reason
    later = "is not mounted at" if fault == "drops" else hung.removeprefix("did ")  # or does: it is asked again
    assert after and all(later in trial.reason for trial in after), [trial.reason for trial in after]
    assert any("could not be removed" in line and "share" in line for line in said)
