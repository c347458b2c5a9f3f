"""What the engine is told of mail."""

from typing import Literal, Self

from pydantic import Field

from bakeoff.kinds.spec import Spec, TlsSpec, Workload


class SideSpec(Spec):
    """A server of mail; `addresses` are numeric."""

    addresses: tuple[str, ...]
    server_name: str
    security: Literal["none", "starttls", "tls"]
    tls: TlsSpec | None
    close_with_reset: bool


class SmtpSpec(SideSpec):
    """Where mail is sent. `hello` is the name given with EHLO."""

    protocol: Literal["smtp", "lmtp"]
    auth: bool
    pipelining: bool
    messages_per_connection: int
    hello: str = "bakeoff.invalid"


class Pop3Spec(SideSpec):
    """Where mail is read. Without `delete` there is no ledger."""

    login: Literal["auto", "user", "plain"]
    delete: bool = True


class MailboxSpec(Spec):
    """One account."""

    address: str
    user: str
    password: str


class MailWorkload(Workload):
    """SMTP and POP3. `run` marks the messages of one trial; sizes in bytes, weights relative."""

    kind: Literal["mail"] = "mail"
    smtp: SmtpSpec
    pop3: Pop3Spec
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
    quiet_s: float

    @property
    def peers(self) -> tuple[str, ...]:
        """See Workload."""
        return (*self.smtp.addresses[:1], *self.pop3.addresses[:1])

    def marked(self, mark: str) -> Self:
        """See Workload: late messages of another trial are told apart by it."""
        return self.model_copy(update={"run": mark})


PART = MailWorkload
