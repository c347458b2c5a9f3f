"""Calls that may hang, as those on a share do whose server is gone."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class HangsError(Exception):
    """A call did not come back in time. Its thread is left behind: nobody can end it."""


def answers(folder: str, patience_s: float) -> bool:
    """Whether the file system of `folder` answers at all, well or badly.

    Asked by another process: one of our threads that hangs inside the kernel would keep all of us from ending. Once
    some do, a thread has to ask: a new process closes the files that it inherits, and hangs as we do over those of the
    share, with us waiting for it.
    """
    if hanging_calls():
        try:
            in_time(lambda: _ask(folder), patience_s)
        except HangsError:
            return False
        return True
    with contextlib.suppress(OSError):  # no such program: the call itself will tell
        asked = subprocess.Popen(["stat", "-f", "--", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            asked.wait(patience_s)
        except subprocess.TimeoutExpired:
            asked.kill()
            return False
    return True


def _ask(folder: str) -> bool:
    with contextlib.suppress(OSError):
        os.statvfs(folder)
    return True


def in_time(work: Callable[[], T], patience_s: float) -> T:
    """What `work` returns, or its exception. Raises HangsError when it takes longer than `patience_s`."""
    box: list[T] = []
    fault: list[BaseException] = []

    def run() -> None:
        try:
            box.append(work())
        except BaseException as error:
            fault.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(patience_s)
    if fault:
        raise fault[0]
    if not box:
        raise HangsError
    return box[0]


def hanging_calls() -> int:
    """Threads of this process that wait inside the kernel and cannot be ended, not even by killing the process."""
    count = 0
    for task in Path("/proc/self/task").iterdir():
        try:
            state = (task / "stat").read_text().rpartition(")")[2].split()[0]
            waits = (task / "wchan").read_text()
        except OSError:
            continue  # the thread has ended
        if task.name != str(os.getpid()):
            count += state == "D" or waits == "request_wait_answer"
    return count
