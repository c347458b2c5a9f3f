"""One request and its reply by the engine, with its readers and its limits; what is wrong with them in words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from bakeoff import _engine
from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_duration, format_size
from bakeoff.kinds.web.spec import WebWorkload
from bakeoff.run.contenders.probe_connection import UNTRUSTED, Bounds, ProbeError, SlowError, shown, untrusted

HEAD_BYTES = 64 * 1024
LARGEST_BODY = 64 * 1024 * 1024
REPLY_BYTES = LARGEST_BODY + 256 * HEAD_BYTES  # bodies in small chunks take more on the wire

_WRONG: dict[str, Callable[[str, int], str]] = {
    "not_http": lambda line, _: f"this is not HTTP/1: {line!r}",
    "field": lambda line, _: f"a header is malformed: {line!r}",
    "length": lambda value, _: f"its Content-Length is malformed: {value!r}",
    "long_head": lambda _, __: "the head of the reply is too long",
    "long_line": lambda _, count: f"a line is longer than {format_size(count)}",
    "interims": lambda status, count: f"more than {count} interim replies (status {status}) and no real one",
    "chunk_size": lambda line, _: f"a chunk's size is malformed: {line!r}",
    "long_chunk": lambda _, __: "a chunk is longer than its size says",
    "trailer": lambda _, __: "the trailer of the body is malformed or too long",
    "short_body": lambda _, count: f"the body ends after {count} bytes, before its stated length",
    "closed": lambda _, __: "the reply breaks off: the connection is closed",
    "broken": lambda why, _: f"the reply breaks off ({why})",
    "not_http2": lambda _, __: "it breaks HTTP/2",
    "reset": lambda _, code: f"it resets the stream ({_code(code)})",
    "gone_away": lambda _, code: f"it ends the connection ({_code(code)})",
    "other_length": lambda stated, count: f"the body has {count} bytes, its Content-Length says {stated}",
}
_H2C = "it does not speak HTTP/2 with prior knowledge (h2c)"
_UNSPOKEN: dict[str, Callable[[str], str]] = {
    "other_application": lambda _: "its TLS does not offer HTTP/2 (ALPN h2)",
    "other_protocol": lambda line: f"it answers {line!r}: {_H2C}",
    "closes_at_once": lambda _: f"it closes when it is spoken to in HTTP/2: {_H2C}",
    "breaks_at_once": lambda _: f"it breaks off when it is spoken to in HTTP/2: {_H2C}",
}
# RFC 9113, 7.
_CODES = (
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
)  # fmt: skip


class UnopenedError(ProbeError):
    """There is no connection on which anything could be asked; it says what to do."""


class UnconnectedError(UnopenedError):
    """Nobody answers at the address."""


@dataclass(frozen=True)
class Limits:
    """What an exchange may take beside the bounds `whole` of several, s and bytes."""

    whole: Bounds
    connect_s: float
    reply_s: float


@dataclass(frozen=True)
class Fetched:
    """A whole reply. `headers` have small letters in their names; `head_bytes` counts as sent (HTTP/2: before
    compression), `tls` is version and cipher, `streams_allowed` the server's limit of requests at once on a connection
    with streams, if known.
    """

    status: int
    version: str
    headers: dict[str, str]
    head_bytes: int
    body: bytes
    kept_alive: bool
    tls: str | None
    streams_allowed: int | None


def connect(workload: WebWorkload, streams: int, limits: Limits) -> None:
    """Connect as the workload does, and drop the connection. Raises as `fetch` does."""
    connect_s, reply_s = _times(limits)
    try:
        _engine.connect(workload.model_dump_json(), streams, connect_s, reply_s)
    except (_engine.SpecError, _engine.EngineError) as error:
        _fail(workload, limits, error)


def fetch(workload: WebWorkload, streams: int, limits: Limits, request: bytes | None = None) -> Fetched:
    """The reply to the first request of a workload, or over HTTP/1 to `request`, on a connection of its own.

    Raises UnopenedError where there is no connection, else WireError; PlanError for what cannot be asked with.
    """
    (connect_s, reply_s), most = _times(limits), min(REPLY_BYTES, limits.whole.left_bytes)
    try:
        status, version, fields, head_bytes, body, kept_alive, tls, received, allowed = _engine.fetch_http(
            workload.model_dump_json(), streams, connect_s, reply_s, most, LARGEST_BODY, request
        )
    except (_engine.SpecError, _engine.EngineError) as error:
        _fail(workload, limits, error)
    limits.whole.spend(received)
    return Fetched(status, version, _headers(fields), head_bytes, body, kept_alive, tls, allowed)


def _headers(fields: list[tuple[str, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, raw in fields:
        value = raw.decode("utf-8", "backslashreplace")
        # Lengths that are stated twice are the same, or the reply had been refused.
        headers[name] = value if name not in headers or name == "content-length" else f"{headers[name]}, {value}"
    return headers


def _times(limits: Limits) -> tuple[float, float]:
    left_s = limits.whole.left_s()
    return min(limits.connect_s, left_s), min(limits.reply_s, left_s)


def _fail(workload: WebWorkload, limits: Limits, error: Exception) -> NoReturn:
    if isinstance(error, _engine.SpecError):
        raise PlanError(str(error)) from None
    name, raw, count, received = error.args
    why = shown(raw)
    slow = SlowError(f"no complete reply within {format_duration(limits.reply_s)}")
    if name == "slow":
        limits.whole.left_s()
        raise slow from None
    if name == "long":
        limits.whole.spend(received)
        raise ProbeError(f"the reply is longer than {format_size(REPLY_BYTES)}") from None
    if name in _UNSPOKEN:
        switch = "switch it on in the server, or leave out --http 2"
        raise UnopenedError(f"{_UNSPOKEN[name](why)}: {switch}") from None
    if name in _WRONG:
        limits.whole.spend(received)
        raise ProbeError(_WRONG[name](why, count)) from None
    if name == "refused":
        raise UnconnectedError("connection refused: start the server, or correct the address") from None
    if name == "not_connected":
        wait = format_duration(limits.connect_s)
        raise UnconnectedError(f"no connection within {wait}: check address, route and firewall") from None
    if name == "unreachable":
        raise UnconnectedError(f"cannot connect ({why}): check address and network") from None
    if name in UNTRUSTED:
        raise UnopenedError(untrusted(name, _host(workload), why)) from None
    reason = f"{slow}" if name == "tls_slow" else f"TLS fails ({why})"
    raise UnopenedError(f"{reason}: is this an http:// address?") from None


def _code(code: int) -> str:
    return _CODES[code] if code < len(_CODES) else str(code)


def _host(workload: WebWorkload) -> str:
    """The name that is asked for, without the port."""
    host = workload.host
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
