"""What the engine is told of web work."""

import math
from typing import Literal

from pydantic import Field

from bakeoff.kinds.spec import OfNothing, Spec, TlsSpec, Workload
from bakeoff.kinds.web.body import SAFE

# The null server's page where the lengths of replies are not known, and the largest that it is asked for.
NULL_PAGE_BYTES, MOST_PAGE_BYTES = 1024, 1 << 20


class RequestSpec(Spec):
    """One request. `length` and `sha256` of the reply's body are None where they are not known; `body` is the number of
    what the request carries.
    """

    method: str
    path: str
    length: int | None
    sha256: str | None
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
    hexadecimal.
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
    headers: tuple[tuple[str, str], ...]
    bodies: tuple[str, ...] = ()
    classes: tuple[ClassSpec, ...] = Field(min_length=1)

    @property
    def rehearsed(self) -> bool:
        """See Workload: where TLS is concerned, or streams, unless the request may change something."""
        is_safe = all(request.method in SAFE for c in self.classes for request in c.requests)
        return is_safe and (self.scheme == "https" or self.http in ("2", "3"))

    @property
    def of_nothing(self) -> OfNothing | None:
        """See Workload: one page as large as the mean of those known, over plain HTTP/1, for that is what the server
        speaks.
        """
        if self.scheme != "http" or self.http not in ("1.0", "1.1"):
            return None
        page = RequestSpec(method="GET", path="/", length=None, sha256=None)
        asked = self.model_copy(
            update={
                "addresses": (),
                "unix": None,
                "source_addresses": (),
                "bodies": (),
                "classes": (ClassSpec(name="nothing", weight=1.0, expect=(200,), requests=(page,)),),
            }
        )
        page_bytes = self._mean_reply_bytes()
        server: dict[str, str | int | bool] = {"kind": "null", "page_bytes": page_bytes, "close": not self.keep_alive}
        words = "kept connections" if self.keep_alive else "a connection for each request"
        return OfNothing(asked=asked, server=server, words=f"{words}, replies of {page_bytes:,} bytes")

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
        """See Workload."""
        return () if self.unix else self.addresses[:1]

    @property
    def sources(self) -> tuple[str, ...]:
        """See Workload."""
        return self.source_addresses


PART = WebWorkload
