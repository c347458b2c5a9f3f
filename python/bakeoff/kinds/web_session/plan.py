"""Sessions of several requests: their settings and their workload."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Self

from pydantic import Field, model_validator

from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_duration
from bakeoff.kinds.web.settings.address import parse_web_address
from bakeoff.kinds.web.settings.http import CHECK_EVERY, CLIENT_OPTIONS, HttpSettings, connection_fields
from bakeoff.kinds.web.settings.statuses import statuses_of
from bakeoff.kinds.web.spec import ClassSpec, RequestSpec, WebWorkload
from bakeoff.kinds.web_session.file import OptionalSession, Step
from bakeoff.kinds.web_session.spec import BodySpec, SessionWorkload, StepSpec, TakeSpec
from bakeoff.plan.design.unit import LoadUnit
from bakeoff.plan.kind import CLIENTS, INSECURE, LENGTH, RATE, PlanPart
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings.classes import SuiteClass
from bakeoff.plan.settings.shared import CommonSettings
from bakeoff.plan.suites import Suite


class SessionSettings(HttpSettings):
    """Settings of web-session."""

    session: OptionalSession = Field(
        None,
        description="File with the steps of a session: requests that follow each other, what their replies must be, "
        "and values taken from them for later steps. It becomes part of the plan. HTTP/1 alone.",
        json_schema_extra={"path": "file", "metavar": "FILE"},
    )

    @model_validator(mode="after")
    def _session_consistent(self) -> Self:
        if self.session is None:
            return self
        pauses_s = self.session.pauses_s
        if pauses_s >= self.window_s and self.operations is None:
            raise ValueError(
                f"session: its pauses take {format_duration(pauses_s)}, and the measured window is "
                f"{format_duration(self.window_s)}: no session would end in it; give a greater --length, or "
                "shorter pauses"
            )
        if any(header.partition(":")[0].lower() == "cookie" for header in self.headers):
            raise ValueError("headers: give cookies by --cookie, so that replies' cookies go with them")
        return self


class SessionPlanPart(PlanPart):
    """The kind `web-session`."""

    address_kind = "web"
    settings = SessionSettings
    client_options = CLIENT_OPTIONS
    endpoint = "sessions per second"
    common_settings = MappingProxyType(
        {
            "session": "File with the steps of a session.",
            "clients": CLIENTS,
            "rate": RATE,
            "length": LENGTH,
            "http": "Version: 1.0, 1.1, 2 or 3.",
            "keep_alive": "Keep connections open between requests.",
            "headers": "Extra header: 'Accept: text/html'.",
            "cookie": "Cookie of each request: NAME=VALUE.",
            "insecure": INSECURE,
        }
    )
    target = "web"

    def check_address(self, address: str, settings: CommonSettings) -> None:
        if "?" in parse_web_address(address).target:
            raise PlanError(f"address {address!r} has a query, but the session has the paths: leave it out")

    def unit(self, settings: CommonSettings) -> LoadUnit:
        """See PlanPart: each step is a request."""
        session = session_settings(settings).session
        return LoadUnit("sessions", "sessions", "requests", 0.0 if session is None else float(len(session.steps)))

    def classes(self, suite: Suite, settings: CommonSettings) -> Sequence[SuiteClass]:
        """See PlanPart: there are none."""
        if session_settings(settings).session is None:
            raise PlanError("session: name the file with the steps of a session, such as --session session.toml")
        return ()


def session_settings(settings: CommonSettings) -> SessionSettings:
    """The settings as those of sessions."""
    assert isinstance(settings, SessionSettings)
    return settings


def workload(plan: Plan, contender: Contender, addresses: Sequence[str]) -> SessionWorkload:
    """What the engine is told of a contender at its numeric `addresses`."""
    s = session_settings(plan.settings_of(contender.name))
    assert s.session is not None
    address = parse_web_address(contender.address)
    fields = connection_fields(s, address, addresses)
    cookies: tuple[tuple[str, str], ...] = ()
    if s.session.cookies != "off":  # else they are a header as any
        cookies = tuple((name, content) for name, _, content in (cookie.partition("=") for cookie in s.cookie))
        fields["headers"] = tuple(field for field in fields["headers"] if field[0] != "Cookie")
    return SessionWorkload(
        web=WebWorkload(**fields, check_every=CHECK_EVERY, classes=tuple(_class(step) for step in s.session.steps)),
        prefix=address.prefix,
        keep_cookies=s.session.cookies,
        cookies=cookies,
        steps=tuple(_step(step) for step in s.session.steps),
    )


def _class(step: Step) -> ClassSpec:
    """What says of a step how it is asked and which statuses its reply may have; its path is written by the session."""
    request = RequestSpec(method=step.method, path="/", length=None, sha256=None)
    return ClassSpec(name=step.name, weight=1.0, expect=statuses_of(step.expect), requests=(request,))


def _step(step: Step) -> StepSpec:
    return StepSpec(
        name=step.name,
        path=step.path,
        headers=step.headers,
        body=None if step.body is None else BodySpec(content=step.body.content, fill=step.fill),
        texts=step.texts,
        take=tuple(TakeSpec(name=take.name, way=take.way, what=take.what) for take in step.take),
        think_s=step.think_s,
    )


PART = SessionPlanPart()
