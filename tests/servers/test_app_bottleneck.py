"""The report names a bottleneck that really moves: segments that fit into a server's page cache, and then do not."""

import contextlib
import errno
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Table, Text
from bakeoff.report.compose import compose
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run
from tests.control import PATIENCE_S
from tests.forks import COMMAND

CGROUPS = Path("/sys/fs/cgroup")
GROUP = f"bakeoff-small-memory-{os.getpid()}"
MEMORY_BYTES = 32 << 20
SEGMENT = "8MiB"
FEW, MANY = 2, 16  # Segments of 16 MiB in all, and of 128 MiB.
RUN = ["--clients", f"{FEW},{MANY}", "--ramp-up", "1s", "--ramp-down", "0.1s", "--blocks", "1"]
# A server tells what it used ten times a second: a window holds enough of it once so many requests were served.
ENOUGH_OPERATIONS, LENGTHS_S = 100, (2.6, 10.0, 40.0)
WORK = ["--weights", "processor=1,read=1,upload=0,download=0,write=0", "--rounds", "130000", "--read-records", "128"]


@pytest.fixture
def small_memory() -> Iterator[Path]:
    """A control group with little memory; a process joins by its number in `cgroup.procs`. Needs root."""
    old = (CGROUPS / "memory").is_dir()
    with contextlib.nullcontext() if old else memory_for_children():
        group = (CGROUPS / "memory" if old else CGROUPS) / GROUP
        group.mkdir(exist_ok=True)
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(MEMORY_BYTES))
        yield group
        remove(group)


@contextlib.contextmanager
def memory_for_children() -> Iterator[None]:
    """Version 2: the group that all are in lets groups below it have limits of memory. Only the root of the whole
    system may do so with processes in it; in a container they stand in a group beside the limited one meanwhile.
    """
    control, rest = CGROUPS / "cgroup.subtree_control", CGROUPS / f"{GROUP}-rest"
    if "memory" in control.read_text().split():
        yield
        return
    try:
        control.write_text("+memory")
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        rest.mkdir(exist_ok=True)
        move(CGROUPS, rest)
        control.write_text("+memory")
    yield
    if rest.is_dir():
        control.write_text("-memory")
        move(rest, CGROUPS)
        remove(rest)


def move(old: Path, new: Path) -> None:
    """All processes of a group into another one."""
    for pid in (old / "cgroup.procs").read_text().split():
        with contextlib.suppress(ProcessLookupError):  # it has ended
            (new / "cgroup.procs").write_text(pid)


def remove(group: Path) -> None:
    """A group whose last process is just ending is busy for a moment."""
    deadline = time.monotonic() + PATIENCE_S
    while group.is_dir():
        try:
            group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


class AppServer(NamedTuple):
    """A server that runs, and its process."""

    address: str
    pid: int

    def read_bytes(self) -> int:
        """What this process, and no other one, has had fetched from disks so far."""
        lines = Path(f"/proc/{self.pid}/io").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes"))


@contextlib.contextmanager
def app_server(data: Path, group: Path | None) -> Iterator[AppServer]:
    """`bakeoff serve app` with one service thread on one processor. Its memory so far stays outside the group: what
    counts there is the page cache of its data segments.
    """
    options = ["--port", "0", "--threads", "1", "--segment", SEGMENT, "--data", str(data)]
    core = str(min(os.sched_getaffinity(0)))
    command = ["taskset", "-c", core, sys.executable, "-m", "bakeoff", "serve", "app", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().partition("app://")[2].split()[0]
        if group is not None:
            (group / "cgroup.procs").write_text(str(server.pid))
        yield AppServer(address, server.pid)
    finally:
        server.terminate()
        server.wait()


def measure_long_enough(small: str, large: str, folder: Path) -> RunRecord:
    """Trials as long as this machine needs today for requests enough."""
    for length_s in LENGTHS_S:
        run = measure(small, large, folder / f"run-{length_s:g}.bakeoff", length_s)
        if all(trial.operations >= ENOUGH_OPERATIONS for trial in run.trials):
            break
    return run


def measure(small: str, large: str, run_file: Path, length_s: float) -> RunRecord:
    command = [*COMMAND, "run", "app", f"small={small}", f"large={large}", *RUN, *WORK]
    command += ["--length", f"{length_s}s"]
    done = subprocess.run(
        [*command, "-o", str(run_file)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    # On a busy machine a trial may be too short for a single request: then a longer one is made.
    assert done.returncode in (0, 4), done.stderr
    return read_run(run_file)


def test_the_disk_is_where_the_memory_ends(small_memory: Path, tmp_path: Path) -> None:
    """Two equal servers, one of them without memory for the segments of 16 clients: it reads from the disk there, and
    the report says so. What fills a processor is the machine's affair; the words for it are held without one.
    """
    kind = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True).stdout
    assert "tmpfs" not in kind, f"{tmp_path} must be on a disk: set TMPDIR"
    with app_server(tmp_path, small_memory) as small, app_server(tmp_path, None) as large:
        before = small.read_bytes(), large.read_bytes()
        run = measure_long_enough(small.address, large.address, tmp_path)
        small_read, large_read = small.read_bytes() - before[0], large.read_bytes() - before[1]
    section = next(s for s in compose(run, compare_run(run)).sections if s.id == "bottleneck")
    said = [block.text for block in section.blocks if isinstance(block, Text)]
    assert not any("large" in text and "disk" in text for text in said), said
    (table,) = (
        block for block in section.blocks if isinstance(block, Table) and block.title.startswith("Queue against")
    )
    assert len(table.rows) == 2
    used = {(t.contender, t.load_step.clients): t.workload["server"] for t in run.trials}
    served = {(t.contender, t.load_step.clients): t.operations for t in run.trials}
    # Each second request reads 128 records of 4 KiB; a quarter of the segments is in memory. What a server tells is the
    # device's, which others use as well: no less than its own share, and the other server has none.
    needed = 0.25 * served["small", MANY] / 2 * 128 * 4096
    assert used["small", MANY]["disk_read_bytes"] > needed
    assert small_read > needed
    assert large_read < small_read / 4  # pages of the program itself may come from the disk


def test_what_the_server_used_is_that_of_the_window(tmp_path: Path) -> None:
    """A good part of the trial is ramps: the time watched is inside the window, and all of it but two looks."""
    with app_server(tmp_path, None) as server:
        command = [*COMMAND, "run", "app", f"one={server.address}", "--clients", "4", "--blocks", "1"]
        times = ["--length", "8s", "--ramp-up", "2s", "--ramp-down", "1s", "-o", str(tmp_path / "run.bakeoff")]
        done = subprocess.run([*command, *times], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    (trial,) = read_run(tmp_path / "run.bakeoff").trials
    watched_s = trial.workload["server"]["watched_s"]
    assert trial.window_s == pytest.approx(5.0)
    # Replies carry the figures ten times a second: half of them at least, on a machine that is late.
    assert 0.5 * trial.window_s < watched_s <= trial.window_s
    assert 0 < trial.workload["server"]["cpu_share"] <= 1.01
