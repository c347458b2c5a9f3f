"""A small HTTP/2 server on the library `h2`, which behaves as told and counts what it did: known answers for our own
frames. It speaks with prior knowledge, or over TLS.
"""

import contextlib
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import RequestReceived, StreamReset
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes

PAGE = b"x" * 1024


@dataclass(frozen=True)
class Behaviour:
    """How a server behaves; each `…_every` counts its requests from 1 over all connections."""

    streams: int = 100
    body: bytes = PAGE
    stated: int | None = None
    reset_every: int = 0
    refuse_every: int = 0
    cut_every: int = 0
    away_after: int = 0
    drop_after: int = 0
    table_bytes: int = 4096
    silent: bool = False
    # The body of a reply, of the path and of how many requests came before over all connections.
    pages: Callable[[str, int], bytes] | None = None


class Http2Server:
    """`counts` has what was asked and answered, the most streams that were open at once among it."""

    def __init__(self, behaviour: Behaviour | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self.counts: Counter[str] = Counter()
        self.paths: Counter[str] = Counter()
        self._tls = tls
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, _1: type[BaseException] | None, _2: BaseException | None, _3: TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._sockets:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _start(self, body: object, *arguments: object) -> None:
        assert callable(body)
        thread = threading.Thread(target=body, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets.append(connection)
                self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ProtocolError), contextlib.closing(connection):
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
                self._sockets.append(connection)
            _Connection(self, connection).run()

    def count(self, name: str) -> int:
        """One more of these; how many there are now."""
        with self._lock:
            self.counts[name] += 1
            return self.counts[name]

    def most(self, name: str, value: int) -> None:
        """The largest that was ever told."""
        with self._lock:
            self.counts[name] = max(self.counts[name], value)


class _Connection:
    def __init__(self, server: Http2Server, connection: socket.socket) -> None:
        self._server, self._socket, self._behaviour = server, connection, server.behaviour
        self._h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._asked = 0
        self._ends = False
        server.count("connections")

    def run(self) -> None:
        m = self._behaviour
        self._h2.local_settings = self._h2.local_settings
        self._h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: m.streams})
        self._h2.initiate_connection()
        self._h2.update_settings(
            {SettingCodes.MAX_CONCURRENT_STREAMS: m.streams, SettingCodes.HEADER_TABLE_SIZE: m.table_bytes}
        )
        while not self._ends:
            if out := self._h2.data_to_send():
                self._socket.sendall(out)
            part = self._socket.recv(65536)
            if not part:
                return
            events = self._h2.receive_data(part)
            requests = [event for event in events if isinstance(event, RequestReceived)]
            self._server.most("streams", len(requests))
            for event in events:
                if isinstance(event, StreamReset):
                    self._server.count("reset by client")
            for event in requests:
                assert event.stream_id is not None and event.headers is not None
                self._answer(event.stream_id, dict(event.headers))
        if out := self._h2.data_to_send():
            self._socket.sendall(out)

    def _answer(self, stream: int, fields: dict[str, str]) -> None:
        m, server = self._behaviour, self._server
        if self._ends:
            return
        self._asked += 1
        asked = server.count("requests")
        with server._lock:
            server.paths[f"{fields[':method']} {fields[':scheme']}://{fields[':authority']}{fields[':path']}"] += 1
        if m.silent:
            return
        if m.drop_after and self._asked > m.drop_after:
            server.count("dropped")
            self._ends = True
            return
        if m.refuse_every and asked % m.refuse_every == 0:
            server.count("refused")
            self._h2.reset_stream(stream, ErrorCodes.REFUSED_STREAM)
            return
        if m.reset_every and asked % m.reset_every == 0:
            server.count("reset")
            self._h2.send_headers(stream, [(":status", "200")])
            self._h2.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)
            return
        body = m.body if m.pages is None else m.pages(fields[":path"], asked - 1)
        stated = len(body) if m.stated is None else m.stated
        if m.cut_every and asked % m.cut_every == 0:
            server.count("cut")
            body = body[: len(body) // 2]
        self._h2.send_headers(stream, [(":status", "200"), ("content-length", str(stated))])
        for begin in range(0, len(body), 16384):
            self._h2.send_data(stream, body[begin : begin + 16384])
        self._h2.end_stream(stream)
        server.count("replies")
        if m.away_after and self._asked == m.away_after:
            server.count("farewells")
            self._h2.close_connection(last_stream_id=stream)
            self._ends = True
