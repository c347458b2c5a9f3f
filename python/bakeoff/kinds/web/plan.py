"""HTTP: the settings of the web suites and their workload."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_size
from bakeoff.kinds.web.settings.address import WebAddress, parse_web_address
from bakeoff.kinds.web.settings.body import BODIES_BYTES, Method, OptionalBody, RequestBody, check_body
from bakeoff.kinds.web.settings.classes import WebClass, classes_of, corpus_of, web_classes
from bakeoff.kinds.web.settings.http import (
    CHECK_EVERY,
    CLIENT_OPTIONS,
    WITH_STREAMS,
    HttpSettings,
    connection_fields,
    request_headers,
)
from bakeoff.kinds.web.settings.statuses import SUCCESS, parse_expect
from bakeoff.kinds.web.settings.urls import UrlLine, Urls
from bakeoff.kinds.web.spec import ClassSpec, RequestSpec, WebWorkload
from bakeoff.plan.design.unit import REQUESTS, LoadUnit
from bakeoff.plan.kind import CLIENTS, INSECURE, LENGTH, RATE, PlanPart
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings.fields import OptionalPath, Share, Weights, Whole
from bakeoff.plan.settings.shared import CommonSettings
from bakeoff.plan.suites import Suite, load_suite
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME, Manifest, ManifestFile

MISSING_PATHS = 100


class WebSettings(HttpSettings):
    """Settings of web-static, web-dynamic and web-url."""

    HAS_STREAMS = True

    corpus: OptionalPath = Field(
        None,
        description="Folder made by `bakeoff corpus`; without it the contenders are asked for the manifest.",
        json_schema_extra={"table": "plan", "path": "folder", "only": MANIFEST_NAME, "own": True},
    )
    check_every: Whole = Field(
        CHECK_EVERY,
        ge=0,
        description="Hash one in this many bodies that are known beforehand, drawn by a secret of the trial, and the "
        "first thousand. The length of all is checked. 0 = never.",
        json_schema_extra={"own": True},
    )
    weights: Weights = Field(
        {},
        description="Shares of request classes that replace those of the suite: 223=20,404=0.",
    )
    dynamic_share: Share = Field(0.2, lt=1, description="web-dynamic: share of requests for computed pages.")
    dynamic_url: str | None = Field(
        None,
        description="web-dynamic: path of your own computed page; its bytes are then not checked.",
        json_schema_extra={"metavar": "PATH"},
    )
    expect: Annotated[str, BeforeValidator(parse_expect)] = Field(
        SUCCESS,
        description="web-url: statuses that count as success: 200,304 or 2xx; any takes every one. Add `different` "
        "where contenders may answer one path with different bytes; else there is no verdict on them.",
    )
    method: Method = Field(
        "GET",
        description="web-url: method of the requests: GET, HEAD (replies have no body, whatever length they state), "
        "POST or any other. What may change something is asked once before timing, and its replies are not compared.",
        json_schema_extra={"metavar": "METHOD"},
    )
    body: OptionalBody = Field(
        None,
        description="web-url: file that each request carries, such as --method POST --body order.json -H "
        "'Content-Type: application/json'; it becomes part of the plan. HTTP/1 alone.",
        json_schema_extra={"path": "file", "metavar": "FILE"},
    )
    urls: Urls = Field(
        None,
        description="web-url: file with lines of weight and path, added to each contender's address; a method may "
        "stand before the path, a body and its type behind it: `2 POST /login @login.json application/json`.",
        json_schema_extra={"path": "file"},
    )

    @model_validator(mode="after")
    def _web_consistent(self) -> Self:
        if self.dynamic_url is not None and not self.dynamic_url.startswith("/"):
            raise ValueError("dynamic_url: give a path that begins with /")
        if self.body is not None:
            check_body(self.method, "body")
        if self.http in WITH_STREAMS and any(body is not None for body in self.bodies):
            which = "urls" if self.body is None else "body"
            raise ValueError(
                f"{which}: requests with a body are made over HTTP/1: give http 1.1, or leave the body out"
            )
        if sum(body.size_bytes for body in self.bodies if body is not None) > BODIES_BYTES:
            raise ValueError(
                f"body: requests of all paths have more than {format_size(BODIES_BYTES)} together: use fewer, or a "
                "smaller body"
            )
        types = [name for name, _ in request_headers(self) if name.lower() == "content-type"]
        if types and any(line.content_type for line in self.urls or ()):
            raise ValueError("headers: Content-Type is said by lines of urls: leave one of the two out")
        return self

    def asked(self, line: UrlLine) -> tuple[str, RequestBody | None]:
        """Method and body of a line."""
        return (self.method, self.body) if line.method is None else (line.method, line.body)

    @property
    def bodies(self) -> list[RequestBody | None]:
        """What each request carries."""
        return [self.body] if self.urls is None else [self.asked(line)[1] for line in self.urls]

    @property
    def methods(self) -> frozenset[str]:
        """Those of all requests."""
        return frozenset([self.method] if self.urls is None else [self.asked(line)[0] for line in self.urls])


class WebPlanPart(PlanPart):
    """The kind `web`."""

    address_kind = "web"
    settings = WebSettings
    suite_class = WebClass
    client_options = CLIENT_OPTIONS
    endpoint = "requests per second"
    common_settings = MappingProxyType(
        {
            "clients": CLIENTS,
            "rate": RATE,
            "length": LENGTH,
            "http": "Version: 1.0, 1.1, 2 or 3.",
            "keep_alive": "Keep connections open between requests.",
            "urls": "File of weights and paths.",
            "method": "Method of the requests: GET, POST, ….",
            "body": "File that each request carries.",
            "headers": "Extra header: 'Accept: text/html'.",
            "expect": "Statuses that succeed: 200,304 or 2xx.",
            "insecure": INSECURE,
        }
    )

    def check_address(self, address: str, settings: CommonSettings) -> None:
        place = parse_web_address(address)
        if web_settings(settings).http == "3" and place.scheme != "https":
            raise PlanError(
                f"{address}: HTTP/3 is spoken over QUIC, which is always encrypted: give an https:// address, or "
                "leave out --http 3"
            )

    def unit(self, settings: CommonSettings) -> LoadUnit:
        """See PlanPart."""
        return REQUESTS

    def classes(self, suite: Suite, settings: CommonSettings) -> Sequence[WebClass]:
        """See PlanPart. Weights are in percent of all requests and sum to 100."""
        web = web_settings(settings)
        own = web_classes(suite.classes)
        _refuse_foreign(suite, own, web)
        return classes_of(own, web.urls, web.expect, web.weights, web.dynamic_share)


def workload(
    plan: Plan,
    contender: Contender,
    addresses: Sequence[str],
    manifest: Manifest | None,
    known: Mapping[tuple[str, int], RequestSpec] = MappingProxyType({}),
) -> WebWorkload:
    """What the engine is told of a contender at its numeric `addresses`; `manifest` is that of the corpus, if any, and
    `known` are requests of whose replies something was learnt, by class and number.
    """
    web = web_settings(plan.settings_of(contender.name))
    address = parse_web_address(contender.address)

    def requests(c: WebClass) -> tuple[RequestSpec, ...]:
        own = requests_of(c, web, address, manifest)
        return tuple(known.get((c.name, number), request) for number, request in enumerate(own)) if known else own

    return WebWorkload(
        **connection_fields(web, address, addresses),
        check_every=web.check_every,
        bodies=tuple(body.content for body in different_bodies(web)),
        classes=tuple(
            ClassSpec(name=c.name, weight=c.weight, expect=c.expect, requests=requests(c))
            for c in web_classes(plan.classes)
        ),
    )


def different_bodies(web: WebSettings) -> list[RequestBody]:
    """Each once; requests name them by their numbers."""
    return list({body.sha256: body for body in web.bodies if body is not None}.values())


def web_settings(settings: CommonSettings) -> WebSettings:
    """The settings as those of web."""
    assert isinstance(settings, WebSettings)
    return settings


def needed_corpus(plan: Plan) -> str | None:
    """The corpus that the contenders of a plan must serve; it is called like its suite. None when it needs none."""
    return corpus_of(plan.suite, web_classes(load_suite(plan.suite).classes))


def _refuse_foreign(suite: Suite, classes: Sequence[WebClass], web: WebSettings) -> None:
    """A setting that would silently do nothing in this suite is an error."""
    sources = {c.source for c in classes}
    for name, source, owner in (
        ("dynamic_share", "dynamic", "web-dynamic"),
        ("dynamic_url", "dynamic", "web-dynamic"),
        ("urls", "url", "web-url"),
        ("expect", "url", "web-url"),
        ("body", "url", "web-url"),
        ("method", "url", "web-url"),
    ):
        if name in web.model_fields_set and source not in sources:
            raise PlanError(f"{name} belongs to {owner}, not to {suite.suite.name}: leave it out")
    if web.corpus is not None and corpus_of(suite.suite.name, classes) is None:
        raise PlanError(f"corpus does not belong to {suite.suite.name}, which has none: leave it out")


def requests_of(
    c: WebClass, web: WebSettings, address: WebAddress, manifest: Manifest | None
) -> tuple[RequestSpec, ...]:
    """The requests of one class; a member of a class is picked at random, all alike."""
    if c.source == "url":
        return _url_requests(c, web, address)
    if c.source == "missing":
        return tuple(_request(f"{address.prefix}/bakeoff-missing/{i:03d}.html") for i in range(MISSING_PATHS))
    if c.source == "dynamic" and web.dynamic_url is not None:
        return (_request(address.prefix + web.dynamic_url),)
    assert manifest is not None
    files: Sequence[ManifestFile] = manifest.dynamic if c.source == "dynamic" else manifest.classes.get(c.name, ())
    if not files:
        raise PlanError(f"the corpus has no files of class {c.name!r}: make it again with `bakeoff corpus`")
    return tuple(_request(f"{address.prefix}/{f.path}", f.size, f.sha256) for f in files)


def _url_requests(c: WebClass, web: WebSettings, address: WebAddress) -> tuple[RequestSpec, ...]:
    lines: tuple[UrlLine, ...] = (UrlLine(weight=1.0, path=address.target or "/"),)
    prefix = ""
    if web.urls is not None:
        lines = tuple(line for line in web.urls if c.name in (line.name, f"weight {line.weight:g}"))
        prefix = address.prefix
    numbers = {body.sha256: number for number, body in enumerate(different_bodies(web))}
    requests = []
    for line in lines:
        method, body = web.asked(line)
        request = _request(prefix + line.path, method=method)
        own = {"body": None if body is None else numbers[body.sha256], "content_type": line.content_type}
        requests.append(request.model_copy(update=own))
    return tuple(dict.fromkeys(requests))


def _request(path: str, length: int | None = None, sha256: str | None = None, method: str = "GET") -> RequestSpec:
    return RequestSpec(method=method, path=path, length=length, sha256=sha256)


PART = WebPlanPart()
