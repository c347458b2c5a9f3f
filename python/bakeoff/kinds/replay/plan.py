"""The replay of an access log: its settings and its workload."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_duration, parse_rate
from bakeoff.kinds.replay.bodies import GivenBody, read_bodies
from bakeoff.kinds.replay.log import LogFacts, LogSample, read_log, trace_of
from bakeoff.kinds.replay.spec import LearntSpec, ReplayWorkload
from bakeoff.kinds.web.settings.address import WebAddress, parse_web_address
from bakeoff.kinds.web.settings.http import CHECK_EVERY, CLIENT_OPTIONS, HttpSettings, connection_fields
from bakeoff.kinds.web.spec import ClassSpec, RequestSpec, WebWorkload
from bakeoff.load.arrivals import Constant, Replay
from bakeoff.load.load_step import RATE_MAX_PER_S, LoadStep, Rate
from bakeoff.plan.design.unit import REQUESTS, LoadUnit
from bakeoff.plan.kind import CLIENTS, LENGTH, RATE, PlanPart
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings.classes import SuiteClass
from bakeoff.plan.settings.fields import Metavar, OptionalPath, is_resolved
from bakeoff.plan.settings.shared import LENGTH_MAX_S, CommonSettings
from bakeoff.plan.suites import Suite

FROM_LOG = "from-log"
SPEED_MAX = 1e6
# What stands for a moment at which the log is over, where floating point rounds.
_NEARLY = 1e-9
_HOST = re.compile(r"[A-Za-z0-9._~-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
LOG_DECIDES = "a log says itself when each request begins: leave it out"


def _speeds(value: Any, info: ValidationInfo) -> Any:
    if value is None or is_resolved(info):
        return value
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else (value,)
    try:
        return tuple(float(str(part).strip().removesuffix("x")) for part in parts)
    except ValueError:
        raise ValueError(f"{value!r} is no speed: write 2 for twice the log's own, or 1,2,10") from None


Speeds = Annotated[tuple[float, ...] | None, BeforeValidator(_speeds), Metavar("N,N,...")]


class ReplaySettings(HttpSettings):
    """Settings of replay."""

    log: LogFacts | None = Field(
        None,
        description="Access log to replay, in the common or the combined format of nginx or Apache, plain or packed by "
        "gzip; a virtual host before each line and fields after it are no fault.",
        json_schema_extra={"path": "file", "metavar": "FILE"},
    )
    speed: Speeds = Field(
        None,
        description="Speed of the replay, one load step each: 1 is the log's own, 2 makes an hour last half an hour. "
        "Instead, --rate gives the requests per second that the speed is to make on average.",
    )
    loop: bool = Field(
        False,
        description="Begin the log again until --length is over.",
    )
    spread: Literal["even", "poisson"] = Field(
        "even",
        description="Where the requests of one second begin, as logs have whole seconds: at even distances, or at "
        "random moments of that second (poisson), the same for all contenders.",
        json_schema_extra={"metavar": "even|poisson"},
    )
    host: str | None = Field(
        None,
        min_length=1,
        max_length=255,
        description="Host header (and name for TLS) of all requests, instead of the contender's own; "
        f"{FROM_LOG} takes the virtual host of each line.",
        json_schema_extra={"metavar": "NAME"},
    )
    bodies: OptionalPath = Field(
        None,
        description="Folder with bodies for methods other than GET and HEAD; such lines are left out without it. Its "
        "bodies.txt has lines of method, path, file and content type.",
        json_schema_extra={"path": "folder"},
    )
    statuses: Literal["log", "any"] = Field(
        "log",
        description="Replies that count: those with the status of their line (log), or any. The report lists other "
        "statuses either way.",
        json_schema_extra={"metavar": "log|any"},
    )
    different: bool = Field(
        False,
        description="Contenders may answer one path with different bytes; without this there is no verdict on them.",
        json_schema_extra={"off": "same"},
    )

    @model_validator(mode="before")
    @classmethod
    def _from_the_log(cls, given: Any, info: ValidationInfo) -> Any:
        """Reads the log; the length of a trial is the log's, unless it is given."""
        if not isinstance(given, dict) or is_resolved(info):
            return given
        given = {"clients": (), **given}
        if isinstance(given.get("log"), str):
            given["log"] = _read(given)
        if isinstance(given.get("log"), LogFacts) and "length" not in given:
            given["length"] = f"{_length_s(given, given['log']):.9f}s"
        return given

    @model_validator(mode="after")
    def _replay_consistent(self) -> Self:
        if self.host is not None and self.host != FROM_LOG and not _HOST.fullmatch(self.host):
            raise ValueError(f"host: {self.host!r} is no name of a host: write www.example.org, or {FROM_LOG}")
        for name, right in (
            ("virtual_users", 1),
            ("think_s", 0.0),
            ("delay_s", 0.0),
            ("arrivals", Constant()),
            ("operations", None),
        ):
            if getattr(self, name) != right:
                raise ValueError(f"{type(self).model_fields[name].alias or name}: {LOG_DECIDES}")
        if self.log is not None:
            self._check_length(self.log)
        return self

    def _check_clients(self) -> None:
        if self.clients:
            raise ValueError(f"clients: {LOG_DECIDES}; give --speed or --rate")
        if self.rate is not None and self.speed is not None:
            raise ValueError("speed: the log's pace is given by speed or by rate: leave one of the two out")
        for name, values in (("speed", self.speed), ("rate", self.rate)):
            if values is not None and (not values or min(values) <= 0 or list(values) != sorted(set(values))):
                raise ValueError(f"{name}: give different ones, all above 0, rising: 1,2,10")
        if self.log is not None and not (self.speeds[-1] <= SPEED_MAX and self.rates[-1] <= RATE_MAX_PER_S):
            raise ValueError(
                f"{'rate' if self.speed is None else 'speed'}: at {self.speeds[-1]:,.6g} times its speed the log has "
                f"{self.rates[-1]:,.6g} requests/s: at most {SPEED_MAX:,.0f} times, and {RATE_MAX_PER_S:,.0f}/s"
            )

    def _check_length(self, log: LogFacts) -> None:
        over_s = log.period_s / self.speeds[-1]
        if not self.loop and self.length_s > over_s * (1.0 + _NEARLY):
            raise ValueError(
                f"length: at {self.speeds[-1]:g} times its speed the log is over after {format_duration(over_s)}: give "
                "--loop to begin it again, or a shorter length"
            )

    @property
    def speeds(self) -> tuple[float, ...]:
        """How many seconds of the log pass in one of a trial, for each load step."""
        if self.rate is not None and self.log is not None:
            return tuple(rate / self.log.per_s for rate in self.rate)
        return self.speed or (1.0,)

    @property
    def rates(self) -> tuple[float, ...]:
        """Requests per second, on average, for each load step."""
        if self.rate is not None:
            return self.rate
        return tuple(speed * (self.log.per_s if self.log else 1.0) for speed in self.speeds)

    @property
    def load_steps(self) -> tuple[LoadStep, ...]:
        return tuple(Rate(per_s, Replay(()), self.most_connections) for per_s in self.rates)

    @property
    def is_at_rates(self) -> bool:
        return True

    @property
    def keeps_hosts(self) -> bool:
        """Whether requests go to the virtual hosts of their lines."""
        return self.host == FROM_LOG

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        reasons = dict(super().without_effect(addresses))
        if self.log is None:
            return reasons
        if self.keeps_hosts and not self.log.hosts:
            reasons["host"] = "no line of this log has a virtual host: name the one to ask for, or leave it out"
        if self.log.exact:
            reasons["spread"] = "the stamps of this log have fractions of seconds, which are kept: leave it out"
        if self.length_s <= self.log.period_s / self.speeds[-1] * (1.0 + _NEARLY):
            reasons["loop"] = "the trial is over before the log is: leave it out, or give a longer length"
        return reasons


