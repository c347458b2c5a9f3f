"""What the engine is told of web work."""

from typing import Literal

from pydantic import Field

from bakeoff.kinds.spec import Spec, TlsSpec, Workload
from bakeoff.kinds.web.body import SAFE


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
    def peers(self) -> tuple[str, ...]:
        """See Workload."""
        return () if self.unix else self.addresses[:1]

    @property
    def sources(self) -> tuple[str, ...]:
        """See Workload."""
        return self.source_addresses


PART = WebWorkload
