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

import psutil

from bakeoff.cluster.records import Claim
from bakeoff.errors import LabError

BEGUN = "block forever"  # Ray's last words before it waits
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

    Its processes keep to `cores`. Raises LabError when it cannot begin, or ends unasked.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # what outlives its parent is ours to end
    with _asked() as asked, Path(claim.record.log).open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
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
        said: list[str] = []

        def listen() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                log.write(line)
                log.flush()
                said.append(line.rstrip())
                del said[:-LAST_WORDS]
                if BEGUN in line and not asked.is_set():
                    joined()
            asked.set()

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        try:
            asked.wait()
            unasked = not listener.is_alive() or process.poll() is not None
        finally:
            _end(process)
            listener.join(END_S)
    if not unasked or not claim.record.joined:
        shutil.rmtree(claim.record.folder, ignore_errors=True)
    if unasked:
        raise LabError(_why(claim, said))


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


def _why(claim: Claim, said: Sequence[str]) -> str:
    record = claim.record
    last = "\n".join(f"  {line}" for line in said if line.strip())
    if record.joined:
        gone = "the head is gone or the network was cut" if record.name else "a process of it ended"
        return f"{record.title} left the cluster at {record.cluster}: {gone}; logs are in {record.folder}\n{last}"
    return f"{record.title} could not begin; Ray said (all of it is in {record.log}):\n{last}"
