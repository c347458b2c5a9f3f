"""HTTP/3 servers that send rubbish, and servers that send without end: each is an error by name, and none keeps its
client busy beyond the trial.
"""

import asyncio
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import encode_frame
from aioquic.quic.events import QuicEvent

from bakeoff.agents.result import TrialResult
from bakeoff.run.outcome.judge import judge
from tests.conftest import run_trial
from tests.control import PATIENCE_S
from tests.http3_server import PAGE, Http3Server, _Connection
from tests.servers.conftest import certificate
from tests.truth.test_http3_truth import workload
from tests.unit.run.fake import WEB

DATA, HEADERS, GOAWAY, UNKNOWN = 0, 1, 7, 0x21
# Beyond what a trial of a second can take, so that one which waited for the end would never come to it.
ENDLESS_BYTES = 1 << 32
PIECE = 1200


class Rude(_Connection):
    """Answers a request by `says`, which sends on the stream of the request, or on others."""

    says: Callable[["Rude", int], None]
    dice = random.Random(5)

    def _answer(self, stream: int, fields: dict[str, str]) -> None:
        self._server.counts["requests"] += 1
        self.says(stream)

    def put(self, stream: int, data: bytes, end: bool = False) -> None:
        self._quic.send_stream_data(stream, data, end)

    def head(self, stream: int, *fields: tuple[bytes, bytes], end: bool = False) -> None:
        assert self._h3 is not None
        self._h3.send_headers(stream, [(b":status", b"200"), *fields], end_stream=end)

    def endless(self, stream: int, piece: Callable[[], bytes]) -> None:
        """Sends for as long as the client takes it: no more at once than it has acknowledged."""

        async def send() -> None:
            sent = 0
            while sent < ENDLESS_BYTES and self._quic._close_event is None:
                sender = self._quic._streams[stream].sender if stream in self._quic._streams else None
                if sender is None or sender._buffer_stop - sender._buffer_start < 200 * PIECE:
                    data = piece()
                    sent += len(data)
                    self._server.counts["pushed"] += len(data)
                    self.put(stream, data)
                    self.transmit()
                await asyncio.sleep(0)

        self._server.tasks.append(asyncio.ensure_future(send()))

    def quic_event_received(self, event: QuicEvent) -> None:
        super().quic_event_received(event)


class RudeServer(Http3Server):
    def __init__(self, cert: Path, key: Path, says: Callable[[Rude, int], None]) -> None:
        super().__init__(cert, key)
        self.tasks: list[Any] = []
        self.connection = type("Saying", (Rude,), {"says": says})


def own_stream(to: Rude, kind: int) -> int:
    stream = to._quic.get_next_available_stream_id(is_unidirectional=True)
    to.put(stream, encode_uint_var(kind))
    return stream


def control(to: Rude) -> int:
    assert to._h3 is not None and to._h3._local_control_stream_id is not None
    return to._h3._local_control_stream_id


def encoder(to: Rude) -> int:
    assert to._h3 is not None and to._h3._local_encoder_stream_id is not None
    return to._h3._local_encoder_stream_id


def decoder(to: Rude) -> int:
    assert to._h3 is not None and to._h3._local_decoder_stream_id is not None
    return to._h3._local_decoder_stream_id


def right_head(to: Rude, stream: int) -> None:
    to.head(stream, (b"content-length", b"1024"))


def after_head(then: Callable[[Rude, int], None]) -> Callable[[Rude, int], None]:
    def says(to: Rude, stream: int) -> None:
        right_head(to, stream)
        then(to, stream)

    return says


def stated(length: bytes, body: bytes = PAGE) -> Callable[[Rude, int], None]:
    def says(to: Rude, stream: int) -> None:
        to.head(stream, (b"content-length", length))
        to.put(stream, encode_frame(DATA, body), end=True)

    return says


