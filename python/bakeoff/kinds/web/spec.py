"""What the engine is told of web work."""

import math
from typing import Literal, Self

from pydantic import Field

from bakeoff.kinds.spec import NullCalibration, Spec, TlsSpec, Workload
from bakeoff.kinds.web.settings.body import SAFE

# The null server's page where the lengths of replies are not known, and the largest that it is asked for.
NULL_PAGE_BYTES, MOST_PAGE_BYTES = 1024, 1 << 20


class ReplySpec(Spec):
    """What a reply must be beside length and hash of its body: the status of the reply that is known, whether any other
    one is a failure (`exact`), and of a body that changes the lengths that it may have, and its content type.
    """

    status: int
    exact: bool
    least_bytes: int | None = None
    most_bytes: int | None = None
    content_type: str | None = None


class RequestSpec(Spec):
    """One request. `length` and `sha256` of the reply's body are None where they are not known, as is `reply`; `body`
    is the number of what the request carries.
    """

    method: str
    path: str
    length: int | None
    sha256: str | None
    reply: ReplySpec | None = None
    body: int | None = None
    content_type: str | None = None


class ClassSpec(Spec):
    """A class of requests; `weight` is relative, empty `expect` takes any status."""

    name: str
    weight: float
    expect: tuple[int, ...]
    requests: tuple[RequestSpec, ...] = Field(min_length=1)


class WebWorkload(Workload):
    """HTTP. `host` is the Host header; `addresses` are numeric, the first is used unless `unix` is set. `bodies` are
    hexadecimal. Of bodies whose hash is known one in `check_every` is held to it, and all of a trial's first ones; with
    `learn` a trial tells what replies were.
    """

    kind: Literal["web"] = "web"
    scheme: Literal["http", "https"]
    host: str
    addresses: tuple[str, ...]
    unix: str | None
    http: Literal["1.0", "1.1", "2", "3"]
    keep_alive: bool
    receive_buffer_bytes: int | None
    close_with_reset: bool
    source_addresses: tuple[str, ...]
    requests_per_connection: int | None
    tls: TlsSpec | None
    check_every: int
    learn: bool = False
    headers: tuple[tuple[str, str], ...]
    bodies: tuple[str, ...] = ()
    classes: tuple[ClassSpec, ...] = Field(min_length=1)

    @property
    def rehearsed(self) -> bool:
        """See Workload: where TLS is concerned, or streams, unless the request may change something."""
        is_safe = all(request.method in SAFE for c in self.classes for request in c.requests)
        return is_safe and (self.scheme == "https" or self.http in ("2", "3"))

    @property
    def null_calibration(self) -> NullCalibration | None:
        """See Workload: one page as large as the mean of those known. For HTTP/3 there is no such server."""
        if self.http == "3":
            return None
        resumption = self.tls is None or self.tls.resumption
        page = RequestSpec(method="GET", path="/", length=None, sha256=None)
        asked = self.model_copy(
            update={
                "addresses": (),
                "host": "localhost",
                "tls": self.tls and self.tls.model_copy(update={"ca_file": None}),
                "unix": None,
                "source_addresses": (),
                "bodies": (),
                "classes": (ClassSpec(name="nothing", weight=1.0, expect=(200,), requests=(page,)),),
            }
        )
        page_bytes = self._mean_reply_bytes()
        server: dict[str, str | int | bool | dict[str, bool]] = {
            "kind": "null",
            "page_bytes": page_bytes,
            "close": not self.keep_alive,
            "speaks": "http2" if self.http == "2" else "http1",
        }
        if self.scheme == "https":
            server["tls"] = {"resumption": resumption}
        words = ", ".join((*self._way_words(resumption), f"replies of {page_bytes:,} bytes"))
        connects_every = self.requests_per_connection if self.keep_alive else 1
        return NullCalibration(asked=asked, server=server, words=words, connects_every=connects_every)

    def _way_words(self, resumption: bool) -> list[str]:
        """How connections are made and used."""
        words = ["kept connections" if self.keep_alive else "a connection for each request"]
        if self.http == "2":
            words.insert(0, "HTTP/2")
        if self.scheme == "https":
            words.append("TLS" if self.keep_alive else f"TLS {'with' if resumption else 'without'} resumed sessions")
        return words

    def at(self, address: str, certificate: str | None = None) -> Self:
        """See Workload. Certificates are checked as the plan says: that is a part of what a handshake costs."""
        tls = self.tls and self.tls.of_built_in(certificate)
        return self.model_copy(update={"addresses": (address,), "tls": tls})

    def _mean_reply_bytes(self) -> int:
        known = [
            (c.weight / len(c.requests), 0 if request.method == "HEAD" else request.length)
            for c in self.classes
            for request in c.requests
            if request.length is not None
        ]
        weight = math.fsum(share for share, _ in known)
        mean = math.fsum(share * (length or 0) for share, length in known) / weight if weight else NULL_PAGE_BYTES
        return min(round(mean), MOST_PAGE_BYTES)

    @property
    def peers(self) -> tuple[str, ...]:
        return () if self.unix else self.addresses[:1]

    @property
    def sources(self) -> tuple[str, ...]:
        return self.source_addresses


class OverWeb(Workload):
    """Base of work that is made of requests: `web` says how they are made, `prefix` stands before their paths."""

    web: WebWorkload
    prefix: str

    @property
    def peers(self) -> tuple[str, ...]:
        return self.web.peers

    @property
    def sources(self) -> tuple[str, ...]:
        return self.web.sources


PART = WebWorkload
