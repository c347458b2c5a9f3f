"""One HTTP/1 reply, read with the limits of the engine (`crates/workloads/src/web/head.rs`)."""

import re
from dataclasses import dataclass

from bakeoff.run.wire import Wire, WireError, shown

HEAD_BYTES = 64 * 1024
HEADERS = 128
INTERIM_REPLIES = 16
CHUNK_LINE_BYTES = 16 * 1024

_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: [^\x00]*)?")
_HEADER = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\x00]*?)[ \t]*")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?", re.DOTALL)
_LENGTH = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class Head:
    """`headers` have small letters in their names; `size` counts the bytes as sent."""

    status: int
    version: str
    headers: dict[str, str]
    size: int


def read_reply(wire: Wire, largest: int, head_only: bool = False) -> tuple[Head, bytes, bool]:
    """The next reply to a GET: head, body (`largest` bytes of it at most), and whether the connection is kept. With
    `head_only` that to a HEAD, which has no body, whatever it states.

    Raises WireError for what is not HTTP/1 or contradicts itself.
    """
    for _ in range(INTERIM_REPLIES):
        head = _head(wire)
        if head.status >= 200 or head.status == 101:
            break
    else:
        raise WireError(f"more than {INTERIM_REPLIES} interim replies (status {head.status}) and no real one")
    body, framed = (b"", True) if head_only else _body(wire, head, largest)
    return head, body, framed and _keeps(head)


def _head(wire: Wire) -> Head:
    line = wire.line(HEAD_BYTES)
    match = _STATUS.fullmatch(line)
    if match is None:
        raise WireError(f"this is not HTTP/1: {shown(line)!r}")
    headers: dict[str, str] = {}
    size = len(line) + 2
    for _ in range(HEADERS + 1):
        line = wire.line(HEAD_BYTES)
        size += len(line) + 2
        if not line:
            version = f"1.{match[1].decode()}"
            return Head(int(match[2]), version, headers, size)
        if size > HEAD_BYTES:
            break
        _take(headers, line)
    raise WireError("the head of the reply is too long")


def _take(headers: dict[str, str], line: bytes) -> None:
    field = _HEADER.fullmatch(line)
    if field is None:
        raise WireError(f"a header is malformed: {shown(line)!r}")
    name, value = field[1].decode("ascii").lower(), field[2].decode("utf-8", "backslashreplace")
    if name == "content-length":
        if not _LENGTH.fullmatch(value) or headers.get(name, value) != value:
            raise WireError(f"its Content-Length is malformed: {shown(field[2])!r}")
        headers[name] = value
    elif name in headers:
        headers[name] += ", " + value
    else:
        headers[name] = value


def _body(wire: Wire, head: Head, largest: int) -> tuple[bytes, bool]:
    """The body, and whether its end was told by something else than the end of the connection."""
    if head.status < 200 or head.status in (204, 304):
        return b"", True
    if head.headers.get("transfer-encoding", "").split(",")[-1].strip().lower() == "chunked":
        return _chunks(wire, largest), True
    stated = head.headers.get("content-length")
    if stated is None:
        return _to_end(wire, largest), False
    return _stated(wire, int(stated), largest), True


def _stated(wire: Wire, length: int, largest: int) -> bytes:
    body = bytearray()
    while len(body) < min(length, largest):
        part = wire.receive(min(length, largest) - len(body))
        if not part:
            raise WireError(f"the body ends after {len(body)} bytes, before its stated length")
        body += part
    return bytes(body)


def _to_end(wire: Wire, largest: int) -> bytes:
    body = bytearray()
    while len(body) < largest and (part := wire.receive(largest - len(body))):
        body += part
    return bytes(body)


def _chunks(wire: Wire, largest: int) -> bytes:
    body = bytearray()
    while len(body) < largest:
        line = wire.line(CHUNK_LINE_BYTES)
        match = _CHUNK.fullmatch(line)
        if match is None:
            raise WireError(f"a chunk's size is malformed: {shown(line)!r}")
        size = int(match[1], 16)
        if size == 0:
            for _ in range(HEADERS):  # the trailer
                if not wire.line(HEAD_BYTES):
                    return bytes(body)
            raise WireError("the trailer of the body is too long")
        taken = min(size, largest - len(body))
        body += wire.exactly(taken)
        if taken == size and wire.line(2):
            raise WireError("a chunk is longer than its size says")
    return bytes(body)


def _keeps(head: Head) -> bool:
    tokens = {token.strip().lower() for token in head.headers.get("connection", "").split(",")}
    return "close" not in tokens and (head.version == "1.1" or "keep-alive" in tokens)
