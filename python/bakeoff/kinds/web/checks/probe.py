"""One HTTP request at a time, for checks before timing, never for timing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from bakeoff.core.errors import ContenderError
from bakeoff.kinds.web.checks.fetch import (
    LARGEST_BODY,
    Fetched,
    Limits,
    UnconnectedError,
    UnopenedError,
    connect,
    fetch,
)
from bakeoff.kinds.web.settings.address import WebAddress
from bakeoff.kinds.web.settings.http import HttpSettings, connection_fields
from bakeoff.kinds.web.spec import ClassSpec, RequestSpec, WebWorkload
from bakeoff.plan.input.address import resolve
from bakeoff.run.contenders.probe_connection import Bounds, ProbeError, SlowError

T = TypeVar("T")
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


class Prober:
    """Fetches from one contender. `addresses` is rotated so that the one that answered stands first; `host` is the one
    that requests name, where it is not that of the address.
    """

    def __init__(self, name: str, address: WebAddress, settings: HttpSettings) -> None:
        self.name = name
        self.address = address
        self.host: str | None = None
        self._settings = settings
        self.addresses: Sequence[str] = resolve(address)
        self.repeated = 0
        self._bounds = self._whole_bounds()

    def begin(self) -> None:
        """A check begins: what it fetches from now on shares one deadline and one limit of bytes."""
        self._bounds = self._whole_bounds()

    def connect(self) -> None:
        """Make one connection and drop it. Raises ContenderError that says why it cannot be made."""
        if self._settings.http == "3":  # there a connection shows with its first reply
            return
        streams, limits = self._settings.streams, self._limits()
        self._at_each(lambda place: connect(self._workload(place, "/", "GET", None), streams, limits))

    def fetch(self, path: str, tries: int = 3, method: str = "GET", carried: Carried | None = None) -> Reply:
        """The reply to one request on a connection of its own; `repeated` counts what had to be tried again.

        Raises ContenderError when it fails `tries` times.
        """
        for left in range(tries - 1, -1, -1):
            try:
                return self._exchange(path, method, carried)
            except ProbeError as error:
                if not left:
                    raise self._failed(path, error) from None
                self.repeated += 1
        raise AssertionError("unreachable")

    def _failed(self, path: str, error: ProbeError) -> ContenderError:
        advice = ""
        if isinstance(error, SlowError):
            advice = ": is the server overloaded, or reply_timeout too short?"
        return ContenderError(f"{self.name} ({self.address.place}): {path}: {error}{advice}")

    def _whole_bounds(self) -> Bounds:
        s = self._settings
        return Bounds(CHECK_REPLIES * (s.connect_timeout_s + s.reply_timeout_s), CHECK_BYTES)

    def _exchange(self, path: str, method: str, carried: Carried | None) -> Reply:
        if self._settings.http == "3":
            return self._exchange_http3(path, method)
        streams, limits = self._settings.streams, self._limits()
        fetched = self._at_each(lambda place: fetch(self._workload(place, path, method, carried), streams, limits))
        return reply_of(fetched, method == "HEAD")

    def _limits(self) -> Limits:
        return Limits(self._bounds, self._settings.connect_timeout_s, self._settings.reply_timeout_s)

    def _at_each(self, act: Callable[[str], T]) -> T:
        """What `act` gives for the first address that takes a connection. Raises ContenderError when none does."""
        where, last = f"{self.name} ({self.address.place})", "no address"
        for place in self.addresses if self.address.unix is None else (self.address.unix,):
            try:
                found = act(place)
            except UnconnectedError as error:
                last = str(error)
                continue
            except UnopenedError as error:
                raise ContenderError(f"{where}: {error}") from None
            except ProbeError:
                self._prefer(place)
                raise
            self._prefer(place)
            return found
        raise ContenderError(f"{where}: {last}")

    def _prefer(self, place: str) -> None:
        if self.address.unix is None:
            self.addresses = (place, *(other for other in self.addresses if other != place))

    def _workload(self, place: str, path: str, method: str, carried: Carried | None) -> WebWorkload:
        """One request as clients of the run make it."""
        fields = connection_fields(self._settings, self.address, (place,) if self.address.unix is None else ())
        if self.host is not None:
            fields["host"] = self.host
        request = RequestSpec(method=method, path=path, length=None, sha256=None)
        bodies: tuple[str, ...] = ()
        if carried is not None:
            request = request.model_copy(update={"body": 0, "content_type": carried.content_type})
            bodies = (carried.content.hex(),)
        classes = (ClassSpec(name="check", weight=1.0, expect=(), requests=(request,)),)
        return WebWorkload(**fields, check_every=0, bodies=bodies, classes=classes)

    def _exchange_http3(self, path: str, method: str) -> Reply:
        """By the engine itself, whose QUIC then takes what it finds as the measurement would."""
        from bakeoff.kinds.web.checks import http3_reply

        s = self._settings
        where = f"{self.name} ({self.address.place})"
        fields = connection_fields(s, self.address, self.addresses)
        if self.host is not None:
            fields["host"] = self.host
        reply_s = min(s.reply_timeout_s, self._bounds.left_s())
        try:
            reply = http3_reply.fetch(fields, path, method, s, reply_s, LARGEST_BODY)
        except http3_reply.UnspokenError as error:
            raise ContenderError(f"{where}: {error}") from None
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


def reply_of(fetched: Fetched, head_only: bool) -> Reply:
    """A reply that was read."""
    stated = int(fetched.headers.get("content-length", "0"))
    return Reply(
        status=fetched.status,
        version=fetched.version,
        headers=fetched.headers,
        head_bytes=fetched.head_bytes,
        body=fetched.body,
        length=stated if head_only else len(fetched.body),
        digest=sha256(fetched.body).hexdigest(),
        kept_alive=fetched.kept_alive,
        tls=fetched.tls,
        streams_allowed=fetched.streams_allowed,
    )
