"""`bakeoff serve mail`: SMTP or LMTP and POP3, with faults on request."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from bakeoff.cli.machines.serve import base
from bakeoff.cli.machines.serve.base import Counts, Delay, Host, Refuse, Threads, TlsCertificate
from bakeoff.core.errors import PlanError
from bakeoff.core.units import parse_duration


def serve(
    host: Host = "127.0.0.1",
    smtp_port: Annotated[int, typer.Option(min=0, max=65535, help="Port of SMTP; 0 lets the system choose.")] = 2525,
    pop3_port: Annotated[int, typer.Option(min=0, max=65535, help="Port of POP3; 0 lets the system choose.")] = 2110,
    threads: Threads = 1,
    users: Annotated[
        Path | None,
        typer.Option(
            metavar="USERS.csv",
            help="Accounts; they log in with the whole address, or with its local part if that is unique. Without "
            "this option every login succeeds.",
        ),
    ] = None,
    maildir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep mail there as Maildir folders; in memory otherwise.")
    ] = None,
    lmtp: Annotated[bool, typer.Option("--lmtp", help="Speak LMTP instead of SMTP.")] = False,
    no_pipelining: Annotated[bool, typer.Option("--no-pipelining", help="Do not offer PIPELINING.")] = False,
    no_uidl: Annotated[bool, typer.Option("--no-uidl", help="Do not know UIDL.")] = False,
    no_lock: Annotated[bool, typer.Option("--no-lock", help="Let several sessions into a mailbox.")] = False,
    tls: Annotated[bool, typer.Option("--tls", help="Offer STARTTLS and STLS with a certificate made here.")] = False,
    tls_certificate: TlsCertificate = None,
    implicit_tls: Annotated[bool, typer.Option("--implicit-tls", help="TLS from the first byte.")] = False,
    max_sessions: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Answer 421 when this many are open.")
    ] = None,
    delay: Delay = None,
    refuse: Refuse = None,
    reject: Annotated[
        list[str] | None,
        typer.Option(metavar="COMMAND=CODE[,N/M]", help="Reject: RCPT=450,1/10; also CONNECT, EHLO, MAIL, DATA, DOT."),
    ] = None,
    drop_after_dot: Annotated[
        str | None, typer.Option(metavar="N/M", help="Hang up after the final dot, without reply or delivery.")
    ] = None,
    lose: Annotated[
        str | None, typer.Option(metavar="N/M", help="Accept exactly N of M messages and lose them.")
    ] = None,
    duplicate: Annotated[str | None, typer.Option(metavar="N/M", help="Deliver N of M messages twice.")] = None,
    damage: Annotated[str | None, typer.Option(metavar="N/M", help="Change one letter in N of M messages.")] = None,
    misdeliver: Annotated[
        str | None, typer.Option(metavar="N/M", help="Put N of M messages into the mailbox of the message before.")
    ] = None,
    pop3_ends_after: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="POP3 dies after this many accepted messages.")
    ] = None,
    defer: Annotated[
        str | None, typer.Option(metavar="N/M,TIME", help="Show N of M messages this much later: 1/50,2s.")
    ] = None,
    counts_file: Counts = None,
) -> None:
    """A small SMTP and POP3 server, and faults on request whose number is known."""
    spec: dict[str, Any] = {
        "kind": "mail",
        "host": host,
        "smtp_port": smtp_port,
        "pop3_port": pop3_port,
        "threads": threads,
        "users_file": str(users.absolute()) if users else None,
        "maildir": str(maildir.absolute()) if maildir else None,
        "lmtp": lmtp,
        "pipelining": not no_pipelining,
        "uidl": not no_uidl,
        "lock": not no_lock,
        "tls": {"certificate_file": str(tls_certificate) if tls_certificate else None}
        if tls or tls_certificate or implicit_tls
        else None,
        "implicit_tls": implicit_tls,
        "max_sessions": max_sessions,
        "delay_s": base.quantity("--delay", parse_duration, delay) or 0.0,
        "refuse": base.parse_share("--refuse", refuse),
        "reject": [_reject(word) for word in reject or []],
        "drop_after_dot": base.parse_share("--drop-after-dot", drop_after_dot),
        "lose": base.parse_share("--lose", lose),
        "duplicate": base.parse_share("--duplicate", duplicate),
        "damage": base.parse_share("--damage", damage),
        "misdeliver": base.parse_share("--misdeliver", misdeliver),
        "pop3_ends_after": pop3_ends_after,
        "defer": _defer(defer),
    }
    base.serve_until_stopped(spec, None, "mail", counts_file)


def _reject(text: str) -> dict[str, Any]:
    match = re.fullmatch(r"([A-Za-z]+)=([45]\d\d)(?:,(\d+/\d+))?", text)
    if match is None:
        raise PlanError(f"--reject: {text!r} is not COMMAND=CODE or COMMAND=CODE,N/M: write it like RCPT=450,1/10")
    return {"command": match[1].upper(), "code": int(match[2]), **(base.parse_share("--reject", match[3]) or {})}


def _defer(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    share, comma, time = text.partition(",")
    if not comma:
        raise PlanError(f"--defer: {text!r} is not N/M,TIME: write it like 1/50,2s")
    return {**(base.parse_share("--defer", share) or {}), "for_s": base.quantity("--defer", parse_duration, time)}
