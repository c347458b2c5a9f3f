"""Machines on a bench: namespaces of processes, mounts, network and hostname, joined by a bridge that leads nowhere.

Each has an empty /tmp and /dev/shm of its own, sees its own processes only, and can be cut off or killed. Nothing has a
name outside: namespaces, links and mounts go when their processes go, and these go with the process that made them,
however it ends.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from tests.control import PATIENCE_S

ROOT = Path(__file__).parents[2]
INIT = Path(__file__).with_name("init.py")
TOOLS = ("ip", "nsenter", "unshare", "setpriv", "mount")
NETWORK = "10.77.0."
BAKEOFF = str(Path(sys.executable).with_name("bakeoff"))
ENTER = ("--mount", "--uts", "--ipc", "--net", "--pid")


def lacking() -> str:
    """Why there can be no bench here and what to do, in a sentence; nothing when there can."""
    if os.geteuid() != 0:
        return "the bench makes network namespaces: run these tests as root"
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing:
        return f"the bench needs {', '.join(missing)}: `apt-get install iproute2 util-linux mount`"
    return ""


def until(condition: Callable[[], bool]) -> None:
    """Waits for what this process is not told of. Fails the test when it never comes."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def _held(*words: str) -> subprocess.Popen[str]:
    """A process that ends with this one, after it has said that it is ready."""
    holder = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    said = holder.stdout.readline()
    assert said == "ready\n", f"{words} said {said!r}"
    return holder


class Spawned(subprocess.Popen[str]):
    """A program that runs on a machine. Signals go to the program itself."""

    @property
    def inner(self) -> psutil.Process:
        """The program, as this machine numbers it, once it has begun."""
        entered = psutil.Process(self.pid)
        until(lambda: any(child.name() != entered.name() for child in entered.children()))
        return entered.children()[0]

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            self.inner.send_signal(sig)


class Machine:
    """One machine: `name` is its hostname, `address` that of its only interface `eth0`."""

    def __init__(self, bench: "Bench", name: str, number: int) -> None:
        self.name = name
        self.address = f"{NETWORK}{number + 1}"
        self._bench, self._port = bench, f"port{number}"
        self._holder = _held(
            *("unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"),
            *(sys.executable, "-I", "-S", str(INIT), name, str(ROOT), sys.prefix),
        )
        self.first = psutil.Process(self._holder.pid).children()[0].pid
        bench.ip("link", "add", self._port, "type", "veth", "peer", "name", "eth0", "netns", str(self.first))
        bench.ip("link", "set", self._port, "master", "bridge", "up")
        self.run(["ip", "address", "add", f"{self.address}/24", "dev", "eth0"])
        self.run(["ip", "link", "set", "eth0", "up"])

    def path(self, inside: str) -> Path:
        """A file of the machine, such as `/tmp/run.bakeoff`, as it is reached from outside while the machine is on."""
        return Path(f"/proc/{self.first}/root{inside}")

    def run(
        self, argv: Sequence[str], check: bool = True, timeout_s: float = PATIENCE_S, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program there to its end, in /tmp; `bakeoff` is the one under test. Fails the test on an exit code
        when `check`, with all that was said.
        """
        done = subprocess.run(
            self.inside(argv), capture_output=True, text=True, timeout=timeout_s, env=_variables(environment)
        )
        said = f"{self.name}: {' '.join(argv)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == 0 or not check, said
        return done

    def spawn(self, argv: Sequence[str], environment: Mapping[str, str] | None = None, **popen: Any) -> Spawned:
        """Start a program there; its output is a pipe of text unless told otherwise."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        texts = {"text": True, "start_new_session": True, **streams, **popen}
        return Spawned(self.inside(argv), env=_variables(environment or {}), **texts)

    def cut(self) -> None:
        """Pull the cable: nothing goes in or out, and no connection ends by it."""
        self._bench.ip("link", "set", self._port, "down")

    def mend(self) -> None:
        """Plug the cable in again."""
        self._bench.ip("link", "set", self._port, "up")

    def end(self) -> None:
        """Begin to switch it off."""
        self._holder.kill()

    def kill(self) -> None:
        """Switch it off: every process there is gone at once, and so is what was in its /tmp."""
        first = psutil.Process(self.first) if psutil.pid_exists(self.first) else None
        self._holder.kill()  # takes the first process along, and that all others
        self._holder.wait(PATIENCE_S)
        if first is not None:
            first.wait(PATIENCE_S)
        assert self._holder.stdout is not None
        self._holder.stdout.close()

    @property
    def processes(self) -> list[psutil.Process]:
        """Those that run there, without the first."""
        return [process for process in psutil.process_iter() if self._runs(process.pid)]

    def names(self) -> list[str]:
        """What runs there, by name."""
        return [name for name, _ in self._by_name()]

    def named(self, name: str) -> list[psutil.Process]:
        """What runs there under a name."""
        return [process for called, process in self._by_name() if called == name]

    def niceness(self) -> set[int]:
        """Of all that runs there."""
        found = set()
        for process in self.processes:
            with suppress(psutil.NoSuchProcess):
                found.add(process.nice())
        return found

    def _by_name(self) -> list[tuple[str, psutil.Process]]:
        found = []
        for process in self.processes:
            with suppress(psutil.NoSuchProcess):  # it may have ended meanwhile
                found.append((process.name(), process))
        return found

    def _runs(self, pid: int) -> bool:
        try:
            spaces = [Path(f"/proc/{one}/ns/pid").readlink() for one in (pid, self.first)]
        except OSError:  # it has ended
            return False
        return pid != self.first and spaces[0] == spaces[1]

    def inside(self, argv: Sequence[str]) -> list[str]:
        """The command that runs a program there."""
        words = [BAKEOFF if argv[0] == "bakeoff" else argv[0], *argv[1:]]
        return ["nsenter", "--target", str(self.first), *ENTER, "--wdns=/tmp", "--", *words]


class Bench:
    """A bridge and the machines on it."""

    def __init__(self) -> None:
        self._switch = _held("unshare", "--net", "sh", "-c", "echo ready; exec sleep infinity")
        self.ip("link", "add", "bridge", "type", "bridge")
        self.ip("link", "set", "bridge", "up")
        self.machines: list[Machine] = []

    def ip(self, *words: str) -> None:
        """Runs `ip` where the bridge is."""
        command = ["nsenter", "--target", str(self._switch.pid), "--net", "--", "ip", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"

    def add(self, count: int) -> list[Machine]:
        """So many machines more, called m0, m1, …"""
        first = len(self.machines)
        for number in range(first, first + count):
            self.machines.append(Machine(self, f"m{number}", number))
        return self.machines[first:]

    def remove(self) -> None:
        """Switch off all machines and take the bridge away."""
        for machine in self.machines:
            machine.end()
        for machine in self.machines:
            machine.kill()
        self._switch.kill()
        self._switch.wait(PATIENCE_S)
        assert self._switch.stdout is not None
        self._switch.stdout.close()


def _variables(more: Mapping[str, str]) -> dict[str, str]:
    """What programs of a machine find in their environment: nothing of this process but where programs are."""
    path = f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"PATH": path, "HOME": "/tmp/home", "LANG": "C.UTF-8", "COLUMNS": "120", **more}
