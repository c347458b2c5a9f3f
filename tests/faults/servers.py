"""Servers with faults that the built-in targets cannot be told, each a function of a request; and gateways that bring
any HTTP/1 server to clients of HTTP/2 and HTTP/3.
"""

import contextlib
import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError

from tests import http2_server, http3_server
from tests.servers.conftest import certificate
from tests.shop import shop

PAGE = bytes(range(256)) * 4


@dataclass(frozen=True)
class Reply:
    """What is sent for a request; `closes` ends the connection behind it, `resets` in place of it, `resets_kept` in
    place of the next one that comes on a connection which had one.
    """

    status: int = 200
    body: bytes = PAGE
    closes: bool = False
    resets: bool = False
    resets_kept: bool = False


# Of the path, and of how many requests came before over all connections.
Answer = Callable[[str, int], Reply]


class Scripted:
    """HTTP/1.1, GET alone, replies as one function says."""

    def __init__(self, answer: Answer) -> None:
        self._answer, self._asked, self._lock = answer, 0, threading.Lock()
        self._owed = 0  # kept connections that are to be reset
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._open: list[socket.socket] = []
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """End it with all its connections."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            rest, is_kept = b"", False
            while True:
                while b"\r\n\r\n" not in rest:
                    part = connection.recv(65536)
                    if not part:
                        return
                    rest += part
                head, _, rest = rest.partition(b"\r\n\r\n")
                line = head.split(b"\r\n")[0].decode()
                with self._lock:
                    before, self._asked = self._asked, self._asked + 1
                    reply = self._answer(line.split()[1], before)
                    self._owed += reply.resets_kept
                    resets_kept = is_kept and self._owed > 0
                    self._owed -= resets_kept
                is_kept = True
                if reply.resets or resets_kept:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    return
                closes = reply.closes or line.endswith("/1.0") or b"connection: close" in head.lower()
                connection.sendall(_head(reply, closes) + (reply.body if reply.status != 204 else b""))
                if closes:
                    return


def _head(reply: Reply, closes: bool) -> bytes:
    length = "" if reply.status == 204 else f"Content-Length: {len(reply.body)}\r\n"
    return f"HTTP/1.1 {reply.status} X\r\n{length}Connection: {'close' if closes else 'keep-alive'}\r\n\r\n".encode()


@contextmanager
def scripted(answer: Answer) -> Iterator[str]:
    """Where such a server is."""
    server = Scripted(answer)
    try:
        yield server.address
    finally:
        server.close()


class Upstream:
    """Asks an HTTP/1 server on behalf of others, over a kept connection of each thread."""

    def __init__(self, address: str) -> None:
        self._address, self._kept = address, threading.local()

    def ask(self, method: str, path: str) -> tuple[int, bytes, int] | None:
        """Status, body and its stated length, which may be more; None without a reply."""
        connection = getattr(self._kept, "connection", None)
        if connection is None:
            connection = self._kept.connection = http.client.HTTPConnection(self._address, timeout=60)
        try:
            connection.request(method, path)
            reply = connection.getresponse()
            stated = reply.getheader("Content-Length")
            body = reply.read()
            return reply.status, body, len(body) if stated is None else int(stated)
        except http.client.IncompleteRead as cut:
            connection.close()
            return reply.status, cut.partial, len(cut.partial) + (cut.expected or 0)
        except (OSError, http.client.HTTPException):
            connection.close()
            return None


class _Http2Gateway(http2_server.Http2Server):
    def __init__(self, address: str) -> None:
        super().__init__()
        self.upstream = Upstream(address)

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ProtocolError), contextlib.closing(connection):
            _Http2Connection(self, connection).run()


class _Http2Connection(http2_server._Connection):
    _server: _Http2Gateway

    def _answer(self, stream: int, fields: dict[str, str]) -> None:
        found = self._server.upstream.ask(fields[":method"], fields[":path"])
        if found is None:
            self._h2.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)
            return
        status, body, stated = found
        self._h2.send_headers(stream, [(":status", str(status)), ("content-length", str(stated))])
        for begin in range(0, len(body), 16384):
            self._h2.send_data(stream, body[begin : begin + 16384])
        self._h2.end_stream(stream)


class _Http3Gateway(http3_server.Http3Server):
    def __init__(self, address: str, cert: Path, key: Path) -> None:
        super().__init__(cert, key)
        self.upstream = Upstream(address)
        self.connection = _Http3Connection


class _Http3Connection(http3_server._Connection):
    _server: _Http3Gateway

    def _answer(self, stream: int, fields: dict[str, str]) -> None:
        found, h3 = self._server.upstream.ask(fields[":method"], fields[":path"]), self._h3
        assert h3 is not None
        if found is None:
            self._quic.reset_stream(stream, http3_server._INTERNAL)
            return
        status, body, stated = found
        h3.send_headers(stream, [(b":status", str(status).encode()), (b"content-length", str(stated).encode())])
        h3.send_data(stream, body, end_stream=True)


@contextmanager
def over_http2(address: str) -> Iterator[str]:
    """Where the server at `address` is asked over HTTP/2."""
    with _Http2Gateway(address) as gateway:
        yield gateway.address


@contextmanager
def over_http3(address: str, cert: Path, key: Path) -> Iterator[str]:
    """Where it is asked over HTTP/3."""
    with _Http3Gateway(address, cert, key) as gateway:
        yield gateway.address


@contextmanager
def scripted_http2(behaviour: http2_server.Behaviour) -> Iterator[str]:
    """Where a server of HTTP/2 behaves like this."""
    with http2_server.Http2Server(behaviour) as server:
        yield server.address


@contextmanager
def scripted_http3(behaviour: http3_server.Behaviour) -> Iterator[str]:
    """Where a server of HTTP/3 behaves like this."""
    with TemporaryDirectory() as folder:
        key, cert = certificate(Path(folder))
        with http3_server.Http3Server(cert, key, behaviour) as server:
            yield server.address


@contextmanager
def shopping(**faults: int) -> Iterator[str]:
    """Where a shop with these faults is."""
    with shop(**faults) as server:
        yield server.url.removeprefix("http://")
