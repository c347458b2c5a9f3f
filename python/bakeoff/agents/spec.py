"""The trial spec that crosses to the engine as JSON. The Rust side holds the same schema in serde."""

import secrets
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bakeoff.mix import Mix, MixField


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


class FileMatrixWorkload(_Spec):
    """File sizes × record sizes × tests; sizes in bytes."""

    kind: Literal["file-matrix"] = "file-matrix"
    folder: str
    pairs: tuple[tuple[int, int], ...] = Field(min_length=1)
    tests: tuple[str, ...] = Field(min_length=1)
    keep: bool = False
    fsync: bool = False
    close: bool = False
    direct: bool = False
    dsync: bool = False
    sync: bool = False
    mmap: bool = False
    verify: bool = True
    cache: Literal["warm", "cold"] = "warm"
    drop_caches: bool = False
    cold_command: str | None = None
    stonewall: bool = False
    mixed_read_percent: int | None = None
    stride: int = 17
    carrier: Literal["disk", "mount", "wire", "memory", "unknown"] = "unknown"
    link_bytes_per_s: float | None = None
    stall_s: float = Field(default=60.0, gt=0)


class AccessLineSpec(_Spec):
    """One line of an access specification: bytes, percent, ms."""

    size: int = Field(ge=1)
    share: float
    read: float
    random: float
    delay_ms: float
    burst: int = Field(ge=1)
    align: int
    reply: int


class BlockCellSpec(_Spec):
    """What is timed on its own; `block_bytes` is None where sizes differ."""

    pattern: str
    block_bytes: int | None
    lines: tuple[AccessLineSpec, ...] = Field(min_length=1)


class FileBlocksWorkload(_Spec):
    """Block sizes and access specifications on one large file; bytes and seconds."""

    kind: Literal["file-blocks"] = "file-blocks"
    folder: str
    region_bytes: int = Field(ge=1)
    outstanding: int = Field(ge=1, le=256)
    cells: tuple[BlockCellSpec, ...] = Field(min_length=1)
    cell_s: float = Field(gt=0)
    min_transfers: int = Field(ge=0)
    cell_limit_s: float = Field(ge=0)
    ramp_up_s: float = Field(ge=0)
    direct: bool
    dsync: bool
    verify: bool
    cache: Literal["warm", "cold"]
    drop_caches: bool
    cold_command: str | None
    reuse: str | None
    keep: bool
    carrier: Literal["disk", "mount", "wire", "memory", "unknown"]
    link_bytes_per_s: float | None
    stall_s: float = Field(gt=0)


class FileMixWorkload(_Spec):
    """Office file operations, or a dbench loadfile; bytes and seconds."""

    kind: Literal["file-mix"] = "file-mix"
    folder: str
    loadfile: str | None
    once: bool
    resolve: bool
    workspace_bytes: int = Field(ge=1)
    flush: bool
    verify: bool
    reuse: str | None
    keep: bool
    turn_bytes: int | None = Field(ge=1)
    turn_pause_s: float = Field(ge=0)
    link_bytes_per_s: float | None
    stall_s: float = Field(gt=0)


class SmtpSide(_Spec):
    """Where mail is sent; `addresses` are numeric."""

    addresses: tuple[str, ...]
    server_name: str
    security: Literal["none", "starttls", "tls"]
    tls: TlsSpec | None
    close_with_reset: bool
    protocol: Literal["smtp", "lmtp"]
    auth: bool
    pipelining: bool
    messages_per_connection: int


class Pop3Side(_Spec):
    """Where mail is read; `addresses` are numeric."""

    addresses: tuple[str, ...]
    server_name: str
    security: Literal["none", "starttls", "tls"]
    tls: TlsSpec | None
    close_with_reset: bool
    login: Literal["auto", "user", "plain"]


class MailboxSpec(_Spec):
    """One account."""

    address: str
    user: str
    password: str


class MailWorkload(_Spec):
    """SMTP and POP3. `run` marks the messages of one trial; sizes in bytes, weights relative."""

    kind: Literal["mail"] = "mail"
    smtp: SmtpSide
    pop3: Pop3Side
    mailboxes: tuple[MailboxSpec, ...] = Field(min_length=1)
    mailboxes_per_client: int
    shared_mailboxes: bool
    sending_share: float
    sizes: tuple[tuple[int, float], ...]
    recipients: tuple[tuple[int, float], ...]
    bodies: Literal["plain", "hard"]
    sender: str | None
    run: str
    initialise: Literal["nothing", "own", "all", "look"]
    retries: int
    late_after_s: float
    init_limit_s: float
    drain_limit_s: float
    linger_s: float


Workload = Annotated[
    WebWorkload | MailWorkload | AppWorkload | FileMatrixWorkload | FileBlocksWorkload | FileMixWorkload | NullWorkload,
    Field(discriminator="kind"),
]


class TrialSpec(_Spec):
    """Everything the engine needs for one trial. `length_s` includes both ramps."""

    workload: Workload
    load: MixField
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
    poll: bool = False
    seed: int = Field(default=1, ge=0)

    def for_trial(self, load: Mix, seed: int) -> "TrialSpec":
        """The spec of one trial. Mail gets a mark of its own, so that late messages of another trial are told apart."""
        workload = self.workload
        if isinstance(workload, MailWorkload):
            workload = workload.model_copy(update={"run": secrets.token_hex(8)})
        return self.model_copy(update={"load": load, "seed": seed, "workload": workload})

    def to_json(self) -> str:
        """The text that crosses the bridge."""
        return self.model_dump_json()
