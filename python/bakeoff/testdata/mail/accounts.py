"""The accounts of a mail run: one CSV file, and the forms in which servers want it."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bakeoff.core.errors import PlanError
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.core.system.bounded_read import read_text_bounded

HEADER = ("user", "password", "domain")
CLIENT_BITS = 20
ACCOUNTS_BYTES = 1 << 30


@dataclass(frozen=True)
class Account:
    """One mailbox. Users log in with the whole address; `line` is that of the file, 0 where there is none."""

    user: str
    password: str
    domain: str
    line: int = field(default=0, compare=False)

    @property
    def address(self) -> str:
        """Where mail is sent, and the name of the login."""
        return f"{self.user}@{self.domain}"


def new_accounts(count: int, domain: str) -> list[Account]:
    """`count` accounts with names and passwords of their own, the same for the same count."""
    width = max(4, len(str(count)))
    return [Account(f"u{n:0{width}d}", f"pw{n:0{width}d}", domain) for n in range(1, count + 1)]


def write_accounts(path: Path, accounts: Sequence[Account]) -> None:
    """Write a new CSV file. Raises PlanError or GeneratorError when that is not possible."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows((a.user, a.password, a.domain) for a in accounts)
    write_whole(path, text.getvalue(), replace=False)


def read_accounts(path: Path, needed: int | None = None) -> list[Account]:
    """The accounts of a CSV file with or without its header line: `u0001,secret,example.test`, or the whole address in
    the first column. Raises PlanError with the line that is wrong; `needed` says how many to make where there are none.
    """
    try:
        text = read_text_bounded(path, ACCOUNTS_BYTES)
        rows = list(enumerate(csv.reader(io.StringIO(text, newline="")), 1))
    except OSError as error:
        raise PlanError(
            f"{path} cannot be read ({error.strerror}): make it with `bakeoff users new --count {needed or 'N'} "
            f"--domain example.test -o {path}`"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise PlanError(f"{path} is not a CSV file in UTF-8 ({error})") from None
    accounts, seen = [], set[str]()
    for number, row in rows:
        cells = [cell.strip() for cell in row]
        if not any(cells) or (number == 1 and tuple(cells) == HEADER):
            continue
        account = _account(path, number, cells)
        if account.address in seen:
            raise PlanError(f"{path} line {number}: {account.address} comes twice: give each mailbox one line")
        seen.add(account.address)
        accounts.append(account)
    if not accounts:
        raise PlanError(f"{path} holds no account: write lines of user,password,domain")
    return accounts


def _account(path: Path, number: int, cells: Sequence[str]) -> Account:
    if len(cells) == 2 and "@" in cells[0]:
        cells = [*cells, ""]
    name, _, own = cells[0].rpartition("@")
    if name and len(cells) == len(HEADER) and cells[2] in ("", own):
        cells = [name, cells[1], own]
    if len(cells) != len(HEADER) or not all(cells):
        raise PlanError(
            f"{path} line {number}: write user,password,domain, such as u0001,secret,example.test, or "
            "u0001@example.test,secret"
        )
    user, password, domain = cells
    if "@" in user:
        raise PlanError(f"{path} line {number}: {user} is of another domain than {domain}: leave one of the two out")
    wrong = [text for text in (user, domain) if any(c in ' <>:,"\\' or ord(c) < 33 or ord(c) > 126 for c in text)]
    if wrong or any(ord(c) < 32 or ord(c) > 126 or c in ":" for c in password):
        raise PlanError(
            f"{path} line {number}: use plain letters, digits and . _ - for user and domain, no `:` anywhere"
        )
    return Account(user, password, domain, number)


def _dovecot(accounts: Sequence[Account]) -> str:
    """A passwd-file: `passdb { driver = passwd-file, args = scheme=PLAIN username_format=%u FILE }`."""
    return "".join(f"{a.address}:{{PLAIN}}{a.password}\n" for a in accounts)


def _postfix(accounts: Sequence[Account]) -> str:
    """A map for `virtual_mailbox_maps = texthash:FILE`."""
    return "".join(f"{a.address} x\n" for a in accounts)


def _opensmtpd(accounts: Sequence[Account]) -> str:
    """A table for `virtual <vusers>`; all mail goes to the user `bakeoff` and on by `rcpt-to`."""
    return "".join(f"{a.address} bakeoff\n" for a in accounts)


def _greenmail(accounts: Sequence[Account]) -> str:
    """The value of -Dgreenmail.users with -Dgreenmail.users.login=email."""
    return ",".join(f"{a.user}:{a.password}@{a.domain}" for a in accounts) + "\n"


def _ldif(accounts: Sequence[Account]) -> str:
    """inetOrgPerson entries under ou=people of the domain; load them with `slapadd -q`."""
    entries = []
    for a in accounts:
        base = ",".join(f"dc={part}" for part in a.domain.split("."))
        entries.append(
            f"dn: uid={a.user},ou=people,{base}\nobjectClass: inetOrgPerson\nuid: {a.user}\ncn: {a.user}\n"
            f"sn: {a.user}\nmail: {a.address}\nuserPassword: {a.password}\n"
        )
    return "\n".join(entries)


FORMS: dict[str, Callable[[Sequence[Account]], str]] = {
    "dovecot": _dovecot,
    "postfix": _postfix,
    "opensmtpd": _opensmtpd,
    "ldif": _ldif,
    "greenmail": _greenmail,
}


def convert(accounts: Sequence[Account], form: str) -> str:
    """The accounts as the text that a server of this `form` reads."""
    return FORMS[form](accounts)
