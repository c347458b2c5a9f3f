"""Restore a contender before its turn: the plan's shell command, then wait until it answers."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable

from bakeoff.core.errors import ContenderError
from bakeoff.core.units import format_duration
from bakeoff.plan.model import Contender

RESET_TIMEOUT_S = 300.0
RETRY_S = 0.1


def reset(contender: Contender, answers: Callable[[], None], timeout_s: float = RESET_TIMEOUT_S) -> None:
    """Run the contender's reset command, if it has one, then call `answers` until it raises no ContenderError.

    Raises ContenderError when the command fails, does not end in time, or the contender does not come back.
    """
    if contender.reset is None:
        return
    run_shell(contender.reset, f"{contender.name}: reset command", timeout_s)
    wait_for(contender, answers, "its reset")


def wait_for(contender: Contender, answers: Callable[[], None], since: str) -> None:
    """Call `answers` until it raises no ContenderError. Raises ContenderError when the contender does not come back;
    `since` says what its time counts from.
    """
    until = time.monotonic() + contender.ready_timeout_s
    while True:
        try:
            answers()
            return
        except ContenderError as error:
            if time.monotonic() >= until:
                waited = format_duration(contender.ready_timeout_s)
                raise ContenderError(f"{error} ({waited} after {since}; ready_timeout sets how long to wait)") from None
        time.sleep(RETRY_S)


def run_shell(command: str, what: str, timeout_s: float) -> None:
    """Run a command of the plan by /bin/sh. Raises ContenderError with the end of its output when it fails.

    The output goes to a file, not a pipe: a server that the command leaves behind would keep a pipe open.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=timeout_s)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise ContenderError(
                f"{what} did not end within {format_duration(timeout_s)}: put a server into the "
                f"background, or make it faster"
            ) from None
        if code != 0:
            output.seek(max(0, output.seek(0, os.SEEK_END) - 400))
            words = output.read().decode("utf-8", "replace").strip()
            raise ContenderError(f"{what} ended with exit code {code}" + (f": {words}" if words else ""))
