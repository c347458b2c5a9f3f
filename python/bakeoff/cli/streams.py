"""Standard output and error as every verb has them: always there, in any encoding, and harmless to read.

Text from outside passes through here, whatever prints it. Rich draws with escape sequences of its own: it looks for
`rich_proxied_file` and writes there; `bakeoff.cli.console` makes consoles that show those of others.
"""

import codecs
import contextlib
import errno
import os
import sys
from typing import Any, TextIO

from bakeoff.core.errors import BakeoffError
from bakeoff.core.sanitize import sanitize
from bakeoff.core.system.lossy_stream import SteadyStream

NARROWEST, WIDEST = 20, 1000
_PLAIN: dict[str | int, str | int | None] = {
    "×": "x",
    "÷": "/",
    "±": "+/-",
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "µ": "u",
    "δ": "delta",
}
_PLAIN |= {"≤": "<=", "≥": ">=", "→": "->", "·": "."}


class OutputError(BakeoffError):
    """What was to be printed could not be written."""


class CheckedStream:
    """A stream that fails with a sentence; a reader who has gone stays a BrokenPipeError."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write. Raises OutputError."""
        try:
            return self._stream.write(text)
        except OSError as error:
            raise _explained(error) from None

    def flush(self) -> None:
        """Flush. Raises OutputError."""
        try:
            self._stream.flush()
        except OSError as error:
            raise _explained(error) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class SanitizedStream:
    """A stream that writes control characters out. Rich goes around it."""

    # What it takes, not what it sends on: `typer.echo` goes around streams that take ASCII alone.
    encoding, errors = "utf-8", "strict"

    def __init__(self, stream: Any) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Write what can be seen."""
        self.rich_proxied_file.write(sanitize(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write one after the other."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


# Those of standard input, output and error that were closed when the command began.
CLOSED = set[str]()


def mend_streams() -> None:
    """Before anything else is opened or printed."""
    _open_what_is_closed()
    _mend_width()
    codecs.register_error("bakeoff", _in_plain_letters)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # not the interpreter's own stream
            stream.reconfigure(errors="bakeoff")  # type: ignore[union-attr]
    sys.stdout = SanitizedStream(CheckedStream(sys.stdout))
    sys.stderr = SanitizedStream(SteadyStream(sys.stderr))


def _open_what_is_closed() -> None:
    """A closed descriptor would be given to the next file that is opened: messages would end up in a run file."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number is this one
            CLOSED.add(name)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def _mend_width() -> None:
    """Rich and Typer take any number of columns, even none."""
    for name in ("COLUMNS", "LINES"):
        text = os.environ.get(name, "")
        if text and not (text.isascii() and text.isdigit() and int(text[:9]) > 0):
            del os.environ[name]
        elif text and name == "COLUMNS":
            os.environ[name] = str(max(NARROWEST, min(WIDEST, int(text[:9]))))


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """What an encoding does not have: × as x, others as `\\u2026`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(str.maketrans(_PLAIN))
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


def _explained(error: OSError) -> OSError | OutputError:
    if error.errno == errno.EPIPE:
        return error
    return OutputError(f"the output cannot be written ({error.strerror}): write it elsewhere")
