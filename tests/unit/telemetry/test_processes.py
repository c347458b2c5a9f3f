"""Processor time of processes that count it themselves."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bakeoff.telemetry.readers.local_contender import WatchedGroup, WatchedPidFile, WatchedProcess
from bakeoff.telemetry.readers.processes import Tree, process
from bakeoff.telemetry.reading import Reading, SampleError

# Burns until its own count of processor time has reached what each line says, in as many children; then tells what it
# used itself, and all whose end it has waited for.
BURNER = """
import os, resource, sys
def burn(s):
    end = resource.getrusage(resource.RUSAGE_SELF).ru_utime + s
    while resource.getrusage(resource.RUSAGE_SELF).ru_utime < end:
        sum(range(2000))
for line in sys.stdin:
    children, seconds = line.split()
    for _ in range(int(children)):
        pid = os.fork()
        if pid == 0:
            burn(float(seconds))
            os._exit(0)
        os.waitpid(pid, 0)
    if children == "0":
        burn(float(seconds))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(sum(u.ru_utime + u.ru_stime for u in used), flush=True)
"""
# Each process may have begun two ticks of 10 ms that are not told yet: user and system.
TICKS_S = 0.02


class Burner:
    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([sys.executable, "-c", BURNER], stdin=pipe, stdout=pipe, text=True)
        self.pid = self.process.pid
        self.burn(0, 0.0)

    def burn(self, children: int, seconds: float) -> float:
        """What it and its children have used in all, by their own count."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{children} {seconds}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def burner() -> Iterator[Burner]:
    made = Burner()
    yield made
    made.close()


def used(reading: Reading) -> float:
    return reading.counters["own_user_s"] + reading.counters["own_system_s"]


@pytest.mark.parametrize(("children", "seconds"), [(0, 0.3), (3, 0.1)])
def test_what_a_process_and_children_that_nobody_saw_used_is_what_they_counted(
    burner: Burner, children: int, seconds: float
) -> None:
    source = WatchedProcess(burner.pid)
    before, counted = source.sample(2.0), burner.burn(0, 0.0)
    after_counted = burner.burn(children, seconds)
    grown = used(source.sample(2.0)) - used(before)
    assert grown == pytest.approx(after_counted - counted, abs=TICKS_S * (children + 2))
    assert grown > 0.25


def fixture(
    proc: Path, pid: int, parent: int, own: int, waited: int = 0, started: int = 5, pages: str = "9 3 1"
) -> None:
    (proc / f"{pid}").mkdir(parents=True, exist_ok=True)
    text = f"{pid} (x) S {parent} 1 1 0 -1 0 0 0 0 0 {own} 0 {waited} 0 20 0 1 0 {started} 4096 3 0"
    (proc / f"{pid}/stat").write_text(text)
    (proc / f"{pid}/statm").write_text(pages)


def gone(proc: Path, pid: int) -> None:
    (proc / f"{pid}/stat").unlink()


def test_the_time_of_a_child_counts_once_whether_it_was_seen_or_not(tmp_path: Path) -> None:
    fixture(tmp_path, 1, 0, 900)
    fixture(tmp_path, 10, 1, 100)
    fixture(tmp_path, 11, 10, 50)
    tree = Tree((10, 5), tmp_path)
    assert used(tree.sample()) == 0.0
    fixture(tmp_path, 10, 1, 120)
    fixture(tmp_path, 11, 10, 80)
    assert used(tree.sample()) == pytest.approx(0.5)  # 20 + 30 ticks
    gone(tmp_path, 11)  # ended with 90, of which 80 were seen; another one with 7 came and went
    fixture(tmp_path, 10, 1, 120, waited=97)
    found = tree.sample()
    assert used(found) == pytest.approx(0.5 + 0.17)
    assert found.counters["own_unwaited"] == 0.0
    fixture(tmp_path, 1, 0, 5_000)  # nobody's business
    assert used(tree.sample()) == pytest.approx(0.67)


