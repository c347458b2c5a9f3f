"""One request and its reply over HTTP/2, with the limits of HTTP/1 (`http_reply.py`); the protocol is that of `h2`."""

from collections.abc import Sequence

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes

from bakeoff.kinds.web.http_reply import HEAD_BYTES, HEADERS, Head
from bakeoff.run.wire import PART_BYTES, Wire, WireError, shown

# What a server that allows a stream only says after a while: its limit, which no other comes near.
_NO_LIMIT = 2**31
_WINDOW_BYTES = 2**30


class UnspokenError(WireError):
    """The server does not speak HTTP/2."""


class Exchange:
    """A request and what has come of its reply. `streams_allowed` is the server's limit, None while it states none."""

    def __init__(self, wire: Wire, largest: int) -> None:
        self._wire, self._largest = wire, largest
        self._connection = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self._began = False
        self._ended = False
        self._head: Head | None = None
        self._body = bytearray()
        self.streams_allowed: int | None = None

    def fetch(self, fields: Sequence[tuple[str, str]]) -> tuple[Head, bytes]:
        """Ask for what `fields` say, pseudo-headers first; head and body of the reply.

        Raises WireError for what is not HTTP/2 or contradicts itself, UnspokenError when nothing of it is.
        """
        c = self._connection
        try:
            c.initiate_connection()
            c.increment_flow_control_window(_WINDOW_BYTES)
            c.send_headers(1, list(fields), end_stream=True)
            c.increment_flow_control_window(_WINDOW_BYTES, 1)
            self._wire.send(c.data_to_send())
            while not self._ended and len(self._body) < self._largest:
                self._receive()
        except ProtocolError as error:
            raise WireError(f"it breaks HTTP/2 ({str(error) or type(error).__name__})") from None
        if self._head is None:
            raise WireError("the reply has no head")
        stated = self._head.headers.get("content-length")
        if len(self._body) < self._largest and stated is not None and not self._fits(stated, dict(fields)):
            raise WireError(f"the body has {len(self._body)} bytes, its Content-Length says {shown(stated.encode())}")
        return self._head, bytes(self._body)

    def _fits(self, stated: str, fields: dict[str, str]) -> bool:
        assert self._head is not None
        bodiless = fields[":method"] == "HEAD" or self._head.status in (204, 304)
        return (stated.isdigit() and bodiless) or stated == str(len(self._body))

    def _receive(self) -> None:
        try:
            part = self._wire.receive(PART_BYTES)
        except WireError:
            if self._began:
                raise
            raise UnspokenError("it breaks off when it is spoken to in HTTP/2") from None
        if not self._began and (not part or part.startswith(b"HTTP/"[: len(part)])):
            what = shown(part.splitlines()[0]) if part else ""
            raise UnspokenError(f"it answers {what!r}" if part else "it closes when it is spoken to in HTTP/2")
        if not part:
            raise WireError("the reply breaks off: the connection is closed")
        self._began = True
        for event in self._connection.receive_data(part):
            self._take(event)
        if answer := self._connection.data_to_send():
            self._wire.send(answer)

    def _take(self, event: Event) -> None:
        if isinstance(event, RemoteSettingsChanged):
            setting = event.changed_settings.get(SettingCodes.MAX_CONCURRENT_STREAMS)
            if setting is not None and setting.new_value < _NO_LIMIT:
                self.streams_allowed = setting.new_value
        elif isinstance(event, ResponseReceived):
            self._head = _head(event.headers)
        elif isinstance(event, DataReceived):
            self._body += event.data
        elif isinstance(event, StreamEnded):
            self._ended = True
        elif isinstance(event, StreamReset):
            raise WireError(f"it resets the stream ({_name(event.error_code)})")
        elif isinstance(event, ConnectionTerminated) and not self._ended and event.last_stream_id == 0:
            raise WireError(f"it ends the connection ({_name(event.error_code)})")


def _name(code: ErrorCodes | int | None) -> str:
    return code.name if isinstance(code, ErrorCodes) else str(code)


def _head(fields: Sequence[tuple[str | bytes, str | bytes]]) -> Head:
    headers: dict[str, str] = {}
    size = 0
    for name, value in fields:
        name, value = (
            part if isinstance(part, str) else part.decode("utf-8", "backslashreplace") for part in (name, value)
        )
        size += len(name) + len(value)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if size > HEAD_BYTES or len(fields) > HEADERS:
        raise WireError("the head of the reply is too long")
    status = headers.pop(":status", "")
    if not (len(status) == 3 and status.isdigit()):
        raise WireError(f"its status is malformed: {shown(status.encode())!r}")
    return Head(int(status), "2", headers, size)
