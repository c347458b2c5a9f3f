"""Do all contenders answer, and let the users in? What do they say they can do?"""

import contextlib
import poplib
import smtplib
import ssl
from collections.abc import Sequence
from typing import Any

from bakeoff.corpus.manifest import Manifest
from bakeoff.errors import TargetError
from bakeoff.mail.accounts import Account
from bakeoff.mail.address import MailAddress, Place, parse_mail_address, resolve_place
from bakeoff.plan.kinds.mail import MailSettings, accounts_digest, mail_settings
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.checks.base import Note
from bakeoff.run.listeners import backlog

TIMEOUT_S = 10.0


def open_smtp(place: Place, mail: MailSettings, timeout_s: float = TIMEOUT_S) -> smtplib.SMTP:
    """A greeted session with a server of either protocol, secured as the plan says. Raises OSError, SMTPException."""
    session: smtplib.SMTP
    if place.implicit_tls:
        session = smtplib.SMTP_SSL(place.host, place.port, timeout=timeout_s, context=_context(mail))
    elif place.protocol == "lmtp":
        session = smtplib.LMTP(place.host, place.port, timeout=timeout_s)
    else:
        session = smtplib.SMTP(place.host, place.port, timeout=timeout_s)
    session.ehlo_or_helo_if_needed()
    if mail.starttls:
        session.starttls(context=_context(mail))
        session.ehlo()
    return session


def open_pop3(place: Place, mail: MailSettings, timeout_s: float = TIMEOUT_S) -> poplib.POP3:
    """A greeted session, secured as the plan says. Raises OSError, poplib.error_proto."""
    if place.implicit_tls:
        return poplib.POP3_SSL(place.host, place.port, timeout=timeout_s, context=_context(mail))
    session = poplib.POP3(place.host, place.port, timeout=timeout_s)
    if mail.starttls:
        session.stls(context=_context(mail))
    return session


def _context(mail: MailSettings) -> ssl.SSLContext:
    # Made only where TLS is wanted: it reads all certificate authorities of the system.
    context = ssl.create_default_context(cafile=mail.ca_file)
    if mail.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class MailCheck:
    """See bakeoff.run.checks.base.Check."""

    def __init__(self, plan: Plan) -> None:
        self._settings = mail_settings(plan.settings)
        self._accounts = self._settings.accounts()
        self._facts: dict[str, dict[str, Any]] = {}
        self.manifest: Manifest | None = None

    def answers(self, contender: Contender) -> None:
        """See Check. Both servers must greet."""
        address = parse_mail_address(contender.address)
        for place, opened in ((address.sending, open_smtp), (address.reading, open_pop3)):
            try:
                session = opened(place, self._settings)
            except (OSError, smtplib.SMTPException, poplib.error_proto) as error:
                raise TargetError(
                    f"{contender.name}: {place.protocol} at {place.text} does not answer ({_why(error)}): "
                    "is it running, and is the port right?"
                ) from None
            with contextlib.suppress(OSError, smtplib.SMTPException, poplib.error_proto):
                session.quit()

    def examine(self, contender: Contender) -> None:
        """See Check. The first and the last account must get in."""
        address = parse_mail_address(contender.address)
        for account in {a.address: a for a in (self._accounts[0], self._accounts[-1])}.values():
            self._let_in(contender, address.reading, account)
        self._facts[contender.name] = self._look(address)

    def _let_in(self, contender: Contender, place: Place, account: Account) -> None:
        try:
            session = open_pop3(place, self._settings)
            session.user(account.address)
            session.pass_(account.password)
            session.quit()
        except (OSError, poplib.error_proto) as error:
            raise TargetError(
                f"{contender.name}: pop3 at {place.text} does not let {account.address} in ({_why(error)}): "
                "give the server these accounts with `bakeoff users convert`, then try `bakeoff users check`"
            ) from None

    def _look(self, address: MailAddress) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        with contextlib.suppress(OSError, smtplib.SMTPException):
            session = open_smtp(address.sending, self._settings)
            facts["smtp offers"] = sorted(session.esmtp_features)
            session.quit()
        with contextlib.suppress(OSError, poplib.error_proto):
            reader = open_pop3(address.reading, self._settings)
            facts["pop3 banner"] = reader.getwelcome().decode(errors="replace")
            with contextlib.suppress(poplib.error_proto):
                facts["pop3 offers"] = sorted(reader.capa())
            reader.quit()
        for place in (address.sending, address.reading):
            found = backlog(resolve_place(place))
            if found is not None:
                facts[f"{place.protocol} listen backlog"] = found
        return facts

    def compare(self) -> Sequence[Note]:
        """See Check."""
        notes = []
        for name, facts in self._facts.items():
            notes += [
                Note("info", f"{name}: the {key} is {value}: more connections at once than that can be refused")
                for key, value in facts.items()
                if key.endswith("listen backlog") and value < self._threads()
            ]
        return notes

    def _threads(self) -> int:
        return max(self._settings.mixes) * self._settings.threads

    def addresses(self, contender: Contender) -> Sequence[str]:
        """See Check: first where mail is sent, then where it is read."""
        address = parse_mail_address(contender.address)
        return [resolve_place(address.sending), resolve_place(address.reading)]

    def unchanged(self, contender: Contender) -> None:
        """See Check: what answers is always the server."""

    def close(self) -> Sequence[Note]:
        """Nothing is kept with the contenders."""
        return ()

    def facts(self) -> dict[str, Any]:
        """See Check."""
        accounts = {"accounts": len(self._accounts), "sha256": accounts_digest(self._accounts)}
        return {"corpus": accounts, "contenders": self._facts}


def _why(error: Exception) -> str:
    text = error.args[0] if isinstance(error, poplib.error_proto) and error.args else error
    return text.decode(errors="replace") if isinstance(text, bytes) else str(text)
