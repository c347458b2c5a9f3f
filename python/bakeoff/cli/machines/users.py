"""`bakeoff users`: the accounts of mail runs."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.complete import files
from bakeoff.core.errors import ContenderError, PlanError
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.kinds.mail.plan import MailSettings
from bakeoff.run.contenders.probe_connection import ProbeError
from bakeoff.testdata.mail.accounts import Account, convert, new_accounts, read_accounts, write_accounts
from bakeoff.testdata.mail.address import MailAddress, parse_mail_address

EXIT_SOME_FAILED = 1
SHOWN = 20

users_app = typer.Typer(name="users", help="Accounts for mail runs: make, convert, check.", no_args_is_help=True)


class Form(StrEnum):
    """The forms of bakeoff.testdata.mail.accounts."""

    dovecot = "dovecot"
    postfix = "postfix"
    opensmtpd = "opensmtpd"
    ldif = "ldif"
    greenmail = "greenmail"


UsersFile = Annotated[
    Path,
    typer.Argument(
        autocompletion=files(".csv"),
        metavar="USERS.csv",
        help="File of user,password,domain, or of user@domain,password. Logins are made with the whole address.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.add_typer(users_app)


@users_app.command("new")
def new(
    count: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many accounts.")],
    domain: Annotated[str, typer.Option(help="Their domain.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="USERS.csv", help="File to write.")],
) -> None:
    """Make accounts: the same names and passwords each time."""
    if output.exists():
        raise PlanError(f"{output} exists already: choose another name with -o, or remove it")
    write_accounts(output, new_accounts(count, domain))
    read_accounts(output)  # refuses a domain that mail cannot carry
    typer.echo(f"{count:,} accounts of {domain} are in {output}")


@users_app.command("convert")
def convert_users(
    users: UsersFile,
    to: Annotated[Form, typer.Option(help="Which server's form.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="File to write; standard output otherwise.")
    ] = None,
) -> None:
    """Turn accounts into what a server reads.

    dovecot: passwd-file; postfix: texthash map of mailboxes; opensmtpd: virtual table; ldif: for slapadd;
    greenmail: value of -Dgreenmail.users.
    """
    text = convert(read_accounts(users), to.value)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_whole(output, text)


@users_app.command("check")
def check(
    users: UsersFile,
    words: Annotated[list[str], typer.Argument(metavar="smtp=HOST:PORT pop3=HOST:PORT", help="The servers.")],
    parallel: Annotated[int, typer.Option(min=1, max=200, help="Logins at once.")] = 8,
    starttls: Annotated[bool, typer.Option("--starttls", help="Turn connections to TLS first.")] = False,
    insecure: Annotated[bool, typer.Option("--insecure", help="Do not check TLS certificates.")] = False,
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", metavar="FILE", help="PEM file of certificate authorities to trust.")
    ] = None,
) -> None:
    """Log in with every account and ask whether mail for it is taken; say which fail.

    Exit codes: 0 all are ready; 1 some are not, each with its reason on standard error; 2 refused, in one sentence.
    """
    from bakeoff.kinds.mail.doors import refused  # loads the engine

    accounts, address = read_accounts(users), parse_mail_address(",".join(words))
    given = {"starttls": starttls, "insecure": insecure, "ca_file": None if ca_file is None else str(ca_file)}
    mail = MailSettings.model_validate(given)
    failed = refused(accounts, lambda account: _fault(account, address, mail), math.inf, len(accounts), parallel)
    for account, why in failed[:SHOWN]:
        typer.echo(f"{account.address} (line {account.line}): {why}", err=True)
    if len(failed) > SHOWN:
        typer.echo(f"… and {len(failed) - SHOWN:,} more", err=True)
    typer.echo(f"{len(accounts) - len(failed):,} of {len(accounts):,} accounts are ready")
    if failed:
        raise typer.Exit(EXIT_SOME_FAILED)


def _fault(account: Account, address: MailAddress, mail: MailSettings) -> str | None:
    """Why an account cannot be used, or None."""
    from bakeoff.kinds.mail.doors import login
    from bakeoff.kinds.mail.talk import probe_handshake

    side, own = "pop3", account.address
    try:
        refusal = probe_handshake(address.reading, mail, *login(account), "STAT").refusal
        if refusal is None:
            side = address.sending.protocol
            refusal = probe_handshake(address.sending, mail, f"MAIL FROM:<{own}>", f"RCPT TO:<{own}>").refusal
    except (ProbeError, ContenderError) as error:
        refusal = str(error)
    return None if refusal is None else f"{side}: {refusal}"
