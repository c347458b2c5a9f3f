"""Another machine by its /proc, read by one shell there that lives as long as it is watched: nothing is installed.

The shell waits for a line, prints the files and waits for the next one: nothing happens there between two samples.
"""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import time
from contextlib import suppress

from bakeoff.core.system.ssh import CONNECT_S, argv
from bakeoff.telemetry.readers.proc_text import FILES, SPEED_FILES, SPEEDS, TICKS_PER_S, machine
from bakeoff.telemetry.readers.processes import parsed, process
from bakeoff.telemetry.reading import Reading, SampleError
from bakeoff.telemetry.where import Where

MOST_BYTES = 8 << 20
END = "==> bakeoff <=="
OWN = "self"
# Its last words are read when it has ended, and what closed its output is about to.
ENDS_S = 0.2
# `head` prints the name of each file before its lines; one process for each sample.
LOOP = (
    "while read -r x; do head -n 5000 "
    + " ".join(FILES.values())
    + f' /proc/$$/stat {SPEED_FILES} 2>/dev/null; printf "\\n%s\\n" "{END}"; done'
)


def command(where: Where) -> list[str]:
    """What is run here."""
    return list(argv(where.what, f"exec sh -c {shlex.quote(LOOP)}", where.user, where.port))


def texts(answer: str) -> dict[str, str]:
    """The files of an answer by their names in `FILES`; the shell's own under `OWN`, speeds of links by their path."""
    names = {path: name for name, path in FILES.items()}
    found, name = dict[str, list[str]](), None
    for line in answer.split("\n"):
        if line.startswith("==> ") and line.endswith(" <=="):
            path = line[4:-4]
            name = (
                OWN
                if path.startswith("/proc/") and path.endswith("/stat") and path != "/proc/stat"
                else path
                if SPEEDS.fullmatch(path)
                else names.get(path)
            )
        elif name is not None:
            found.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


class OverSsh:
    """See the module, and Source."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._ssh: subprocess.Popen[bytes] | None = None
        self._sent = self._received = 0
        self._helper_s = 0.0
        self._remote_s = self._ended_s = 0.0
        self._before_s = 0.0

    def sample(self, deadline_s: float) -> Reading:
        """See Source. The first sample takes as long as logging in does."""
        try:
            first = self._ssh is None
            ssh = self._ssh or self._begin()
            answer = self._ask(ssh, CONNECT_S if first else deadline_s)
        except (OSError, SampleError) as error:
            why = self._why()
            self.close()
            raise SampleError(why or str(error)) from None
        found = texts(answer)
        reading = machine(found)
        if "cpu_user_s" not in reading.counters:
            raise SampleError("it has no /proc/stat: only Linux can be watched")
        reading.remote_cpu_s = self._spent(found.get(OWN, ""))
        return reading

    def _begin(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            # A group of its own: Ctrl-C ends the run, which then ends ssh.
            ssh = subprocess.Popen(
                command(self._where), stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
        except FileNotFoundError:
            raise SampleError("there is no ssh here: install openssh-client") from None
        self._ssh, self._before_s, self._ended_s = ssh, 0.0, self._remote_s
        return ssh

    def _write(self, ssh: subprocess.Popen[bytes], text: str) -> None:
        assert ssh.stdin is not None
        try:
            ssh.stdin.write(text.encode())
        except BrokenPipeError:
            raise SampleError("ssh ended") from None
        self._sent += len(text)

    def _ask(self, ssh: subprocess.Popen[bytes], deadline_s: float) -> str:
        self._write(ssh, "\n")
        assert ssh.stdout is not None
        until, answer, end = time.monotonic() + deadline_s, bytearray(), f"\n{END}\n".encode()
        while not answer.endswith(end):
            left_s = until - time.monotonic()
            if left_s <= 0 or not select.select([ssh.stdout], [], [], left_s)[0]:
                raise SampleError("it did not answer in time")
            chunk = os.read(ssh.stdout.fileno(), 1 << 16)
            if not chunk:
                raise SampleError("ssh ended")
            answer += chunk
            self._received += len(chunk)
            if len(answer) > MOST_BYTES:
                raise SampleError("its answer has no end")
        self._helper_now()
        return answer.decode("utf-8", "replace")

    def _helper_now(self) -> None:
        found = None if self._ssh is None else process(self._ssh.pid)
        if found is not None:
            now_s = (found.user + found.system) / TICKS_PER_S
            self._helper_s += max(0.0, now_s - self._before_s)
            self._before_s = now_s

    def _spent(self, text: str) -> float:
        """Processor time of the shell there and of all that it ran, over all its lives."""
        shell = parsed(text.strip())
        if shell is not None:
            ticks = shell.user + shell.system + shell.waited_user + shell.waited_system
            self._remote_s = self._ended_s + ticks / TICKS_PER_S
        return self._remote_s

    def _why(self) -> str:
        """The last line that ssh said, if it ended."""
        ssh = self._ssh
        if ssh is None or ssh.stderr is None:
            return ""
        with suppress(subprocess.TimeoutExpired):
            ssh.wait(ENDS_S)
        if ssh.poll() is None or not select.select([ssh.stderr], [], [], 0)[0]:
            return ""
        lines = os.read(ssh.stderr.fileno(), 1 << 14).decode("utf-8", "replace").strip().splitlines()
        reason = "".join(letter for letter in (lines[-1] if lines else "") if letter.isprintable())[:200]
        return f"ssh: {reason}" if reason else ""

    def traffic(self) -> tuple[int, int]:
        """See Source. What goes through ssh, before it is packed."""
        return self._sent, self._received

    def helper_cpu_s(self) -> float:
        return self._helper_s

    def close(self) -> None:
        ssh, self._ssh = self._ssh, None
        if ssh is None:
            return
        for pipe in (ssh.stdin, ssh.stdout, ssh.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        ssh.terminate()
        try:
            ssh.wait(1.0)
        except subprocess.TimeoutExpired:
            ssh.kill()
            ssh.wait()
