"""A small HTTP/3 server on the library `aioquic`, which behaves as told and counts what it did: known answers for our
own frames and for QUIC.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, QuicEvent, StreamReset

PAGE = b"x" * 1024
_GOAWAY = 7
_REJECTED, _INTERNAL = 0x10B, 0x102


@dataclass(frozen=True)
class Behaviour:
    """How a server behaves; each `…_every` counts its requests from 1 over all connections."""

    streams: int = 100
    body: bytes = PAGE
    stated: int | None = None
    reset_every: int = 0
    reject_every: int = 0
    cut_every: int = 0
    away_after: int = 0
    drop_after: int = 0
    silent: bool = False
    # The body of a reply, of the path and of how many requests came before over all connections.
    pages: Callable[[str, int], bytes] | None = None
    alpn: str = "h3"
    # Frames and a stream of types that nobody knows stand before each reply.
    strange: bool = False


class Http3Server:
    """`counts` has what was asked and answered; certificate and key are files."""

    connection: type["_Connection"]

    def __init__(self, cert: Path, key: Path, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self.connection = _Connection
        self.counts: Counter[str] = Counter()
        self.paths: Counter[str] = Counter()
        self.address = ""
        self._cert, self._key = cert, key
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, _1: type[BaseException] | None, _2: BaseException | None, _3: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        configuration = QuicConfiguration(is_client=False, alpn_protocols=[self.behaviour.alpn])
        configuration.load_cert_chain(self._cert, self._key)

        def protocol(*arguments: object, **named: object) -> QuicConnectionProtocol:
            return self.connection(self, *arguments, **named)

        listening = serve("127.0.0.1", 0, configuration=configuration, create_protocol=protocol)
        server = self._loop.run_until_complete(listening)
        port = server._transport.get_extra_info("sockname")[1]
        self.address = f"127.0.0.1:{port}"
        self._ready.set()
        self._loop.run_forever()
        server.close()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()


class _Connection(QuicConnectionProtocol):
    def __init__(self, server: Http3Server, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)
        self._server, self._behaviour, self._asked = server, server.behaviour, 0
        # aioquic offers 128 and has no setting for it; a stream that ends makes room for another.
        limit = self._quic._local_max_streams_bidi
        limit.value = limit.sent = self._behaviour.streams
        self._h3: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        counts = self._server.counts
        if isinstance(event, HandshakeCompleted):
            counts["connections"] += 1
            self._h3 = H3Connection(self._quic)
        elif isinstance(event, ConnectionTerminated):
            counts["closed"] += 1
        elif isinstance(event, StreamReset):
            counts["reset by client"] += 1
        if self._h3 is None:
            return
        for h3_event in self._h3.handle_event(event):
            if isinstance(h3_event, HeadersReceived):
                fields = {name.decode(): value.decode() for name, value in h3_event.headers}
                self._answer(h3_event.stream_id, fields)
        self.transmit()

    def _answer(self, stream: int, fields: dict[str, str]) -> None:
        m, counts, h3 = self._behaviour, self._server.counts, self._h3
        assert h3 is not None
        self._asked += 1
        counts["requests"] += 1
        asked = counts["requests"]
        where = f"{fields[':scheme']}://{fields[':authority']}{fields[':path']}"
        self._server.paths[f"{fields[':method']} {where}"] += 1
        if m.silent:
            return
        if m.drop_after and self._asked > m.drop_after:
            counts["dropped"] += 1
            self._quic.close(_INTERNAL)
            return
        if m.reject_every and asked % m.reject_every == 0:
            counts["rejected"] += 1
            self._quic.reset_stream(stream, _REJECTED)
            return
        body = m.body if m.pages is None else m.pages(fields[":path"], asked - 1)
        stated = len(body) if m.stated is None else m.stated
        headers = [(b":status", b"200"), (b"content-length", str(stated).encode()), (b"x-own", b"a value of our own")]
        if m.strange:
            self._quic.send_stream_data(stream, encode_uint_var(0x21) + encode_uint_var(3) + b"abc")
            own = self._quic.get_next_available_stream_id(is_unidirectional=True)
            self._quic.send_stream_data(own, encode_uint_var(0x40) + b"whatever", end_stream=True)
        h3.send_headers(stream, headers)
        if m.reset_every and asked % m.reset_every == 0:
            counts["reset"] += 1
            self._quic.reset_stream(stream, _INTERNAL)
            return
        cut = m.cut_every and asked % m.cut_every == 0
        h3.send_data(stream, body[: len(body) // 2] if cut else body, end_stream=True)
        counts["replies"] += 1
        if m.away_after and self._asked == m.away_after:
            counts["farewells"] += 1
            frame = encode_uint_var(_GOAWAY) + encode_uint_var(8) + (0b11 << 62 | stream + 4).to_bytes(8, "big")
            control = h3._local_control_stream_id
            assert control is not None
            self._quic.send_stream_data(control, frame)
