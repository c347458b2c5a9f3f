"""httperf's options as settings: one to one, by their names, but for those of output and of where the server is."""

import ipaddress
import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_duration, parse_duration
from bakeoff.kinds.httperf.files import check_uri, read_headers
from bakeoff.kinds.httperf.values import (
    Client,
    Period,
    Wlog,
    Wsess,
    Wsesslog,
    Wset,
    check_header,
    parse_client,
    parse_count,
    parse_number,
    parse_period,
    parse_wlog,
    parse_wsess,
    parse_wsesslog,
    parse_wset,
    unescape,
)
from bakeoff.kinds.web.settings.address import parse_web_address
from bakeoff.load.arrivals import Arrivals, Constant, Poisson, Steps, Uniform
from bakeoff.load.load_step import Clients, LoadStep, Rate
from bakeoff.plan.design.unit import OPERATIONS, LoadUnit
from bakeoff.plan.kind import PlanPart
from bakeoff.plan.settings.fields import Metavar, Numbers, OptionalPath, is_resolved
from bakeoff.plan.settings.shared import CLIENTS_MAX, CommonSettings

SILENCE_S = 60.0
SESSION_CONNECTIONS = 4
SOURCES_MAX = 65_536
PROTOCOLS = ("auto", "TLSv1.2", "TLSv1.3")
GONE = ("SSLv2", "SSLv3", "TLSv1", "TLSv1.0", "TLSv1.1")


def _reader(parse: Callable[[str], Any]) -> BeforeValidator:
    """Text by `parse`, whose errors may be of plans; numbers of a plan file as text; what is resolved as it is."""

    def read(value: Any, info: ValidationInfo) -> Any:
        if value is None or is_resolved(info) or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            value = f"{value:.15g}"
        try:
            return parse(value) if isinstance(value, str) else value
        except PlanError as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(read)


def _seconds(text: str) -> float:
    """`5`, as httperf has it, or `5s`."""
    try:
        return parse_number(text)
    except ValueError:
        return parse_duration(text)


def _rates(text: str) -> tuple[float, ...]:
    return tuple(parse_number(part.strip()) for part in text.split(","))


def _texts(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _headers(value: Any, info: ValidationInfo) -> Any:
    if is_resolved(info) or isinstance(value, str | None):
        return _texts(value)
    return value


def _verify(value: Any) -> Any:
    return {"yes": True, "no": False}.get(value, value) if isinstance(value, str) else value


def _uri(text: str) -> str:
    return check_uri(text, "uri")


Whole = Annotated[int, _reader(parse_count), Metavar("N")]
OptionalWhole = Annotated[int | None, _reader(parse_count), Metavar("N")]
Seconds = Annotated[float, _reader(_seconds), Metavar("SECONDS")]
OptionalSeconds = Annotated[float | None, _reader(_seconds), Metavar("SECONDS")]
Rates = Annotated[tuple[float, ...], _reader(_rates), Metavar("X,X,...")]
Text = Annotated[str | None, Metavar("TEXT")]
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts), Metavar("TEXT")]


