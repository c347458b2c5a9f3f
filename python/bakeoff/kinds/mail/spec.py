"""What the engine is told of mail."""

import math
from typing import Literal, Self

from pydantic import Field

from bakeoff.kinds.spec import NullCalibration, Spec, TlsSpec, Workload

# Accounts at the built-in server that the generator capacity is measured with, and how many of them a client reads. All
# mail that nobody has read is in its memory: larger messages on average are not sent to it.
ACCOUNTS, ACCOUNTS_OF_CLIENT, MOST_MEAN_BYTES = 2_048, 2, 100_000
# After the generator capacity is known mail is waited for no longer than this.
REST_S = 0.5
# Of a session: connect, user, password, look, quit; sending takes more.
LEAST_STEPS = 5


class SideSpec(Spec):
    """A server of mail; `addresses` are numeric."""

    addresses: tuple[str, ...]
    server_name: str
    security: Literal["none", "starttls", "tls"]
    tls: TlsSpec | None
    close_with_reset: bool

    def at(self, address: str, certificate: str | None) -> Self:
        """The same side of a built-in server, whose certificate is checked as the plan says."""
        tls = self.tls and self.tls.of_built_in(certificate)
        return self.model_copy(update={"addresses": (address,), "server_name": "localhost", "tls": tls})


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
        return (*self.smtp.addresses[:1], *self.pop3.addresses[:1])

    @property
    def null_calibration(self) -> NullCalibration | None:
        """See Workload: a server that forgot would make all mail lost, and reading cheap. It is the mail target, which
        keeps mail in memory until it is read.
        """
        mean_bytes = math.fsum(size * weight for size, weight in self.sizes) / math.fsum(w for _, w in self.sizes)
        securities = {self.smtp.security, self.pop3.security}
        if mean_bytes > MOST_MEAN_BYTES or (len(securities) > 1 and "tls" in securities):
            return None
        server: dict[str, str | int | bool | dict[str, bool]] = {"kind": "mail", "lmtp": self.smtp.protocol == "lmtp"}
        if securities != {"none"}:
            tls = self.smtp.tls or self.pop3.tls
            server |= {"implicit_tls": "tls" in securities, "tls": {"resumption": tls is None or tls.resumption}}
        names = [f"u{number}@bakeoff.invalid" for number in range(ACCOUNTS)]
        asked = self.at("127.0.0.1:1").model_copy(
            update={
                "mailboxes": tuple(MailboxSpec(address=name, user=name, password="x") for name in names),
                "mailboxes_per_client": ACCOUNTS_OF_CLIENT,
                "sender": None,
                "run": "0" * 16,
                "initialise": "nothing",
                "drain_limit_s": REST_S,
                "linger_s": REST_S,
                "quiet_s": REST_S / 5,
            }
        )
        return NullCalibration(
            asked=asked,
            server=server,
            words="mail as the plan sends it, only kept in memory until it is read",
            connects_every=LEAST_STEPS,
            most_clients=ACCOUNTS // ACCOUNTS_OF_CLIENT,
        )

    def at(self, address: str, certificate: str | None = None) -> Self:
        """See Workload: `smtp=HOST:PORT,pop3=HOST:PORT` (or `lmtp=`), or one place for both."""
        places = dict(part.split("=", 1) for part in address.split(",")) if "=" in address else {}
        sending = places.get(self.smtp.protocol, address)
        smtp, pop3 = self.smtp.at(sending, certificate), self.pop3.at(places.get("pop3", address), certificate)
        return self.model_copy(update={"smtp": smtp, "pop3": pop3})

    def marked(self, mark: str) -> Self:
        """See Workload: late messages of another trial are told apart by it."""
        return self.model_copy(update={"run": mark})


PART = MailWorkload
