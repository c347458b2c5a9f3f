"""HTTP: the settings of the web suites and their workload."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from bakeoff.bounded_file import MIB, read_text_bounded
from bakeoff.corpus.manifest import MANIFEST_NAME, Manifest, ManifestFile
from bakeoff.errors import PlanError
from bakeoff.kinds.web.address import WebAddress, parse_web_address
from bakeoff.kinds.web.classes import WebClass, classes_of, corpus_of, web_classes
from bakeoff.kinds.web.http import HttpSettings, connection_fields
from bakeoff.kinds.web.spec import ClassSpec, RequestSpec, WebWorkload
from bakeoff.kinds.web.statuses import SUCCESS, parse_expect
from bakeoff.plan.fields import (
    OptionalPath,
    Share,
    Weights,
    Whole,
    is_resolved,
)
from bakeoff.plan.kind import PlanPart
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings import CommonSettings
from bakeoff.plan.suites import Suite, load_suite

MISSING_PATHS = 100


def _method(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _read_urls(value: Any, info: ValidationInfo) -> Any:
    """Lines `weight path`; a lone path has weight 1; `#` begins a comment."""
    if value is None or is_resolved(info):
        return value
    if not isinstance(value, str):
        raise ValueError("name a file with lines of weight and path, such as `3 /index.html`")
    try:
        lines = read_text_bounded(Path(value).expanduser(), 16 * MIB).splitlines()
    except OSError as error:
        raise ValueError(f"{value} cannot be read ({error.strerror}): check the path") from None
    except UnicodeDecodeError:
        raise ValueError(f"{value} is not text in UTF-8") from None
    urls = [_url_line(value, number, line) for number, line in enumerate(lines, 1) if line.split("#")[0].strip()]
    if not urls:
        raise ValueError(f"{value} names no path: write lines of weight and path, such as `3 /index.html`")
    return urls


def _url_line(name: str, number: int, line: str) -> tuple[float, str]:
    words = line.split(" #")[0].split()
    weight, path = ("1", words[0]) if len(words) == 1 else (words[0], words[-1])
    try:
        share = float(weight)
    except ValueError:
        share = -1.0
    if len(words) > 2 or not 0 < share < float("inf") or not path.startswith("/"):
        raise ValueError(f"{name} line {number}: {line.strip()!r} is not `weight path`, such as `3 /index.html`")
    return share, path


Urls = Annotated[tuple[tuple[float, str], ...] | None, BeforeValidator(_read_urls)]


class WebSettings(HttpSettings):
    """Settings of web-static, web-dynamic and web-url."""

    HAS_STREAMS = True

    corpus: OptionalPath = Field(
        None,
        description="Folder made by `bakeoff corpus`; without it the contenders are asked for the manifest.",
        json_schema_extra={"table": "plan", "path": "folder", "only": MANIFEST_NAME, "own": True},
    )
    check_every: Whole = Field(
        100,
        ge=0,
        description="Check the hash of a file on its first fetch and on every n-th after it; 0 = never.",
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
    method: Annotated[Literal["GET", "HEAD"], BeforeValidator(_method)] = Field(
        "GET",
        description="web-url: GET, or HEAD, whose replies have no body, whatever length they state.",
    )
    urls: Urls = Field(
        None,
        description="web-url: file with lines of weight and path, added to each contender's address.",
        json_schema_extra={"path": "file"},
    )

    @model_validator(mode="after")
    def _web_consistent(self) -> Self:
        if self.dynamic_url is not None and not self.dynamic_url.startswith("/"):
            raise ValueError("dynamic_url: give a path that begins with /")
        return self


class WebPlanPart(PlanPart):
    """The kind `web`."""

    settings = WebSettings
    suite_class = WebClass
    endpoint = "requests per second"
    often = ("mixes", "rate", "length", "http", "keep_alive", "urls", "method", "headers", "expect", "insecure")

    def check_address(self, address: str, settings: CommonSettings) -> None:
        """See PlanPart."""
        place = parse_web_address(address)
        if web_settings(settings).http == "3" and place.scheme != "https":
            raise PlanError(
                f"{address}: HTTP/3 is spoken over QUIC, which is always encrypted: give an https:// address, or "
                "leave out --http 3"
            )

    def classes(self, suite: Suite, settings: CommonSettings) -> Sequence[WebClass]:
        """See PlanPart. Weights are in percent of all requests and sum to 100."""
        web = web_settings(settings)
        own = web_classes(suite.classes)
        _refuse_foreign(suite, own, web)
        return classes_of(own, web.urls, web.expect, web.weights, web.dynamic_share)


def workload(plan: Plan, contender: Contender, addresses: Sequence[str], manifest: Manifest | None) -> WebWorkload:
    """What the engine is told of a contender at its numeric `addresses`; `manifest` is that of the corpus, if any."""
    web = web_settings(plan.settings)
    address = parse_web_address(contender.address)
    return WebWorkload(
        **connection_fields(web, address, addresses),
        check_every=web.check_every,
        classes=tuple(
            ClassSpec(name=c.name, weight=c.weight, expect=c.expect, requests=requests_of(c, web, address, manifest))
            for c in web_classes(plan.classes)
        ),
    )


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
        ("check_every", "files", "web-static and web-dynamic"),
        ("dynamic_share", "dynamic", "web-dynamic"),
        ("dynamic_url", "dynamic", "web-dynamic"),
        ("urls", "url", "web-url"),
        ("expect", "url", "web-url"),
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
        return tuple(_request(path, method=web.method) for path in _url_paths(c, web, address))
    if c.source == "missing":
        return tuple(_request(f"{address.prefix}/bakeoff-missing/{i:03d}.html") for i in range(MISSING_PATHS))
    if c.source == "dynamic" and web.dynamic_url is not None:
        return (_request(address.prefix + web.dynamic_url),)
    assert manifest is not None
    files: Sequence[ManifestFile] = manifest.dynamic if c.source == "dynamic" else manifest.classes.get(c.name, ())
    if not files:
        raise PlanError(f"the corpus has no files of class {c.name!r}: make it anew with `bakeoff corpus`")
    return tuple(_request(f"{address.prefix}/{f.path}", f.size, f.sha256) for f in files)


def _url_paths(c: WebClass, web: WebSettings, address: WebAddress) -> list[str]:
    if web.urls is None:
        return [address.target or "/"]
    single = [path for weight, path in web.urls if c.name in (path, f"weight {weight:g}")]
    return [address.prefix + path for path in dict.fromkeys(single)]


def _request(path: str, length: int | None = None, sha256: str | None = None, method: str = "GET") -> RequestSpec:
    return RequestSpec(method=method, path=path, length=length, sha256=sha256)


PART = WebPlanPart()
