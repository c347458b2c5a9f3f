"""Do all contenders answer, and let the users in? What do they say they can do?"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from bakeoff.agents.result import TrialResult
from bakeoff.core.errors import ContenderError
from bakeoff.core.units import format_duration
from bakeoff.kinds.mail.doors import login_fault, refused
from bakeoff.kinds.mail.figures import Ledger, MailFigures
from bakeoff.kinds.mail.foreign_mail import ForeignMail, find_foreign_mail
from bakeoff.kinds.mail.message_answers import message_answers
from bakeoff.kinds.mail.plan import MailSettings, accounts_digest, mail_settings, workload
from bakeoff.kinds.mail.spec import MailWorkload
from bakeoff.kinds.mail.talk import Handshake, HandshakeError, probe_handshake
from bakeoff.load.capacity.judge import Answers
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.contenders.listeners import backlog
from bakeoff.run.contenders.probe_connection import ProbeError, shown
from bakeoff.run.kind import Check, Fault, Note, RunPart, Timed, figures_of
from bakeoff.store.records import run_records
from bakeoff.store.records.marks import UNBALANCED, Mark
from bakeoff.testdata.mail.accounts import Account
from bakeoff.testdata.mail.address import MailAddress, Place, parse_mail_address, resolve_place, way_of

# How long logins are tried out for at most, and how many that fail are looked for.
LOGINS_S, LOGINS_NAMED = 30.0, 20
# How many words of what a server offers are kept.
MOST_WORDS = 512


class MailCheck(Check):
    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._settings = mail_settings(plan.settings)
        self._accounts = self._settings.accounts()
        self._facts: dict[str, dict[str, Any]] = {}
        self._foreign: dict[str, ForeignMail] = {}

    def answers(self, contender: Contender) -> None:
        """See Check. Both servers must greet."""
        address = parse_mail_address(contender.address)
        settings = self._handshakes(contender)
        for place in (address.sending, address.reading):
            try:
                probe_handshake(place, settings)
            except HandshakeError as error:
                raise ContenderError(f"{contender.name}: {place.protocol} at {place.text} {error.text}") from None

    def examine(self, contender: Contender) -> None:
        """See Check. Both servers must greet, every account must get in, and no mailbox may hold mail that is not
        Bakeoff's, unless the plan lets it go.
        """
        self.answers(contender)
        address = parse_mail_address(contender.address)
        self._let_in(contender, address.reading)
        self._facts[contender.name] = self._look(address, self._handshakes(contender))
        self._hold(contender)

    def _handshakes(self, contender: Contender) -> MailSettings:
        """How clients talk with it."""
        return mail_settings(self.plan.settings_of(contender.name))

    def _hold(self, contender: Contender) -> None:
        foreign = find_foreign_mail(self.plan, contender, self.addresses(contender))
        if foreign.foreign and not self._settings.empty_mailboxes:
            raise ContenderError(
                f"{contender.name} holds {foreign.text}: {self.plan.suite} needs mailboxes without other mail; use "
                "accounts that are there for nothing else, or give --empty-mailboxes to delete all mail of these "
                "accounts before each trial"
            )
        self._foreign[contender.name] = foreign

    def _let_in(self, contender: Contender, place: Place) -> None:
        settings = self._handshakes(contender)

        def fault(account: Account) -> str | None:
            return login_fault(account, place, settings)

        failed = refused(self._accounts, fault, LOGINS_S, LOGINS_NAMED)
        if not failed:
            return
        some = "at least " if len(failed) == LOGINS_NAMED else ""
        named = "; ".join(f"{a.address} (line {a.line}): {why}" for a, why in failed[:3])
        raise ContenderError(
            f"{contender.name}: pop3 at {place.text} does not let {some}{len(failed)} of {len(self._accounts):,} "
            f"accounts of {self._settings.users} in: {named}{'; …' if len(failed) > 3 else ''}: correct them, or give "
            "the server these accounts with `bakeoff users convert`, then try `bakeoff users check`"
        )

    def _look(self, address: MailAddress, settings: MailSettings) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        with contextlib.suppress(ProbeError):
            sending = probe_handshake(address.sending, settings)
            facts["smtp offers"] = _first_words(sending.greeting.lower().splitlines()[1:])
            facts |= _tls("smtp", sending)
        with contextlib.suppress(ProbeError):
            reading = probe_handshake(address.reading, settings, "CAPA")
            facts |= _tls("pop3", reading)
            facts["pop3 banner"] = shown(reading.greeting.encode())
            if reading.answers:
                facts["pop3 offers"] = _first_words(reading.answers[0].splitlines())
        for place in (address.sending, address.reading):
            length = backlog(resolve_place(place))
            if length is not None:
                facts[f"{place.protocol} listen backlog"] = length
        return facts

    def compare(self) -> Sequence[Note]:
        notes = [
            Note("warning", f"{name}: {foreign.text}: deleted before the first trial (--empty-mailboxes)")
            for name, foreign in self._foreign.items()
            if foreign.foreign
        ]
        notes += [*self._tls_warning(), *self._short_drain()]
        for name, facts in self._facts.items():
            notes += [
                Note("info", f"{name}: the {key} is {value}: more connections at once than that can be refused")
                for key, value in facts.items()
                if key.endswith("listen backlog") and value < self._threads()
            ]
        return notes

    def _tls_warning(self) -> list[Note]:
        """That some contenders are spoken to by TLS and others are not: handshakes are part of what is measured."""
        ways = {
            c.name: way_of(parse_mail_address(c.address), self._handshakes(c).starttls) for c in self.plan.contenders
        }
        if len(set(ways.values())) < 2:
            return []
        ways_text = ", ".join(f"{name} by {way}" for name, way in ways.items())
        return [
            Note(
                "warning",
                f"clients speak differently to contenders: {ways_text}: the ratio includes that",
            )
        ]

    def _short_drain(self) -> list[Note]:
        """That mail which is only slow will be taken for lost."""
        drain_s, late_s = self._settings.drain_limit_s, self._settings.late_after_s
        if drain_s >= late_s:
            return []
        text = (
            f"the drain ends {format_duration(drain_s)} after a trial, before mail counts as late "
            f"({format_duration(late_s)}): what a server still has in its queue counts as lost; --drain-limit 60s waits"
        )
        return [Note("warning", text)]

    def _threads(self) -> int:
        return max(self._settings.clients_by_step) * self._settings.virtual_users

    def addresses(self, contender: Contender) -> Sequence[str]:
        """See Check: first where mail is sent, then where it is read."""
        address = parse_mail_address(contender.address)
        return [resolve_place(address.sending), resolve_place(address.reading)]

    def workload(self, contender: Contender, addresses: Sequence[str]) -> MailWorkload:
        return workload(self.plan, contender, addresses)

    def facts(self) -> dict[str, Any]:
        accounts = {"accounts": len(self._accounts), "sha256": accounts_digest(self._accounts)}
        return {"corpus": accounts, "contenders": self._facts}


def _tls(side: str, handshake: Handshake) -> dict[str, Any]:
    """Version and cipher that a side agreed on with the check; nothing of plain text."""
    return {} if handshake.tls is None else {f"{side} TLS": handshake.tls}


def _first_words(lines: Sequence[str]) -> list[str]:
    words = (line.split()[0] for line in lines[:MOST_WORDS] if line.split())
    return sorted({shown(word.encode()) for word in words})


class MailRunPart(RunPart):
    """Mail has a ledger of every message, which can say that a trial does not count."""

    # Servers lock a mailbox for whoever reads it (RFC 1939, section 4).
    one_agent_at_a_time: ClassVar[bool] = True

    def fault(self, result: TrialResult) -> Fault | None:
        ledger = figures_of(MailFigures, result).ledger
        if unchecked := unchecked_mail(ledger):
            return Fault(run_records.FAILED, unchecked)
        if not ledger.balanced:
            return Fault(
                run_records.VOIDED, "the ledger of messages does not balance: a defect of bakeoff, please report it"
            )
        return None

    def failed(self, result: TrialResult) -> Sequence[tuple[str, int, int]]:
        done = figures_of(MailFigures, result).done
        if done is None:
            return ()
        return (
            ("messages", done.messages.failed, done.messages.tried),
            ("visits of a mailbox", done.visits.failed, done.visits.tried),
        )

    def further_answers(self, workload: Mapping[str, Any], timed: Timed) -> Mapping[str, Answers]:
        """See RunPart: a message that was taken is to be there in the time that an answer has, and to come at all."""
        return message_answers(workload, timed)

    def marks(self, result: TrialResult) -> Sequence[Mark]:
        return () if figures_of(MailFigures, result).ledger.balanced else (UNBALANCED,)


def unchecked_mail(ledger: Ledger) -> str:
    """Why the ledger of mail could not be closed; empty when it was. What nobody could look for is not lost."""
    missing = ledger.counts.get("unchecked", 0)
    if not missing:
        return ""
    why = ledger.unchecked_mailboxes or {}
    listed = ", ".join(f"{reason.replace('_', ' ')} {n:,}" for reason, n in sorted(why.items(), key=lambda e: -e[1]))
    return (
        f"{missing:,} of {ledger.counts.get('accepted', 0):,} accepted messages could not be checked: after the trial "
        f"{sum(why.values()):,} mailboxes could not be read ({listed})"
    )


PART = MailRunPart(MailCheck)
