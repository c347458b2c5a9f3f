"""The command in forks (`tests/forks.py`), its output wherever and in whatever encoding a test wants it."""

import os
import socket
from contextlib import ExitStack
from pathlib import Path

from tests.forks import ask

CLOSED = "closed"


class Forks:
    """`run` gives exit code, standard output and standard error of the command in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(
        self,
        *words: object,
        stdout: str | None = None,
        stderr: str | None = None,
        encoding: str = "utf-8",
        **environment: str,
    ) -> tuple[int, str, str]:
        """`stdout` and `stderr` are paths, or CLOSED."""
        out, err = self.folder / ".out", self.folder / ".err"
        for path in (out, err):
            path.write_bytes(b"")
        surroundings = os.environb | {name.encode(): os.fsencode(value) for name, value in environment.items()}
        case = [[os.fsencode(str(word)) for word in words], bytes(self.folder), surroundings, encoding]
        with ExitStack() as stack:
            link = stack.enter_context(socket.socket(socket.AF_UNIX))
            places = [os.devnull, stdout or str(out), stderr or str(err)]
            modes = [os.O_RDONLY, *[os.O_WRONLY | os.O_APPEND] * 2]
            descriptors = [
                -1 if place == CLOSED else os.open(place, mode) for place, mode in zip(places, modes, strict=True)
            ]
            for number in descriptors:
                if number >= 0:
                    stack.callback(os.close, number)
            code = ask(link, case, descriptors)
        return code, out.read_bytes().decode(encoding), err.read_bytes().decode(encoding)
