"""The trial spec that crosses to the engine as JSON. The Rust side holds the same schema in serde."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NullWorkload(_Spec):
    """Does nothing, as fast as it can: the ceiling of the engine itself."""

    kind: Literal["null"] = "null"


class TlsSpec(_Spec):
    """How TLS connections are made."""

    verify: bool
    ca_file: str | None
    resumption: bool


class RequestSpec(_Spec):
    """One request. `length` and `sha256` of the body are None where they are not known."""

    method: str
    path: str
    length: int | None
    sha256: str | None


class ClassSpec(_Spec):
    """A class of requests; `weight` is relative, empty `expect` takes any status."""

    name: str
    weight: float
    expect: tuple[int, ...]
    requests: tuple[RequestSpec, ...] = Field(min_length=1)


class WebWorkload(_Spec):
    """HTTP. `host` is the Host header; `addresses` are numeric, the first is used unless `unix` is set."""

    kind: Literal["web"] = "web"
    scheme: Literal["http", "https"]
    host: str
    addresses: tuple[str, ...]
    unix: str | None
    http: Literal["1.0", "1.1"]
    keep_alive: bool
    receive_buffer_bytes: int | None
    close_with_reset: bool
    source_addresses: tuple[str, ...]
    requests_per_connection: int | None
    tls: TlsSpec | None
    check_every: int
    headers: tuple[tuple[str, str], ...]
    classes: tuple[ClassSpec, ...] = Field(min_length=1)


class AppClassSpec(_Spec):
    """A kind of request of the app server and its relative weight."""

    name: Literal["upload", "download", "processor", "read", "write"]
    weight: float


class AppWorkload(_Spec):
    """Clients of `bakeoff serve app`. `addresses` are numeric, the first is used unless `unix` is set."""

    kind: Literal["app"] = "app"
    addresses: tuple[str, ...]
    unix: str | None
    source_addresses: tuple[str, ...]
    classes: tuple[AppClassSpec, ...] = Field(min_length=1)
    upload_bytes: int
    download_bytes: int
    rounds: int
    record_bytes: int
    read_records: int
    write_records: int
    working_set: float


Workload = Annotated[WebWorkload | AppWorkload | NullWorkload, Field(discriminator="kind")]


class TrialSpec(_Spec):
    """Everything the engine needs for one trial. `length_s` includes both ramps."""

    workload: Workload
    clients: int = Field(ge=1)
    threads: int = Field(default=1, ge=1)
    ramp_up_s: float = Field(default=0.0, ge=0)
    ramp_down_s: float = Field(default=0.0, ge=0)
    length_s: float = Field(gt=0)
    delay_s: float = Field(default=0.0, ge=0)
    think_s: float = Field(default=0.0, ge=0)
    think_distribution: Literal["fixed", "exponential"] = "fixed"
    max_operations: int | None = None
    connect_timeout_s: float = Field(default=5.0, gt=0)
    reply_timeout_s: float = Field(default=10.0, gt=0)
    cores: int = Field(default=1, ge=1)
    pin: tuple[int, ...] | None = None
    seed: int = Field(default=1, ge=0)

    def to_json(self) -> str:
        """The text that crosses the bridge."""
        return self.model_dump_json()
