"""What the engine is told of httperf's work: the options by httperf's names. Times in s, sizes in bytes.

Texts that go over the wire are octets: each character stands for one byte (U+0000 to U+00FF).
"""

from typing import Annotated, Literal

from pydantic import Field

from bakeoff.kinds.spec import Spec, Workload
from bakeoff.kinds.web.spec import RequestSpec


class ServerSpec(Spec):
    """A server: its name as it was given, and where it is, as `127.0.0.1:80`."""

    host: str
    address: str


class ClientSpec(Spec):
    """Which of several, from 0."""

    index: int
    of: int


class FixedPeriod(Spec):
    """Always the same time between starts."""

    shape: Literal["fixed"]
    period_s: float


class UniformPeriod(Spec):
    """Any time between two is as likely."""

    shape: Literal["uniform"]
    from_s: float
    to_s: float


class ExponentialPeriod(Spec):
    """Exponential with this mean."""

    shape: Literal["exponential"]
    mean_s: float


class VariablePeriod(Spec):
    """(period, for so long), in turn, and again from the first."""

    shape: Literal["variable"]
    steps: tuple[tuple[float, float], ...]


PeriodSpec = Annotated[FixedPeriod | UniformPeriod | ExponentialPeriod | VariablePeriod, Field(discriminator="shape")]


class WsessSpec(Spec):
    """Sessions of equal bursts."""

    sessions: int
    calls: int
    think_s: float


class CallSpec(Spec):
    """One call of a script."""

    uri: str
    method: str
    contents: str | None


class BurstSpec(Spec):
    """A call, those that follow it together, and the pause behind them."""

    calls: tuple[CallSpec, ...]
    think_s: float


class ScriptSpec(Spec):
    """One session of a script."""

    bursts: tuple[BurstSpec, ...]


class WsesslogSpec(Spec):
    """Sessions that take the scripts in turn."""

    sessions: int
    scripts: tuple[ScriptSpec, ...]


class WsesspageSpec(Spec):
    """Sessions of pages with what they embed."""

    sessions: int
    pages: int
    think_s: float


class WlogSpec(Spec):
    """A list of URIs; `wrap`: from the first again."""

    wrap: bool
    uris: tuple[str, ...]


class WsetSpec(Spec):
    """A set of files, and the share of calls that go to another than the call before."""

    files: int
    miss_rate: float


class PrintSpec(Spec):
    """Which parts of messages are told as events."""

    header: bool
    body: bool


class SslSpec(Spec):
    """How connections are encrypted."""

    protocol: str
    ciphers: tuple[str, ...]
    no_reuse: bool
    certificate: str | None
    key: str | None
    verify: bool
    ca_file: str | None
    ca_path: str | None
    server_name: str | None


class PageSpec(Spec):
    """What replies are held to where all calls ask for one page: its `request`, with what was learnt of its reply. One
    in `check_every` bodies is hashed, and a trial's first ones.
    """

    request: RequestSpec
    check_every: int


class HttperfWorkload(Workload):
    """All options; None is "not given". Without a `page` any reply will do, as it does for httperf."""

    kind: Literal["httperf"] = "httperf"
    servers: tuple[ServerSpec, ...]
    server_name: str | None
    uri: str
    method: str
    page: PageSpec | None = None
    http_version: str
    no_host_hdr: bool
    user_agent: str
    add_header: str
    period: PeriodSpec | None
    num_conns: int
    num_calls: int
    burst_length: int
    wsess: WsessSpec | None
    wsesslog: WsesslogSpec | None
    wsesspage: WsesspageSpec | None
    wlog: WlogSpec | None
    wset: WsetSpec | None
    max_connections: int | None
    max_piped_calls: int
    timeout_s: float | None
    think_timeout_s: float
    runtime_s: float | None
    client: ClientSpec
    hog: bool
    myaddr: tuple[str, ...]
    send_buffer: int | None
    recv_buffer: int | None
    close_with_reset: bool
    failure_status: int | None
    retry_on_failure: bool
    session_cookies: bool
    ssl: SslSpec | None
    print_request: PrintSpec
    print_reply: PrintSpec
    periodic_stats: bool
    verbose: bool
    tell_figures: bool

    @property
    def peers(self) -> tuple[str, ...]:
        return tuple(server.address for server in self.servers)

    @property
    def sources(self) -> tuple[str, ...]:
        return self.myaddr


PART = HttperfWorkload
