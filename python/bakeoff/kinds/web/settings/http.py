"""How requests are made over HTTP: the settings of every kind that makes them, and what the engine is told of them."""

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from bakeoff import __version__
from bakeoff.core.system.bounded_read import why_no_file
from bakeoff.kinds.spec import TlsSpec
from bakeoff.kinds.web.settings.address import WebAddress, parse_web_address
from bakeoff.plan.input.secrets import from_environment
from bakeoff.plan.settings.fields import OptionalPath, OptionalSize, OptionalWhole, Whole
from bakeoff.plan.settings.network import SourceSettings
from bakeoff.plan.settings.shared import SESSIONS_MAX

STREAMS_MAX = 1024
# Of bodies that are known one in so many is hashed, beside a trial's first ones.
CHECK_EVERY = 100
# Versions whose connections carry several requests at once.
WITH_STREAMS = ("2", "3")
# How clients talk with a server. Not among them: streams, which are how many requests are under way at once, and
# time-outs, by which a slow server fails less.
CLIENT_OPTIONS = (
    "http", "keep_alive", "requests_per_connection", "receive_buffer", "close_with_reset", "insecure",
    "full_handshake", "headers", "cookie", "basic_auth",
)  # fmt: skip
# Fields of one connection, which these do not have (RFC 9113, 8.2.2; RFC 9114, 4.2).
CONNECTION_HEADERS = {"keep-alive", "proxy-connection", "te", "upgrade"}
_TOKEN = set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
# RFC 6265, 4.1.1.
_COOKIE_VALUE = re.compile(r'[!#-+\--:<-\[\]-~"]*')


def _version(value: Any) -> Any:
    return str(value) if isinstance(value, float | int) else value