def _read(given: Mapping[str, Any]) -> LogFacts:
    """The facts of the log that is named. Raises ValueError."""
    bodies = given.get("bodies")
    try:
        content = read_bodies(bodies if isinstance(bodies, str) else None)
    except ValueError as error:
        raise ValueError(f"bodies: {error}") from None
    try:
        return read_log(Path(given["log"]).expanduser().absolute(), content, given.get("host") == FROM_LOG)
    except ValueError as error:
        raise ValueError(f"log: {error}") from None


def _length_s(given: Mapping[str, Any], log: LogFacts) -> float:
    """The time that the log takes once. Raises ValueError when several paces give several."""
    texts = {name: given[name] for name in ("speed", "rate") if given.get(name) is not None}
    several = [name for name, text in texts.items() if len(str(text).split(",")) > 1]
    if several:
        raise ValueError(f"length: trials last as long whatever their {several[0]}: give --length, and --loop")
    try:
        speed = float(str(texts.get("speed", "1")).removesuffix("x"))
        if "rate" in texts:
            speed = parse_rate(str(texts["rate"])) / log.per_s
    except ValueError:
        speed = 1.0  # the field says what is wrong with it
    return min(log.period_s / speed, LENGTH_MAX_S) if speed > 0.0 else log.period_s


class ReplayPlanPart(PlanPart):
    """The kind `replay`."""

    address_kind = "web"
    settings = ReplaySettings
    client_options = CLIENT_OPTIONS
    endpoint = "requests per second"
    common_settings = MappingProxyType(
        {
            "log": "Access log to replay.",
            "clients": CLIENTS,
            "rate": RATE,
            "speed": "Speed of the replay: 1,2,4 times its own.",
            "loop": "Begin the log again until --length is over.",
            "host": "Host header of all requests.",
            "statuses": "Which replies count.",
            "length": LENGTH,
        }
    )
    target = "web"
    lasts = "the log"

    def unit(self, settings: CommonSettings) -> LoadUnit:
        """See PlanPart."""
        return REQUESTS

    def check_address(self, address: str, settings: CommonSettings) -> None:
        if "?" in parse_web_address(address).target:
            raise PlanError(f"address {address!r} has a query, but the paths are those of the log: leave it out")

    def classes(self, suite: Suite, settings: CommonSettings) -> Sequence[SuiteClass]:
        """See PlanPart: there are none."""
        if replay_settings(settings).log is None:
            raise PlanError("log: name the access log that is to be replayed, such as --log access.log")
        return ()


