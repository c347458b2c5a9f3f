"""The bench itself: what the tests of clusters stand on."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable

import psutil
import pytest

from tests.cluster.machines import BAKEOFF, ROOT, Bench, Machine, lacking, until
from tests.control import PATIENCE_S

TALK = "import socket, sys; socket.create_connection((sys.argv[1], 9), float(sys.argv[2]))"
A_WHILE_S = 0.5  # in which nothing comes over a cable that is pulled


def reaches(one: Machine, other: Machine, within_s: float = PATIENCE_S) -> bool:
    """Whether a connection is refused by the other machine, which takes that the packets arrive."""
    done = one.run([sys.executable, "-c", TALK, other.address, str(within_s)], check=False)
    return "ConnectionRefusedError" in done.stderr


def test_machines_reach_each_other_until_a_cable_is_pulled(machines: Callable[[int], list[Machine]]) -> None:
    a, b, c = machines(3)
    until(lambda: reaches(a, b) and reaches(b, c))
    b.cut()
    assert not reaches(a, b, A_WHILE_S) and not reaches(b, c, A_WHILE_S) and reaches(a, c)
    b.mend()
    until(lambda: reaches(a, b))


def test_each_has_folders_processes_and_a_name_of_its_own(machines: Callable[[int], list[Machine]]) -> None:
    a, b = machines(2)
    a.run(["sh", "-c", "echo a >x; echo a >/dev/shm/x"])
    assert b.run(["sh", "-c", "ls /tmp/x /dev/shm/x"], check=False).returncode != 0
    assert a.path("/tmp/x").read_text() == "a\n"
    assert a.run(["pwd"]).stdout == "/tmp\n"
    assert a.run(["hostname"]).stdout.strip() == a.name != b.name
    shown = a.run(["ip", "-br", "-4", "address"]).stdout
    assert a.address in shown and b.address not in shown
    assert a.run(["ls", "/sys/class/net"]).stdout.split() == ["eth0", "lo"]
    assert a.run(["bakeoff", "--version"]).stdout.startswith("bakeoff ")
    assert BAKEOFF.startswith(str(ROOT))
    sleeper = b.spawn(["sleep", "1000"])
    assert sleeper.inner in b.processes and sleeper.inner not in a.processes
    assert "sleep" not in a.run(["sh", "-c", "cat /proc/[0-9]*/comm"]).stdout.split()
    sleeper.send_signal(signal.SIGTERM)
    assert sleeper.wait(PATIENCE_S) != 0


def test_a_machine_that_is_switched_off_takes_its_processes_with_it(machines: Callable[[int], list[Machine]]) -> None:
    a, b = machines(2)
    sleeper = a.spawn(["sleep", "1000"])
    inner = sleeper.inner
    a.kill()
    sleeper.wait(PATIENCE_S)
    assert not inner.is_running()
    assert b.run(["true"]).returncode == 0


def test_nothing_is_left_by_a_process_that_is_killed() -> None:
    script = (
        "from tests.cluster.machines import Bench; import os, time\n"
        "bench = Bench(); machine, = bench.add(1); inner = machine.spawn(['sleep', '1000']).inner\n"
        "print(machine.first, bench._switch.pid, inner.pid, flush=True); time.sleep(1000)"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout is not None
        left = [psutil.Process(int(word)) for word in maker.stdout.readline().split()]
        assert len(left) == 3
        maker.kill()
    gone, alive = psutil.wait_procs(left, PATIENCE_S)
    assert len(gone) == 3 and not alive


def test_who_cannot_have_a_bench_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not lacking()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "iproute2" in lacking()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert lacking() == "the bench makes network namespaces: run these tests as root"


def test_a_bench_is_taken_away() -> None:
    own = Bench()
    (machine,) = own.add(1)
    own.remove()
    assert not psutil.pid_exists(machine.first)
