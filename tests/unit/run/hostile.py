"""Servers that say what they are told to, however wrong."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import repeat

PAUSE_S = 0.02


class Hostile:
    """Sends the parts that `script()` gives on every connection, whatever it is asked; `sent` counts bytes."""

    def __init__(self, script: Callable[[], Iterable[bytes]], dripping: bool) -> None:
        self._script, self._dripping = script, dripping
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.sent = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._talk, args=(self._listener.accept()[0],), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            for part in self._script():
                if self._dripping and self._over.wait(PAUSE_S):
                    return
                connection.sendall(part)
                self.sent += len(part)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


@contextmanager
def saying(*parts: bytes) -> Iterator[Hostile]:
    """A server that sends `parts` and ends."""
    server = Hostile(lambda: parts, dripping=False)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def dripping(text: bytes, start: bytes = b"") -> Iterator[Hostile]:
    """A server that sends `start`, then `text` one byte after the other."""
    server = Hostile(lambda: [start, *(text[i : i + 1] for i in range(len(text)))], dripping=True)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def endless(start: bytes, part: bytes, most: int) -> Iterator[Hostile]:
    """A server that sends `start`, then `part` again and again; it gives up after `most` bytes."""
    server = Hostile(lambda: [start, *repeat(part, most // len(part))], dripping=False)
    try:
        yield server
    finally:
        server.close()