class HttpSettings(SourceSettings):
    """Settings of connections and requests."""

    # Whether the suites of the kind can share connections among requests.
    HAS_STREAMS: ClassVar[bool] = False

    http: Annotated[Literal["1.0", "1.1", "2", "3"], BeforeValidator(_version)] = Field(
        "1.1",
        description="HTTP version of the requests: 1.0, 1.1, 2 (https:// by ALPN, http:// with prior knowledge) or 3 "
        "(QUIC; https:// alone).",
        json_schema_extra={"metavar": "VERSION"},
    )
    streams: Whole = Field(
        1,
        ge=1,
        le=STREAMS_MAX,
        description="HTTP/2 and HTTP/3: requests at once on each connection. Every virtual user of every client has "
        "one connection: --clients 8 --streams 10 keeps 80 requests going on 8 connections.",
    )
    keep_alive: bool = Field(
        True,
        description="Keep connections open between requests (off: a new connection for each).",
        json_schema_extra={"off": "close"},
    )
    requests_per_connection: OptionalWhole = Field(
        None, ge=1, description="With keep-alive, begin a new connection after this many requests."
    )
    receive_buffer_bytes: OptionalSize = Field(
        None,
        alias="receive_buffer",
        ge=256,
        description="Receive buffer of the sockets (SO_RCVBUF) and largest single read: 4KiB; auto leaves the buffer "
        "to the kernel and reads in large pieces, which costs less.",
    )
    close_with_reset: bool = Field(
        False, description="End connections by a TCP reset, which leaves no TIME_WAIT behind (reported)."
    )
    insecure: bool = Field(
        False, description="Do not check TLS certificates.", json_schema_extra={"off": "verify", "own": True}
    )
    ca_file: OptionalPath = Field(
        None,
        description="PEM file of certificate authorities to trust instead of the system's.",
        json_schema_extra={"path": "file", "own": True},
    )
    full_handshake: bool = Field(
        False,
        description="Make a full TLS handshake for each connection (off: resume sessions).",
        json_schema_extra={"off": "resumption"},
    )
    headers: Annotated[tuple[str, ...], BeforeValidator(from_environment)] = Field(
        (),
        description="Extra request header, such as 'Accept: text/html'; may be given more than once.",
        json_schema_extra={
            "repeat": True,
            "metavar": "HEADER",
            "flag": "header",
            "synonym": "headers",
            "short": "H",
            "secret": "named",
        },
    )
    cookie: Annotated[tuple[str, ...], BeforeValidator(from_environment)] = Field(
        (),
        description="Cookie of each request, NAME=VALUE; may be given more than once. Reports do not show it.",
        json_schema_extra={"repeat": True, "metavar": "NAME=VALUE", "secret": "all"},
    )
    basic_auth: Annotated[str | None, BeforeValidator(from_environment)] = Field(
        None,
        description="Name and password of each request (Basic), USER:PASSWORD, or '$NAME' of an environment variable "
        "that holds them. Reports and plan files do not show it; the run file has it, as resume asks with it again.",
        json_schema_extra={"metavar": "USER:PASSWORD", "secret": "all"},
    )

    @classmethod
    def displaced(cls, given: Mapping[str, Any]) -> frozenset[str]:
        """See CommonSettings. HTTP/2 and HTTP/3 keep their connections, whatever a suite does by itself."""
        return super().displaced(given) | ({"keep_alive"} if _version(given.get("http")) in WITH_STREAMS else set())

    @property
    def sessions_per_client(self) -> int:
        return self.virtual_users * self.streams

    @property
    def keeps_connections(self) -> bool:
        return self.keep_alive

    @property
    def closes(self) -> int | None:
        """See NetworkSettings: servers end connections that carry one request."""
        if self.requests_per_connection is None or self.close_with_reset or self.http == "3":
            return 0  # connections of QUIC hold no port once they are over
        return None if self.operations is None else -(-self.operations // self.requests_per_connection)

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        reasons = dict(super().without_effect(addresses))
        places = [parse_web_address(address) for address in addresses]
        if all(place.scheme != "https" for place in places):
            why = "no contender is reached by https://: leave it out"
            reasons |= {"insecure": why, "ca_file": why, "full_handshake": why}
        elif self.insecure and self.ca_file is not None:
            reasons["ca_file"] = "certificates are not checked with insecure: leave one of the two out"
        if self.http == "3":
            reasons["close_with_reset"] = "connections of QUIC leave no TIME_WAIT behind: leave it out"
        if all(place.unix for place in places):
            reasons["source_addresses"] = "a Unix socket has no addresses to connect from: leave it out"
        return reasons

    @field_validator("headers", "cookie", mode="before")
    @classmethod
    def _one_header(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _http_consistent(self) -> Self:
        for header in self.headers:
            name, colon, content = header.partition(":")
            if not colon or not name or set(name) - _TOKEN or any(c in content for c in "\r\n\0"):
                raise ValueError(f"headers: {header!r} is not a header: write 'Name: value'")
            if name.lower() in ("host", "connection", "content-length", "transfer-encoding"):
                raise ValueError(f"headers: {name} is set by the suite itself: leave it out")
            if self.http in WITH_STREAMS and name.lower() in CONNECTION_HEADERS:
                raise ValueError(f"headers: HTTP/{self.http} has no {name}: leave it out")
        self._check_own_headers()
        if self.http in WITH_STREAMS and not self.HAS_STREAMS:
            raise ValueError("http: this suite asks by HTTP/1: give 1.0 or 1.1")
        if self.http in WITH_STREAMS and not self.keep_alive:
            raise ValueError(
                f"keep_alive: HTTP/{self.http} keeps its connections; requests_per_connection can bound them"
            )
        if self.http not in WITH_STREAMS and self.streams != 1:
            raise ValueError(f"streams: a connection of HTTP/{self.http} has one request at a time: add http 2 or 3")
        if self.is_at_rates and self.most_connections * self.streams > SESSIONS_MAX:
            raise ValueError(f"streams: {SESSIONS_MAX:,} most_connections times streams at most: lower one of the two")
        if self.requests_per_connection is not None and not self.keep_alive:
            raise ValueError("requests_per_connection needs keep_alive")
        if self.ca_file is not None and (fault := why_no_file(Path(self.ca_file))):
            raise ValueError(f"ca_file: {self.ca_file} {fault}: give a PEM file")
        return self

    def _check_own_headers(self) -> None:
        """Cookies and credentials, which are headers with flags of their own."""
        names = {header.partition(":")[0].lower() for header in self.headers}
        for cookie in self.cookie:
            name, equals, content = cookie.partition("=")
            if not equals or not name or set(name) - _TOKEN or not _COOKIE_VALUE.fullmatch(content):
                raise ValueError("cookie: write NAME=VALUE, the value without spaces, commas and semicolons")
        if self.basic_auth is not None:
            user, colon, _ = self.basic_auth.partition(":")
            if not colon or not user or any(ord(c) < 32 or ord(c) == 127 for c in self.basic_auth):
                raise ValueError("basic_auth: write USER:PASSWORD")
        if self.cookie and "cookie" in names:
            raise ValueError("headers: Cookie is set by cookie: leave one of the two out")
        if self.basic_auth is not None and "authorization" in names:
            raise ValueError("headers: Authorization is set by basic_auth: leave one of the two out")


def connection_fields(settings: HttpSettings, address: WebAddress, addresses: Sequence[str]) -> dict[str, Any]:
    """What the specification says of a contender at its numeric `addresses`, by field of `WebWorkload`; not what is
    requested there.
    """
    return {
        "scheme": "https" if address.scheme == "https" else "http",
        "host": address.host_header,
        "addresses": tuple(addresses),
        "unix": address.unix,
        "http": settings.http,
        "keep_alive": settings.keep_alive,
        "receive_buffer_bytes": settings.receive_buffer_bytes,
        "close_with_reset": settings.close_with_reset,
        "source_addresses": settings.source_addresses,
        "requests_per_connection": settings.requests_per_connection,
        "tls": _tls(settings) if address.scheme == "https" else None,
        "headers": request_headers(settings),
    }


def _tls(settings: HttpSettings) -> TlsSpec:
    return TlsSpec(verify=not settings.insecure, ca_file=settings.ca_file, resumption=not settings.full_handshake)


def request_headers(settings: HttpSettings) -> tuple[tuple[str, str], ...]:
    """Headers of each request beside Host and Connection; the user's own User-Agent replaces ours."""
    own = tuple((name.strip(), value.strip()) for name, _, value in (h.partition(":") for h in settings.headers))
    if settings.basic_auth is not None:
        own += (("Authorization", "Basic " + base64.b64encode(settings.basic_auth.encode()).decode()),)
    if settings.cookie:
        own += (("Cookie", "; ".join(settings.cookie)),)
    if any(name.lower() == "user-agent" for name, _ in own):
        return own
    return (("User-Agent", f"bakeoff/{__version__}"), *own)
