"""Keeps Ray running on a machine, in the foreground, and leaves no process of it when it ends."""

import ctypes
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import psutil

from bakeoff.agents.cluster.records import Claim
from bakeoff.core.errors import GeneratorError

BEGUN = "block forever"  # Ray's last words before it waits
VITAL = ("gcs_server", "raylet")  # a machine is of no use without; Ray waits on when one of them ends in good order
SLOW = "timed out during startup"  # after 30 s, which cannot be set
TRIES = 20
LOOK_S = 0.5
LAST_WORDS = 12  # lines of the log that are told when it fails
END_S = 10.0  # to end by itself
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # of prctl(2)
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def keep(
    claim: Claim,
    command: Sequence[str],
    environment: Mapping[str, str],
    cores: Sequence[int] | None,
    joined: Callable[[], None],
) -> None:
    """Run Ray until it is asked to end by SIGINT, SIGTERM or SIGHUP; `joined` is called when it is there.

    Its processes keep to `cores`. Raises GeneratorError when it cannot begin, or ends unasked.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # what outlives its parent is ours to end
    with _asked() as asked, Path(claim.record.log).open("w", encoding="utf-8") as log:
        for _ in range(TRIES):
            ray = _Ray(command, environment, cores, log, lambda: None if asked.is_set() else joined())
            try:
                while not asked.wait(LOOK_S) and not ray.is_over:
                    pass
            finally:
                ray.end()
            if asked.is_set() or not ray.was_slow:
                break
    if asked.is_set() or not claim.record.joined:
        shutil.rmtree(claim.record.folder, ignore_errors=True)
    if not asked.is_set():
        raise GeneratorError(_why(claim, ray.output))


class _Ray:
    """Ray's processes on this machine. `said` are its last lines, `was_slow` says that it gave up only because the
    machine was too busy to start it in the time that it gives itself.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        cores: Sequence[int] | None,
        log: TextIO,
        joined: Callable[[], None],
    ) -> None:
        self.output: list[str] = []
        self._over = threading.Event()
        self._vital: list[psutil.Process] | None = None
        self._log, self._joined = log, joined
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C is ours to hear
            preexec_fn=lambda: _begin(cores),
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def was_slow(self) -> bool:
        """See the class."""
        return any(SLOW in line for line in self.output)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or what it is nothing without."""
        vital = self._vital
        return self._over.is_set() or (vital is not None and not (vital and all(_lives(one) for one in vital)))

    def end(self) -> None:
        """End all of it."""
        _end(self._process)
        self._listener.join(END_S)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._log.write(line)
            self._log.flush()
            self.output.append(line.rstrip())
            del self.output[:-LAST_WORDS]
            if BEGUN in line:
                self._vital = _vital(self._process.pid)
                self._joined()
        self._over.set()


@contextmanager
def _asked() -> Iterator[threading.Event]:
    """An event that the signals of an end set."""
    event = threading.Event()
    before = {number: signal.signal(number, lambda *_: event.set()) for number in ENDS}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _begin(cores: Sequence[int] | None) -> None:
    """Done in the new process: it ends with the one that keeps it, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if cores:
        os.sched_setaffinity(0, cores)


def _vital(ray: int) -> list[psutil.Process]:
    """Those of VITAL that Ray has begun."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(ray).children():
            with suppress(psutil.NoSuchProcess):
                if child.name() in VITAL:
                    found.append(child)
    return found


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _end(process: subprocess.Popen[str]) -> None:
    """Ask Ray to end, and end by force what it leaves: its own processes, by their numbers."""
    process.terminate()
    ours = psutil.Process()
    _, alive = psutil.wait_procs(ours.children(recursive=True), END_S)
    while alive:
        for one in alive:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        psutil.wait_procs(alive, END_S)
        alive = ours.children(recursive=True)
    process.wait()


def _why(claim: Claim, lines: Sequence[str]) -> str:
    record = claim.record
    last = "\n".join(f"  {line}" for line in lines if line.strip())
    if record.joined:
        gone = "the head is gone, the network was cut, or Ray ended here" if record.name else "Ray ended here"
        return f"{record.title} left the cluster at {record.cluster}: {gone}; logs are in {record.folder}\n{last}"
    return f"{record.title} could not begin; Ray said (all of it is in {record.log}):\n{last}"