RUBBISH: dict[str, Callable[[Rude, int], None]] = {
    "garbage": lambda to, stream: to.put(stream, to.dice.randbytes(2000), end=True),
    "garbage behind a head": after_head(lambda to, stream: to.put(stream, to.dice.randbytes(2000), end=True)),
    "garbage as a head": lambda to, stream: to.put(stream, encode_frame(HEADERS, to.dice.randbytes(500)), end=True),
    "other bytes": after_head(lambda to, stream: to.put(stream, encode_frame(DATA, b"y" * 1000), end=True)),
    "no head": lambda to, stream: to.put(stream, encode_frame(DATA, PAGE), end=True),
    "nothing": lambda to, stream: to.put(stream, b"", end=True),
    "half a frame": after_head(lambda to, stream: to.put(stream, encode_frame(DATA, PAGE)[:500], end=True)),
    "longer than stated": stated(b"1000"),
    "shorter than stated": stated(b"1100"),
    "a length of no number": stated(b"-1"),
    "a length beyond all numbers": stated(b"9" * 40),
    "two lengths": lambda to, stream: (
        to.head(stream, (b"content-length", b"1024"), (b"content-length", b"1025")),
        to.put(stream, encode_frame(DATA, PAGE), end=True),
    )[0],
    "a reset before the head": lambda to, stream: to._quic.reset_stream(stream, 0x102),
    "a reset within the body": after_head(
        lambda to, stream: (to.put(stream, encode_frame(DATA, PAGE[:9])), to._quic.reset_stream(stream, 0x102))[0]
    ),
    "a status of no number": lambda to, stream: to.put(
        stream, encode_frame(HEADERS, b"\x00\x00\x5f\x09\x03abc") + encode_frame(DATA, PAGE), end=True
    ),
    "fields of a megabyte": lambda to, stream: to.put(stream, encode_frame(HEADERS, bytes(1 << 20)), end=True),
    "fields that unfold": lambda to, stream: to.put(stream, encode_frame(HEADERS, b"\0\0" + b"\xff\x0b" * 30_000)),
    "a push": lambda to, stream: to.put(own_stream(to, 1), b"\0"),
    "a second control stream": lambda to, stream: to.put(own_stream(to, 0), encode_frame(4, b"")),
    "a table that nobody asked for": lambda to, stream: to.put(encoder(to), b"\x3f\xe1\x1f"),
    "settings twice": lambda to, stream: to.put(control(to), encode_frame(4, b"")),
    "frames of HTTP/2": lambda to, stream: to.put(stream, encode_frame(8, b"\0" * 4)),
}
WITHOUT_END: dict[str, Callable[[Rude, int], None]] = {
    "garbage": lambda to, stream: to.endless(stream, lambda: to.dice.randbytes(PIECE)),
    "a body": after_head(lambda to, stream: to.endless(stream, lambda: encode_frame(DATA, PAGE))),
    "one frame of data": after_head(
        lambda to, stream: (to.put(stream, encode_uint_var(DATA) + encode_uint_var(1 << 60)), endless_x(to, stream))[1]
    ),
    "empty data": after_head(lambda to, stream: to.endless(stream, lambda: encode_frame(DATA, b"") * 500)),
    "unknown frames": lambda to, stream: to.endless(stream, lambda: encode_frame(UNKNOWN, b"ab") * 300),
    "one unknown frame": lambda to, stream: (
        to.put(stream, encode_uint_var(UNKNOWN) + encode_uint_var(1 << 60)),
        endless_x(to, stream),
    )[1],
    "interim heads": lambda to, stream: to.endless(stream, lambda: encode_frame(HEADERS, b"\0\0\xff\0") * 100),
    "trailers": after_head(
        lambda to, stream: to.endless(stream, lambda: encode_frame(HEADERS, b"\0\0\x21a\x01b") * 100)
    ),
    "an idle table": lambda to, stream: to.endless(encoder(to), lambda: b"\x20" * PIECE),
    "acknowledgements": lambda to, stream: to.endless(decoder(to), lambda: b"\x80" * PIECE),
    "farewells": lambda to, stream: to.endless(control(to), lambda: encode_frame(GOAWAY, b"\x44\x00") * 200),
    "settings of no frame": lambda to, stream: to.endless(control(to), lambda: encode_frame(UNKNOWN, b"") * 300),
    "a stream of no type": lambda to, stream: to.endless(own_stream(to, 0x40), lambda: bytes(PIECE)),
}


def endless_x(to: Rude, stream: int) -> None:
    to.endless(stream, lambda: b"x" * PIECE)


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    key, cert = certificate(tmp_path_factory.mktemp("tls"))
    return cert, key


@pytest.fixture
def rude(identity: tuple[Path, Path]) -> Iterator[Callable[..., RudeServer]]:
    open_servers: list[RudeServer] = []

    def start(says: Callable[[Rude, int], None]) -> RudeServer:
        server = RudeServer(*identity, says)
        server.__enter__()
        open_servers.append(server)
        return server

    yield start
    for server in open_servers:
        for task in server.tasks:
            server._loop.call_soon_threadsafe(task.cancel)
        server.__exit__(None, None, None)


@pytest.mark.parametrize("what", RUBBISH)
def test_rubbish_is_an_error_by_name_and_no_operation(
    rude: Callable[..., RudeServer], identity: tuple[Path, Path], what: str
) -> None:
    server = rude(RUBBISH[what])
    result = run_trial(
        workload(server, identity[0]), streams=3, max_operations=12, length_s=PATIENCE_S, reply_timeout_s=2.0
    )
    assert result["operations"] == 0 and sum(result["errors"].values()) == 12, result["errors"]
    assert set(result["errors"]) <= {
        "protocol", "short_body", "wrong_content", "wrong_status", "stream_reset", "closed_early", "reply_timeout",
    }  # fmt: skip
    assert judge(TrialResult.model_validate(result), 0.05, WEB)[0] == "failed"


@pytest.mark.parametrize("what", WITHOUT_END)
def test_what_has_no_end_ends_with_the_trial(
    rude: Callable[..., RudeServer], identity: tuple[Path, Path], what: str
) -> None:
    server = rude(WITHOUT_END[what])
    spec = workload(server, identity[0])
    result = run_trial(spec, clients=2, streams=2, length_s=2.0, reply_timeout_s=0.5)
    assert server.counts["requests"] > 0
    assert result["operations"] == 0 and sum(result["errors"].values()) > 0, result["errors"]
    assert result["elapsed_s"] < 2.0 + 60.0
    # What nobody asked for is not kept.
    assert result["generator"]["rss_bytes"] < 1 << 30
