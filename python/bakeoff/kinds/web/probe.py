"""One HTTP request at a time, for checks before timing, never for timing."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from bakeoff.errors import TargetError
from bakeoff.kinds.web.address import WebAddress
from bakeoff.kinds.web.http import HttpSettings, connection_fields, request_headers
from bakeoff.kinds.web.http_reply import HEAD_BYTES, Head, read_reply
from bakeoff.plan.address import resolve
from bakeoff.run.wire import Bounds, RefusedError, SlowError, UntrustedError, Wire, WireError, tls_context

LARGEST_BODY = 64 * 1024 * 1024
REPLY_BYTES = LARGEST_BODY + 256 * HEAD_BYTES  # bodies in small chunks take more on the wire
CHECK_BYTES = 32 * LARGEST_BODY
CHECK_REPLIES = 12  # so many times the longest wait for a reply, all of a check may take


@dataclass(frozen=True)
class Carried:
    """What a request carries; HTTP/1 alone."""

    content: bytes
    content_type: str | None


@dataclass(frozen=True)
class Reply:
    """A whole reply. `head_bytes` counts status line and headers as sent (HTTP/2: before compression), `tls` is version
    and cipher, `streams_allowed` the server's limit of requests at once on a connection with streams, if known.
    Over HTTP/3 `headers` is empty and `head_bytes` 0.

    `length` and `digest` (SHA-256 in hex) are those of the body; after a HEAD `length` is the stated one, or 0.
    """

    status: int
    version: str
    headers: dict[str, str]
    head_bytes: int
    body: bytes
    length: int
    digest: str
    kept_alive: bool
    tls: str | None
    streams_allowed: int | None = None


def name_of(host: str | None) -> str | None:
    """The name in a Host header, without the port."""
    if host is None:
        return None
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


class Prober:
    """Fetches from one contender. `addresses` is rotated so that the one that answered stands first; `host` is the one
    that requests name, where it is not that of the address.
    """

    def __init__(self, name: str, address: WebAddress, settings: HttpSettings) -> None:
        self.name = name
        self.address = address
        self.host: str | None = None
        self._settings = settings
        self._context: ssl.SSLContext | None = None
        if address.scheme == "https":
            self._context = tls_context(settings.ca_file, settings.insecure)
            if settings.http == "2":
                self._context.set_alpn_protocols(["h2"])
        self.addresses: Sequence[str] = resolve(address)
        self.repeated = 0
        self._bounds = self._whole_bounds()

    def begin(self) -> None:
        """A check begins: what it fetches from now on shares one deadline and one limit of bytes."""
        self._bounds = self._whole_bounds()

    def connect(self) -> None:
        """Make one connection and drop it. Raises TargetError that says why it cannot be made."""
        if self._settings.http != "3":  # there a connection shows with its first reply
            self._open().close()

    def fetch(self, path: str, tries: int = 3, method: str = "GET", carried: Carried | None = None) -> Reply:
        """The reply to one request on a connection of its own; `repeated` counts what had to be tried again.

        Raises TargetError when it fails `tries` times.
        """
        for left in range(tries - 1, -1, -1):
            try:
                return self._exchange(path, method, carried)
            except WireError as error:
                if not left:
                    raise self._failed(path, error) from None
                self.repeated += 1
        raise AssertionError("unreachable")

    def _failed(self, path: str, error: WireError) -> TargetError:
        advice = ""
        if isinstance(error, SlowError):
            advice = ": is the server overloaded, or reply_timeout too short?"
        return TargetError(f"{self.name} ({self.address.place}): {path}: {error}{advice}")

    def _whole_bounds(self) -> Bounds:
        s = self._settings
        return Bounds(CHECK_REPLIES * (s.connect_timeout_s + s.reply_timeout_s), CHECK_BYTES)

    def _exchange(self, path: str, method: str, carried: Carried | None) -> Reply:
        if self._settings.http == "3":
            return self._exchange_http3(path, method)
        with self._open() as wire:
            if self._settings.http == "2":
                return self._exchange_http2(wire, path, method)
            wire.send(self._request(path, method, carried))
            head_only = method == "HEAD"
            head, body, kept = read_reply(wire, LARGEST_BODY, head_only)
            return reply_of(head, body, head_only, kept, wire.tls())

    def _exchange_http2(self, wire: Wire, path: str, method: str) -> Reply:
        from bakeoff.kinds.web.http2_reply import Exchange, UnspokenError  # h2 is loaded by those who speak it

        fields = [(":method", method), (":scheme", self._scheme), (":authority", self.host or self.address.host_header)]
        fields += [(":path", path), *((name.lower(), value) for name, value in request_headers(self._settings))]
        exchange = Exchange(wire, LARGEST_BODY)
        try:
            head, body = exchange.fetch(fields)
        except UnspokenError as error:
            raise self._unspoken(f"{error}: it does not speak HTTP/2 with prior knowledge (h2c)") from None
        return reply_of(head, body, method == "HEAD", True, wire.tls(), exchange.streams_allowed)

    def _exchange_http3(self, path: str, method: str) -> Reply:
        """By the engine itself, whose QUIC then takes what it finds as the measurement would."""
        from bakeoff.kinds.web import http3_reply

        s = self._settings
        where = f"{self.name} ({self.address.place})"
        fields = connection_fields(s, self.address, self.addresses)
        if self.host is not None:
            fields["host"] = self.host
        reply_s = min(s.reply_timeout_s, self._bounds.left_s())
        try:
            reply = http3_reply.fetch(fields, path, method, s, reply_s, LARGEST_BODY)
        except http3_reply.UnspokenError as error:
            raise TargetError(f"{where}: {error}") from None
        self._bounds.spend(len(reply.body))
        return Reply(
            status=reply.status,
            version="3",
            headers={},
            head_bytes=0,
            body=reply.body,
            length=(reply.stated or 0) if method == "HEAD" else len(reply.body),
            digest=sha256(reply.body).hexdigest(),
            kept_alive=True,
            tls="TLSv1.3",
            streams_allowed=reply.streams_allowed,
        )

    @property
    def _scheme(self) -> str:
        return "https" if self._context is not None else "http"

    def _unspoken(self, why: str) -> TargetError:
        where = f"{self.name} ({self.address.place})"
        return TargetError(f"{where}: {why}: switch it on in the server, or leave out --http 2")

    def _request(self, path: str, method: str, carried: Carried | None) -> bytes:
        keep = self._settings.keep_alive
        lines = [f"{method} {path} HTTP/{self._settings.http}", f"Host: {self.host or self.address.host_header}"]
        if self._settings.http == "1.1" and not keep:
            lines.append("Connection: close")
        if self._settings.http == "1.0" and keep:
            lines.append("Connection: keep-alive")
        lines += [f"{name}: {value}" for name, value in request_headers(self._settings)]
        content = b"" if carried is None else carried.content
        if carried is not None and carried.content_type is not None:
            lines.append(f"Content-Type: {carried.content_type}")
        if carried is not None or method in ("POST", "PUT", "PATCH"):
            lines.append(f"Content-Length: {len(content)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace") + content

    def _open(self) -> Wire:
        """A connection on which a reply is due in time. Raises TargetError that says why it cannot be made."""
        where = f"{self.name} ({self.address.place})"
        try:
            wire = self._connect()
        except RefusedError:
            raise TargetError(f"{where}: connection refused: start the server, or correct the address") from None
        except SlowError as error:
            raise TargetError(f"{where}: {error}: check address, route and firewall") from None
        except WireError as error:
            raise TargetError(f"{where}: {error}: check address and network") from None
        try:
            if self._context is not None:
                wire.start_tls(self._context, name_of(self.host) or self.address.host)
                if self._settings.http == "2" and wire.application() != "h2":
                    wire.close()
                    raise self._unspoken("its TLS does not offer HTTP/2 (ALPN h2)")
            return wire
        except UntrustedError as error:
            wire.close()
            raise TargetError(f"{where}: {error}: {error.advice}") from None
        except WireError as error:
            wire.close()
            if self._settings.http == "2" and "no application protocol" in str(error).lower().replace("_", " "):
                raise self._unspoken("its TLS does not offer HTTP/2 (ALPN h2)") from None
            raise TargetError(f"{where}: {error}: is this an http:// address?") from None

    def _connect(self) -> Wire:
        places = self.addresses if self.address.unix is None else (self.address.unix,)
        last = WireError("no address")
        for place in places:
            try:
                wire = Wire.connect(place, self._bounds, self._settings.connect_timeout_s)
            except WireError as error:
                last = error
                continue
            wire.bounds = self._bounds.part(self._settings.reply_timeout_s, REPLY_BYTES)
            if self.address.unix is None:
                self.addresses = (place, *(other for other in places if other != place))
            return wire
        raise last


def reply_of(
    head: Head, body: bytes, head_only: bool, kept_alive: bool, tls: str | None, streams_allowed: int | None = None
) -> Reply:
    """A reply that was read."""
    stated = int(head.headers.get("content-length", "0"))
    return Reply(
        status=head.status,
        version=head.version,
        headers=head.headers,
        head_bytes=head.size,
        body=body,
        length=stated if head_only else len(body),
        digest=sha256(body).hexdigest(),
        kept_alive=kept_alive,
        tls=tls,
        streams_allowed=streams_allowed,
    )