def test_a_child_that_nobody_waits_for_keeps_what_was_seen_and_one_that_gets_another_parent_stays(
    tmp_path: Path,
) -> None:
    fixture(tmp_path, 10, 1, 100)
    fixture(tmp_path, 11, 10, 0)
    fixture(tmp_path, 12, 10, 0)
    tree = Tree((10, 5), tmp_path)
    tree.sample()
    fixture(tmp_path, 11, 10, 40)
    fixture(tmp_path, 12, 1, 10)
    assert used(tree.sample()) == pytest.approx(0.5)
    gone(tmp_path, 11)
    fixture(tmp_path, 12, 1, 30)
    found = tree.sample()
    assert used(found) == pytest.approx(0.7)
    assert found.gauges["own_processes"] == 2
    assert found.counters["own_unwaited"] == 0.0, "11 may have been waited for, 12 still lives"
    # Two pages of its own each, and one that they share.
    assert found.gauges["own_memory_bytes"] == 5 * os.sysconf("SC_PAGE_SIZE")
    gone(tmp_path, 12)
    assert tree.sample().counters["own_unwaited"] == 1.0


@pytest.mark.parametrize(("mask", "alone"), [("0000000000010000", 1.0), ("0000000000001000", 0.0), ("", 0.0)])
def test_who_ignores_the_end_of_children_leaves_them_alone(tmp_path: Path, mask: str, alone: float) -> None:
    fixture(tmp_path, 10, 1, 100)
    fixture(tmp_path, 11, 10, 0)
    (tmp_path / "10/status").write_text(f"Name:\tx\nSigIgn:\t{mask}\n")
    tree = Tree((10, 5), tmp_path)
    tree.sample()
    gone(tmp_path, 11)
    assert tree.sample().counters["own_unwaited"] == alone


def test_another_process_with_the_same_number_is_not_the_one_that_is_watched(tmp_path: Path) -> None:
    fixture(tmp_path, 10, 1, 100)
    tree = Tree((10, 5), tmp_path)
    tree.sample()
    fixture(tmp_path, 10, 1, 100, started=6)
    with pytest.raises(SampleError, match="is gone"):
        tree.sample()


def test_a_process_file_finds_the_server_again_after_a_restart(tmp_path: Path, burner: Burner) -> None:
    file = tmp_path / "x.pid"
    source = WatchedPidFile(file)
    with pytest.raises(SampleError, match="names no process"):
        source.sample(2.0)
    file.write_text(f"{burner.pid}\n")
    assert used(source.sample(2.0)) == 0.0
    other = Burner()
    try:
        file.write_text(f"{other.pid}\n")
        with pytest.raises(SampleError, match="started again"):
            source.sample(2.0)
        counted = other.burn(0, 0.0)
        grown = other.burn(0, 0.1) - counted
        assert used(source.sample(2.0)) == pytest.approx(grown, abs=3 * TICKS_S)
    finally:
        other.close()
    with pytest.raises(SampleError, match="is gone"):
        source.sample(2.0)


@pytest.mark.parametrize("version", [1, 2])
def test_a_control_group_is_read_in_either_version(tmp_path: Path, version: int) -> None:
    files: dict[str, Any] = {
        2: {
            "web/cpu.stat": "usage_usec 3500000\nuser_usec 2500000\nsystem_usec 1000000\nnr_periods 0\n",
            "web/memory.current": "9000\n",
            "web/memory.stat": "anon 4000\nfile 5000\nshmem 96\n",
            "web/cgroup.procs": "",
        },
        1: {
            "cpuacct/web/cpuacct.usage_user": "2500000000\n",
            "cpuacct/web/cpuacct.usage_sys": "1000000000\n",
            "cpuacct/web/cgroup.procs": "",
            "memory/web/memory.usage_in_bytes": "9000\n",
            "memory/web/memory.stat": "cache 1\ntotal_cache 5000\ntotal_shmem 96\n",
        },
    }
    for name, text in files[version].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = WatchedGroup("/web", tmp_path).sample(2.0)
    assert (found.counters["own_user_s"], found.counters["own_system_s"]) == (2.5, 1.0)
    assert found.gauges["own_memory_bytes"] == 4096
    with pytest.raises(SampleError, match="no control group /mail"):
        WatchedGroup("/mail", tmp_path).sample(2.0)


def test_a_process_that_is_not_there_is_a_sentence() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert process(child.pid) is None
    with pytest.raises(SampleError, match=f"there is no process {child.pid}"):
        WatchedProcess(child.pid).sample(2.0)