class HttperfSettings(CommonSettings):
    """Settings of httperf, with httperf's defaults."""

    clients: Numbers = Field((1,), description="Numbers of clients, one load step each, rising: 1,4,8.")
    rates: Rates = Field(
        (0.0,),
        alias="rate",
        description="Connections per second, or sessions; 0: each when the one before is over.",
    )
    period: Annotated[Period | None, _reader(parse_period), Metavar("[d|u|e|v]T,...")] = Field(
        None,
        description="httperf: seconds between starts instead of a rate: 0.1, e0.1 (exponential), u0.1,0.3 (uniform), "
        "v0.1,5,0.2,5 (each for so long).",
    )
    num_conns: Whole = Field(1, ge=1, description="httperf: connections in all.")
    num_calls: Whole = Field(1, ge=1, description="httperf: calls on each connection.")
    burst_length: Whole = Field(1, ge=1, le=100_000, description="httperf: calls that are sent at once.")
    timeout_s: OptionalSeconds = Field(
        None, alias="timeout", gt=0, description="httperf: time without progress after which a call is given up."
    )
    think_timeout_s: Seconds = Field(
        0.0, alias="think_timeout", ge=0, description="httperf: added to timeout while a reply has not begun."
    )
    max_connections: OptionalWhole = Field(
        None, ge=1, le=CLIENTS_MAX, description="httperf: connections of a session (4); without sessions: of all."
    )
    max_piped_calls: OptionalWhole = Field(
        None, ge=1, le=100_000, description="httperf: calls in flight on a connection of a session (32)."
    )
    wsess: Annotated[Wsess | None, _reader(parse_wsess), Metavar("N,N,X")] = Field(
        None, description="httperf: number of sessions, calls of each, seconds between bursts: 10,5,2."
    )
    wsesslog: Annotated[Wsesslog | None, _reader(parse_wsesslog), Metavar("N,X,FILE")] = Field(
        None, description="httperf: number of sessions by a script, seconds between bursts: 10,2,sessions.log."
    )
    wsesspage: Annotated[Wsess | None, _reader(parse_wsess), Metavar("N,N,X")] = Field(
        None, description="httperf: number of sessions, pages of each with what they embed, seconds between pages."
    )
    wlog: Annotated[Wlog | None, _reader(parse_wlog), Metavar("y|n,FILE")] = Field(
        None, description="httperf: NUL-separated list of URIs; y begins again at its end."
    )
    wset: Annotated[Wset | None, _reader(parse_wset), Metavar("N,X")] = Field(
        None, description="httperf: number of files (/0.html, …) and the share of fetches that miss the server's cache."
    )
    client: Annotated[Client, _reader(parse_client), Metavar("I/N")] = Field(
        Client(0, 1), description="httperf: this is client I of N, with files and random numbers of its own."
    )
    uri: Annotated[str | None, _reader(_uri), Metavar("URI")] = Field(
        None, description="httperf: URI, or what precedes those of wset; else that of the contender's address."
    )
    method: Annotated[str, Metavar("METHOD")] = Field("GET", pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$")
    add_header: Texts = Field(
        (),
        description="httperf: header of each request, with the escapes \\n \\r \\a \\\\ \\101; may be repeated.",
        json_schema_extra={"repeat": True},
    )
    add_header_file: Annotated[str | None, BeforeValidator(lambda value: value), Metavar("FILE")] = Field(
        None, description="httperf: headers in a file.", json_schema_extra={"path": "file"}
    )
    http_version: Annotated[Literal["1.0", "1.1"], BeforeValidator(lambda v: str(v) if isinstance(v, float) else v)] = (
        Field("1.1", description="httperf: version of the requests: 1.0 or 1.1.", json_schema_extra={"metavar": "V"})
    )
    server_name: Text = Field(
        None, pattern=r"^[A-Za-z0-9._:\[\]-]{1,255}$", description="httperf: name in the Host header."
    )
    no_host_hdr: bool = Field(False, description="httperf: send no Host header.", json_schema_extra={"off": "host-hdr"})
    send_buffer: Whole = Field(4096, ge=1, le=1 << 30, description="httperf: SO_SNDBUF, bytes.")
    recv_buffer: Whole = Field(16384, ge=1, le=1 << 30, description="httperf: SO_RCVBUF, bytes.")
    close_with_reset: bool = Field(False, description="End connections by a TCP reset.")
    failure_status: OptionalWhole = Field(
        None, ge=100, le=599, description="httperf: status of a reply that fails its session."
    )
    retry_on_failure: bool = Field(False, description="httperf: ask again for what was answered by that status.")
    session_cookies: bool = Field(False, description="httperf: send back the cookie of each session.")
    runtime_s: OptionalSeconds = Field(None, alias="runtime", gt=0, description="httperf: end after this time.")
    hog: bool = Field(False, description="httperf: use all local ports from 1024 on.", json_schema_extra={"own": True})
    myaddr: Texts = Field(
        (),
        description="httperf: address to connect from, A-B for a range; may be repeated.",
        json_schema_extra={"repeat": True, "metavar": "ADDRESS[-ADDRESS]", "own": True},
    )
    ssl_ciphers: Text = Field(None, description="httperf: TLS ciphers to offer, separated by colons.")
    ssl_no_reuse: bool = Field(
        False, description="httperf: a full TLS handshake for each connection.", json_schema_extra={"off": "ssl-reuse"}
    )
    ssl_certificate: OptionalPath = Field(
        None, description="httperf: certificate to show, PEM.", json_schema_extra={"path": "file", "own": True}
    )
    ssl_key: OptionalPath = Field(
        None, description="httperf: its key, PEM.", json_schema_extra={"path": "file", "own": True}
    )
    ssl_verify: Annotated[bool, BeforeValidator(_verify)] = Field(
        False, description="httperf: check the server's certificate.", json_schema_extra={"own": True}
    )
    ssl_ca_file: OptionalPath = Field(
        None, description="httperf: authorities to trust, PEM.", json_schema_extra={"path": "file", "own": True}
    )
    ssl_ca_path: OptionalPath = Field(
        None, description="httperf: folder of authorities to trust.", json_schema_extra={"path": "folder", "own": True}
    )
    ssl_protocol: Annotated[str, Metavar("P")] = Field("auto", description="httperf: auto, TLSv1.2 or TLSv1.3.")
    tls_server_name: Text = Field(
        None, pattern=r"^[A-Za-z0-9._:-]{1,255}$", description="httperf: name asked for in the TLS handshake."
    )

    @property
    def load_steps(self) -> tuple[LoadStep, ...]:
        """See CommonSettings. One after the other is one client."""
        per_s = self.rates if self.period is None else (self.period.per_s,)
        return tuple(Rate(rate, self._arrivals, self._most(rate)) if rate else Clients(1) for rate in per_s)

    def _most(self, per_s: float) -> int:
        """Connections that a machine must be able to have open: those of a server that answers nothing for a while."""
        if self.sessions is None:
            most = self.max_connections or CLIENTS_MAX
            return min(most, self.starts, math.ceil(per_s * SILENCE_S))
        each = self.max_connections or SESSION_CONNECTIONS
        return min(CLIENTS_MAX, self.sessions * each, math.ceil(per_s * SILENCE_S * each))

    @property
    def _arrivals(self) -> Arrivals:
        """How starts are spread, as far as a rate can say it; the engine goes by the period itself."""
        period = self.period
        if period is None or period.shape == "d":
            return Constant()
        if period.shape == "v":
            steps = zip(period.numbers[0::2], period.numbers[1::2], strict=True)
            return Steps(tuple((1.0 / gap_s / period.per_s, span_s) for gap_s, span_s in steps))
        return Poisson() if period.shape == "e" else Uniform()

    @property
    def sessions(self) -> int | None:
        """How many sessions there are; None where connections are counted."""
        with_sessions = self.wsess or self.wsesslog or self.wsesspage
        return None if with_sessions is None else with_sessions.sessions

    @property
    def starts(self) -> int:
        """How many connections or sessions begin."""
        return self.num_conns if self.sessions is None else self.sessions

    @property
    def planned_s(self) -> float:
        """How long the starts take at the lowest rate; 0 where only the server's speed decides."""
        slowest = min(load_step.per_s if isinstance(load_step, Rate) else 0.0 for load_step in self.load_steps)
        return self.starts / slowest if slowest else 0.0

    @property
    def counted_length_s(self) -> float | None:
        """See CommonSettings. Starts at their rate, then what a session thinks; not what a server takes."""
        if not self.planned_s:
            return None
        trials_s = [
            self.starts / load_step.per_s + self._think_s
            for load_step in self.load_steps
            if isinstance(load_step, Rate)
        ]
        return sum(min(trial_s, self.runtime_s or trial_s, self.length_s) for trial_s in trials_s) / len(trials_s)

    @property
    def _think_s(self) -> float:
        """What the longest session thinks altogether."""
        if self.wsesslog is not None:
            think_s = self.wsesslog.think_s
            bursts = [[think_s if b.think_s is None else b.think_s for b in s[:-1]] for s in self.wsesslog.script]
            return max(map(sum, bursts), default=0.0)
        session = self.wsess or self.wsesspage
        if session is None:
            return 0.0
        each = self.burst_length if self.wsess else 1
        return (math.ceil(session.calls / each) - 1) * session.think_s

    @property
    def ends_with_its_work(self) -> bool:
        return True

    @property
    def header_text(self) -> str:
        """All added headers as they are sent. Raises PlanError for a file that holds none."""
        own = "".join(check_header(unescape(header)) for header in self.add_header)
        return own + (read_headers(self.add_header_file) if self.add_header_file is not None else "")

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        crowd = "httperf has no clients that wait: give rate and num_conns"
        reasons = dict.fromkeys(("clients", "virtual_users", "think", "think_distribution"), crowd)
        reasons |= {
            "reply_timeout": "httperf's own is timeout: give that",
            "pin": "its loop has one thread: use taskset",
        }
        if self.sessions is None:
            why = "belongs to sessions: give wsess, wsesslog or wsesspage, or leave it out"
            reasons |= dict.fromkeys(("failure_status", "retry_on_failure", "max_piped_calls"), why)
        else:
            why = "sessions have their own counts: leave it out"
            reasons |= dict.fromkeys(("num_conns", "num_calls"), why)
        if self.wsesslog is not None:
            reasons |= dict.fromkeys(("uri", "method", "burst_length"), "the script of wsesslog says it: leave it out")
        elif self.wsesspage is not None:
            reasons |= dict.fromkeys(("burst_length",), "pages fetch what they embed: leave it out")
        if self.wlog is not None:
            reasons["uri"] = "the list of wlog has the URIs: leave it out"
        if self.timeout_s is None:
            reasons["think_timeout"] = "is added to timeout, which is not set: give that, too"
        if self.failure_status is None:
            reasons["retry_on_failure"] = "needs failure_status: give that, too"
        if self.no_host_hdr:
            reasons["server_name"] = "no Host header is sent: leave one of the two out"
        places = [parse_web_address(address) for address in addresses]
        if all(place.scheme != "https" for place in places):
            why = "belongs to TLS: use https:// (--ssl), or leave it out"
            reasons |= dict.fromkeys((key for key in _by_key(type(self)) if key.startswith(("ssl_", "tls_"))), why)
        elif not self.ssl_verify:
            why = "certificates are not checked without ssl_verify: give that, too"
            reasons |= {"ssl_ca_file": why, "ssl_ca_path": why}
        return reasons

    @model_validator(mode="after")
    def _httperf_consistent(self, info: ValidationInfo) -> Self:
        if list(self.rates) != sorted(set(self.rates)) or (len(self.rates) > 1 and self.rates[0] == 0):
            raise ValueError("rate: give different rates, rising: 100,200,500; 0 stands alone")
        if self.period is not None and self.rates != (0.0,):
            raise ValueError("rate and period both say when to start: leave one out")
        given = [name for name in ("wsess", "wsesslog", "wsesspage") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} exclude each other: leave one out")
        lists = [name for name in ("wlog", "wset", "wsesslog") if getattr(self, name) is not None]
        if len(lists) > 1:
            raise ValueError(f"{' and '.join(lists)} both say which URIs to fetch: leave one out")
        if self.session_cookies and self.sessions is None:
            raise ValueError("session_cookies needs sessions: give wsess, wsesslog or wsesspage")
        if (self.ssl_key is None) != (self.ssl_certificate is None):
            raise ValueError("ssl_certificate and ssl_key belong together: give both")
        if self.ssl_protocol in GONE:
            raise ValueError(f"ssl_protocol: {self.ssl_protocol} is not spoken any more: TLSv1.2 or TLSv1.3")
        if self.ssl_protocol not in PROTOCOLS:
            raise ValueError(f"ssl_protocol: {str(self.ssl_protocol)[:40]!r} is none of {', '.join(PROTOCOLS)}")
        source_words(self.myaddr)
        try:
            if not is_resolved(info):  # a stored plan opens nothing
                self.header_text  # noqa: B018 - is read for its errors
        except PlanError as error:
            raise ValueError(f"add_header_file: {error}") from None
        except ValueError as error:
            raise ValueError(f"add_header: {error}") from None
        expected_s = min(self.planned_s, self.runtime_s or self.planned_s)
        if expected_s > self.length_s:
            raise ValueError(
                f"length: {self.starts:,} starts at this rate take {format_duration(round(expected_s))}, a trial may "
                f"take {format_duration(self.length_s)}: raise length"
            )
        return self


def _by_key(model: type[CommonSettings]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def source_words(words: Sequence[str]) -> tuple[str, ...]:
    """The addresses, or names, of --myaddr, ranges in full. Raises ValueError."""
    found: list[str] = []
    for word in words:
        match = re.fullmatch(r"([0-9.]+)-([0-9.]+)", word)
        found += _range(word, match[1], match[2]) if match else [word]
        if not re.fullmatch(r"[A-Za-z0-9._:%-]{1,255}", found[-1]):
            raise ValueError(f"myaddr: {word[:80]!r} is no address: write 127.0.0.2, or a range 127.0.0.2-127.0.0.9")
    if len(found) > SOURCES_MAX:
        raise ValueError(f"myaddr: {len(found):,} addresses are too many: at most {SOURCES_MAX:,}")
    return tuple(found)


def _range(word: str, first: str, last: str) -> list[str]:
    try:
        low, high = ipaddress.IPv4Address(first), ipaddress.IPv4Address(last)
    except ValueError:
        raise ValueError(f"myaddr: {word!r} is no range: write 127.0.0.2-127.0.0.9") from None
    if not 0 <= int(high) - int(low) < SOURCES_MAX:
        raise ValueError(f"myaddr: {word!r} is no range of at most {SOURCES_MAX:,} addresses: the lower one first")
    return [str(ipaddress.IPv4Address(number)) for number in range(int(low), int(high) + 1)]


class HttperfPlanPart(PlanPart):
    """The kind `httperf`."""

    address_kind = "web"
    settings = HttperfSettings
    client_options = (
        "http_version", "add_header", "send_buffer", "recv_buffer", "close_with_reset", "session_cookies",
        "ssl_ciphers", "ssl_no_reuse", "ssl_verify", "ssl_protocol",
    )  # fmt: skip
    endpoint = "replies per second"
    common_settings = MappingProxyType(
        {
            "rate": "Connections or sessions a second.",
            "num_conns": "Connections of each trial.",
            "num_calls": "Calls on each connection.",
            "wsess": "Sessions, calls of each, think time: 10,5,2.",
            "timeout": "Time after which a call has failed.",
            "uri": "Path to ask for.",
        }
    )
    target = "web"
    example = ({"rate": "100"}, "at 100 starts/s")

    def why_indivisible(self, settings: CommonSettings) -> str | None:
        if all(isinstance(load_step, Rate) for load_step in settings.load_steps):
            return None
        return (
            "without a rate one connection or session of httperf follows the other, which is one machine's work: leave "
            "agents out, or give rate or period"
        )

    def unit(self, settings: CommonSettings) -> LoadUnit:
        """See PlanPart: a start is a connection with its calls, or a session; how many requests a page takes, the
        server says.
        """
        s = httperf_settings(settings)
        if s.wsesspage is not None:
            return LoadUnit(starts="sessions")
        if s.wsess is not None:
            return LoadUnit(starts="sessions", parts="requests", each=float(s.wsess.calls))
        if s.wsesslog is not None:
            return LoadUnit(starts="sessions", parts="requests", each=_mean_calls(s.wsesslog))
        return (
            LoadUnit(starts="connections", parts="requests", each=float(s.num_calls)) if s.num_calls > 1 else OPERATIONS
        )

    def check_address(self, address: str, settings: CommonSettings) -> None:
        if parse_web_address(address).unix is not None:
            raise PlanError(f"address {address!r}: httperf's work goes over TCP: write http://host[:port][/path]")


def _mean_calls(log: Wsesslog) -> float:
    """Those of a session, whose scripts are taken in turn."""
    calls = [sum(len(burst.calls) for burst in script) for script in log.script]
    return sum(calls[number % len(calls)] for number in range(log.sessions)) / log.sessions


def httperf_settings(settings: CommonSettings) -> HttperfSettings:
    """The settings as those of httperf."""
    assert isinstance(settings, HttperfSettings)
    return settings


PART = HttperfPlanPart()
