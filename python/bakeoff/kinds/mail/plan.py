"""Mail: the settings of mail-pop and its workload."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_duration
from bakeoff.kinds.mail.spec import MailboxSpec, MailWorkload, Pop3Spec, SmtpSpec
from bakeoff.kinds.spec import TlsSpec, new_mark
from bakeoff.plan.design.unit import LoadUnit
from bakeoff.plan.kind import CLIENTS, INSECURE, LENGTH, RATE, PlanPart
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings.classes import SuiteClass
from bakeoff.plan.settings.fields import Duration, OptionalPath, SettingText, Share, Whole, is_resolved
from bakeoff.plan.settings.network import NetworkSettings
from bakeoff.plan.settings.shared import CommonSettings
from bakeoff.plan.suites import Suite
from bakeoff.testdata.mail.accounts import Account, read_accounts
from bakeoff.testdata.mail.address import Place, parse_mail_address, security
from bakeoff.testdata.mail.sizes import (
    ISP_2001,
    RECIPIENT_TABLES,
    SIZE_TABLES,
    Table,
    parse_recipients,
    parse_sizes,
    recipients_text,
    sizes_text,
)


def _sizes(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return parse_sizes(value) if isinstance(value, str) and not is_resolved(info) else value


def _recipients(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return parse_recipients(value) if isinstance(value, str) and not is_resolved(info) else value


class MailSettings(NetworkSettings):
    """Settings of mail-pop."""

    users: OptionalPath = Field(
        None,
        description="CSV file of accounts, made by `bakeoff users new`: user,password,domain, or user@domain,password; "
        "they log in with the whole address. Needed.",
        json_schema_extra={"path": "file", "own": True},
    )
    mailboxes: Whole = Field(
        50, ge=1, le=100_000, description="Mailboxes of each client, shared out among its virtual users."
    )
    shared_mailboxes: bool = Field(
        False, description="Every virtual user reads all mailboxes of its client, so that they collide."
    )
    sending_share: Share = Field(0.30, ge=0, le=1, description="Share of a client's time that goes into sending: 30%.")
    sizes: Annotated[Table, BeforeValidator(_sizes), SettingText(sizes_text)] = Field(
        ISP_2001,
        description="Sizes of messages: isp-2001, 4KiB, or a table such as 4KiB=90,100KiB=10.",
        json_schema_extra={"metavar": "SIZE=WEIGHT,...", "values": list(SIZE_TABLES)},
    )
    recipients: Annotated[Table, BeforeValidator(_recipients), SettingText(recipients_text)] = Field(
        ((1, 1.0),),
        description="Recipients of a message: a number, isp-2001, or a table such as 1=90,3=10.",
        json_schema_extra={"metavar": "N=WEIGHT,...", "values": list(RECIPIENT_TABLES)},
    )
    bodies: Literal["plain", "hard"] = Field(
        "plain", description="plain text, or hard: dots at line starts, lines of 998 bytes, trailing blanks."
    )
    sender: str | None = Field(None, min_length=3, description="Envelope sender; the client's first mailbox otherwise.")
    messages_per_connection: Whole = Field(1, ge=1, description="Messages sent over one connection.")
    pipelining: bool = Field(False, description="Send MAIL, RCPT and DATA together where the server offers PIPELINING.")
    close_with_reset: bool = Field(
        False, description="End connections by a TCP reset, which leaves no TIME_WAIT behind (reported)."
    )
    starttls: bool = Field(False, description="Turn connections to TLS by STARTTLS and STLS.")
    handshake_apart: bool = Field(
        False,
        description="Write the end of the TLS handshake by itself, before the first command; else both leave together. "
        "Which of the two a server answers without waiting for an acknowledgement differs from server to server.",
    )
    smtp_login: bool = Field(False, description="Log in (AUTH PLAIN) before sending.")
    pop3_login: Literal["auto", "user", "plain"] = Field(
        "auto", description="How POP3 users log in: auto, user (USER and PASS) or plain (AUTH PLAIN)."
    )
    insecure: bool = Field(
        False, description="Do not check TLS certificates.", json_schema_extra={"off": "verify", "own": True}
    )
    ca_file: OptionalPath = Field(
        None,
        description="PEM file of certificate authorities to trust instead of the system's.",
        json_schema_extra={"path": "file", "own": True},
    )
    retries: Whole = Field(
        100, ge=0, description="How often a client tries refused connections again while it empties its mailboxes."
    )
    empty_mailboxes: bool = Field(
        False,
        description="Delete all mail of the accounts before each trial. Without it, mail that is not Bakeoff's own "
        "stops the run before anything is sent.",
        json_schema_extra={"own": True},
    )
    init_limit_s: Duration = Field(
        600.0, alias="init_limit", gt=0, description="Longest time for emptying the mailboxes before a trial."
    )
    drain_limit_s: Duration = Field(
        60.0, alias="drain_limit", gt=0, description="Longest time after a trial until all accepted mail was read."
    )
    late_after_s: Duration = Field(
        5.0,
        alias="late_after",
        ge=0,
        le=86_400,
        description="Mail that is not visible so long after it was accepted is named as late.",
    )
    saturated_at_s: Duration = Field(
        5.0,
        alias="saturated_at",
        gt=0,
        le=86_400,
        description="A contender is called saturated at a load step where a step takes so long or longer on average, "
        "by SMTP, by POP3 and over both (published: 5s).",
    )

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        reasons = dict(super().without_effect(addresses))
        places = [parse_mail_address(address) for address in addresses]
        if not self.starttls and not any(p.sending.implicit_tls or p.reading.implicit_tls for p in places):
            why = "no connection is made by TLS: give starttls, too, or addresses that begin with it"
            reasons |= {"insecure": why, "ca_file": why}
        elif self.insecure and self.ca_file is not None:
            reasons["ca_file"] = "certificates are not checked with insecure: leave one of the two out"
        if not self.starttls:
            reasons["handshake_apart"] = "only behind STARTTLS does the client speak first: give starttls, too"
        return reasons

    @model_validator(mode="after")
    def _mail_consistent(self) -> Self:
        if not self.shared_mailboxes and self.virtual_users > self.mailboxes:
            raise ValueError(
                "virtual_users: a client's virtual users share out its mailboxes: use as many mailboxes, or "
                "shared_mailboxes"
            )
        if self.operations is not None:
            raise ValueError("operations: a mail trial is bounded by time: leave it out")
        most = max(count for count, _ in self.recipients)
        if most > min(self.clients_by_step) * self.mailboxes:
            raise ValueError(f"recipients: {most} are more than the mailboxes of the lowest load step")
        return self

    @property
    def soak_note(self) -> str:
        return (
            "mail keeps a ledger of every message until the end, by which each is known to have come once: it takes "
            "some 300 bytes of memory for each message and recipient"
        )

    @property
    def setup_teardown_s(self) -> float:
        """Longest time before and after the measured part."""
        return self.init_limit_s + self.drain_limit_s + self.reply_timeout_s

    @property
    def setup_teardown_text(self) -> str:
        after_s = self.drain_limit_s + self.reply_timeout_s
        return (
            f"emptying the mailboxes before each trial takes {format_duration(self.init_limit_s)} at most "
            f"(init_limit), reading what was accepted after it {format_duration(after_s)} (drain_limit and "
            "reply_timeout); moments where the server is quick"
        )

    def accounts(self) -> list[Account]:
        """The accounts that the highest load step needs. Raises PlanError when the file has fewer."""
        needed = max(self.clients_by_step) * self.mailboxes
        if self.users is None:
            raise PlanError(
                f"users: name a file of accounts, made by `bakeoff users new --count {needed} --domain example.test "
                "-o users.csv`"
            )
        accounts = read_accounts(Path(self.users), needed)
        who = "connections (--most-connections)" if self.is_at_rates else "clients"
        if len(accounts) < needed:
            raise PlanError(
                f"users: {max(self.clients_by_step)} {who} with {self.mailboxes} mailboxes each need {needed} "
                f"accounts; {self.users} has {len(accounts)}: make more with `bakeoff users new --count {needed} "
                "--domain example.test -o more.csv`"
            )
        return accounts[:needed]


class MailPlanPart(PlanPart):
    """The kind `mail`."""

    settings = MailSettings
    client_options = (
        "messages_per_connection", "pipelining", "close_with_reset", "starttls", "handshake_apart", "smtp_login",
        "pop3_login", "insecure",
    )  # fmt: skip
    address_kind = "mail"
    placeholders = ("a.invalid", "b.invalid")
    endpoint = "messages delivered per second"
    leaves_behind = "mail that is queued when a trial is over would be delivered in the trial of another in turns"
    common_settings = MappingProxyType(
        {
            "users": "Accounts, made by `bakeoff users new`.",
            "clients": CLIENTS,
            "rate": RATE,
            "length": LENGTH,
            "mailboxes": "Mailboxes of each client.",
            "starttls": "Turn connections to TLS by STARTTLS.",
            "smtp_login": "Log in before sending.",
            "insecure": INSECURE,
        }
    )

    def check_address(self, address: str, settings: CommonSettings) -> None:
        parsed = parse_mail_address(address)
        if mail_settings(settings).starttls and (parsed.sending.implicit_tls or parsed.reading.implicit_tls):
            raise PlanError(f"address {address!r} begins with TLS: leave starttls out, or write smtp= and pop3=")

    def unit(self, settings: CommonSettings) -> LoadUnit:
        """See PlanPart: a start sends a message, or reads a mailbox."""
        return LoadUnit(starts="mail sessions")

    def classes(self, suite: Suite, settings: CommonSettings) -> Sequence[SuiteClass]:
        """See PlanPart. Mail has no classes: its operations are the steps of the protocols."""
        mail_settings(settings).accounts()
        return ()


def workload(plan: Plan, contender: Contender, addresses: Sequence[str]) -> MailWorkload:
    """What the engine is told of a contender; `addresses` are those of sending and reading."""
    mail = mail_settings(plan.settings_of(contender.name))
    address = parse_mail_address(contender.address)
    return MailWorkload(
        smtp=smtp_side(address.sending, mail, addresses[0]),
        pop3=pop3_side(address.reading, mail, addresses[1]),
        mailboxes=tuple(MailboxSpec(address=a.address, user=a.address, password=a.password) for a in mail.accounts()),
        mailboxes_per_client=mail.mailboxes,
        shared_mailboxes=mail.shared_mailboxes,
        sending_share=mail.sending_share,
        sizes=mail.sizes,
        recipients=mail.recipients,
        bodies=mail.bodies,
        sender=mail.sender,
        run=new_mark(),
        initialise="all" if mail.empty_mailboxes else "own",
        retries=mail.retries,
        late_after_s=mail.late_after_s,
        init_limit_s=mail.init_limit_s,
        drain_limit_s=mail.drain_limit_s,
        linger_s=mail.reply_timeout_s,
        quiet_s=max(mail.reply_timeout_s, mail.late_after_s),
    )


def smtp_side(place: Place, mail: MailSettings, at: str) -> SmtpSpec:
    """What the engine is told of a server that mail is sent to, at a numeric address."""
    return SmtpSpec(
        **_side(place, mail, at),
        protocol="lmtp" if place.protocol == "lmtp" else "smtp",
        auth=mail.smtp_login,
        pipelining=mail.pipelining,
        messages_per_connection=mail.messages_per_connection,
    )


def pop3_side(place: Place, mail: MailSettings, at: str) -> Pop3Spec:
    """What the engine is told of a server that mail is read from, at a numeric address."""
    return Pop3Spec(**_side(place, mail, at), login=mail.pop3_login)


def _side(place: Place, mail: MailSettings, at: str) -> dict[str, Any]:
    return {
        "addresses": (at,),
        "server_name": place.host,
        "security": security(place, mail.starttls),
        "tls": _tls(mail, place),
        "close_with_reset": mail.close_with_reset,
    }


def mail_settings(settings: CommonSettings) -> MailSettings:
    """The settings as those of mail."""
    assert isinstance(settings, MailSettings)
    return settings


def accounts_digest(accounts: Sequence[Account]) -> str:
    """SHA-256 over the accounts, in hex: the same file for every part of a run."""
    text = "\n".join(f"{a.address} {a.password}" for a in accounts)
    return hashlib.sha256(text.encode()).hexdigest()


def _tls(mail: MailSettings, place: Place) -> TlsSpec | None:
    if security(place, mail.starttls) == "none":
        return None
    return TlsSpec(
        verify=not mail.insecure, ca_file=mail.ca_file, resumption=True, handshake_apart=mail.handshake_apart
    )


PART = MailPlanPart()
