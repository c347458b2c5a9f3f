"""Asks a machine: one process, bounded in time and in what it may say, ended with all that it started."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass

from bakeoff.core.errors import GeneratorError
from bakeoff.core.sanitize import sanitize
from bakeoff.core.units import format_size
from bakeoff.disclosure.collect.ways import Way

LONGEST_S = 45.0
MOST_BYTES = 8 << 20
MOST_COMPLAINT = 16 << 10
_PIECE = 1 << 16
GRACE_S = 2.0


@dataclass
class _Output:
    """What came from a process."""

    out: bytearray
    err: bytearray
    flooded: bool = False
    late: bool = False


def ask(way: Way, script: bytes, longest_s: float = LONGEST_S, most: int = MOST_BYTES) -> bytes:
    """What a machine answers to `script`, given as its standard input. Raises GeneratorError with one sentence."""
    # No window may ask for a password either.
    environment = {name: text for name, text in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment["SSH_ASKPASS_REQUIRE"] = "never"
    try:
        process = subprocess.Popen(
            way.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # it has no terminal to ask at, and ends as a whole
        )
    except OSError as error:
        raise GeneratorError(f"{way.text}: {way.argv[0]} cannot be started ({error.strerror}): install it") from None
    try:
        output = _exchange(process, b"" if way.kind == "command" else script, longest_s, most)
        code = None if output.late or output.flooded else process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        code = None  # it closed its output and goes on: it is ended below
    finally:
        _end(process)
    if output.late:
        raise GeneratorError(f"{way.text} did not answer within {longest_s:g} s: {_advice(way)}")
    if output.flooded:
        raise GeneratorError(
            f"{way.text} answered with more than {format_size(most)}: is it the right machine or command?"
        )
    if code:
        raise GeneratorError(_why(way, code, bytes(output.err)))
    return bytes(output.out)


def _exchange(process: subprocess.Popen[bytes], script: bytes, longest_s: float, most: int) -> _Output:
    """Write and read until the other side has closed both of its outputs, at most so long and so much."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    output, ends_at = _Output(bytearray(), bytearray()), time.monotonic() + longest_s
    rest = memoryview(script)
    with selectors.DefaultSelector() as selector:
        for stream, what in ((process.stdin, "in"), (process.stdout, "out"), (process.stderr, "err")):
            os.set_blocking(stream.fileno(), False)
            events = selectors.EVENT_WRITE if what == "in" else selectors.EVENT_READ
            selector.register(stream, events, what)
        while any(key.data != "in" for key in selector.get_map().values()):
            left_s = ends_at - time.monotonic()
            if left_s <= 0:
                output.late = True
                return output
            for key, _ in selector.select(left_s):
                if key.data == "in":
                    rest = _write(key.fd, rest)
                    closed = not rest
                else:
                    closed = _read(key.fd, output, key.data)
                if closed:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
            if len(output.out) > most:
                output.flooded = True
                return output
    return output


def _write(fd: int, rest: memoryview) -> memoryview:
    """Write what there is room for; who does not listen any more is written nothing."""
    try:
        return rest[os.write(fd, rest[:_PIECE]) :] if rest else rest
    except BlockingIOError:
        return rest
    except OSError:
        return rest[:0]


def _read(fd: int, output: _Output, what: str) -> bool:
    """Read a piece; whether that was the end."""
    try:
        piece = os.read(fd, _PIECE)
    except BlockingIOError:
        return False
    except OSError:
        return True
    if what == "out":
        output.out += piece
    elif len(output.err) < MOST_COMPLAINT:
        output.err += piece
    return not piece


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it started, and close what leads to it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)


def _advice(way: Way) -> str:
    return f"try `{way.ssh} true`" if way.kind == "ssh" else "try it by hand"


def _why(way: Way, code: int, complaint: bytes) -> str:
    """Why a process ended with `code`, in one sentence."""
    text = complaint.decode("utf-8", "replace")
    if way.kind == "ssh":
        if "IDENTIFICATION HAS CHANGED" in text:
            return f"{way.text}: the key of {way.host} is not the one that was known: find out why before you go on"
        if re.search(r"Host key verification failed|host key is known", text):
            return f"{way.text}: the key of {way.host} is not known here: log in once with `{way.ssh}` and check it"
        if "Permission denied" in text or "Too many authentication failures" in text:
            return (
                f"{way.text} wants a password or another key: Bakeoff gives none; make `{way.ssh}` work without being "
                "asked (ssh-copy-id)"
            )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = sanitize(lines[-1])[:200] if lines else f"it ended with {code}"
    return f"{way.text} gave no facts ({last}): {_advice(way)}"