def workload(
    plan: Plan, contender: Contender, addresses: Sequence[str], learnt: Sequence[tuple[LogSample, RequestSpec]] = ()
) -> ReplayWorkload:
    """What the engine is told of a contender at its numeric `addresses`; of the replies to `learnt` requests of the log
    something is known.
    """
    s = replay_settings(plan.settings_of(contender.name))
    assert s.log is not None
    address = parse_web_address(contender.address)
    fields = connection_fields(s, address, addresses)
    if s.host is not None and not s.keeps_hosts:
        fields["host"] = s.host
    patterns = tuple(
        ClassSpec(
            name=method,
            weight=1.0,
            expect=(),
            requests=(RequestSpec(method=method, path="/", length=None, sha256=None),),
        )
        for method in ("GET", "HEAD")
    )
    if learnt:
        known = tuple(request for _, request in learnt)
        patterns += (ClassSpec(name="learnt", weight=1.0, expect=(), requests=known),)
    trace, _ = trace_and_samples(s)
    return ReplayWorkload(
        web=WebWorkload(**fields, check_every=CHECK_EVERY, classes=patterns),
        learnt=tuple(LearntSpec(method=one.method, host=one.host, path=one.path) for one, _ in learnt),
        prefix=address.prefix,
        trace=str(trace),
        sha256=s.log.sha256,
        spread=s.spread,
        loops=s.loop,
        statuses=s.statuses,
    )


def trace_and_samples(s: ReplaySettings) -> tuple[Path, Sequence[LogSample]]:
    """The trace of the log and requests of it to try. Raises PlanError when the log is not what it was."""
    assert s.log is not None
    try:
        bodies: Sequence[GivenBody] = read_bodies(s.bodies)
    except ValueError as error:
        raise PlanError(f"bodies: {error}") from None
    return trace_of(s.log, bodies, s.keeps_hosts)


def replay_settings(settings: CommonSettings) -> ReplaySettings:
    """The settings as those of a replay."""
    assert isinstance(settings, ReplaySettings)
    return settings


def host_of(s: ReplaySettings, address: WebAddress, sample: LogSample | None = None) -> str | None:
    """The host that requests to a contender name, where it is not the contender's own."""
    if s.keeps_hosts:
        return sample.host if sample else None
    return s.host


PART = ReplayPlanPart()
