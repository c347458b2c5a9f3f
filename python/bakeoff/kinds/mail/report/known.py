"""What must be known of a mail run, in words."""

from __future__ import annotations

from bakeoff.core.units import format_duration
from bakeoff.kinds.mail.compare.known import (
    DeliveryBounded,
    DeliveryWaited,
    FailedShares,
    FewMessages,
    ForeignMail,
    LedgerRule,
    LostCameLater,
    MixedTls,
    QueueFull,
    RateBounded,
    ReadingLags,
    SessionsBounded,
    ShortDrain,
    SmallerMail,
)
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.validity.audits import EXACT, ruled
from bakeoff.report.narrate.verdict.gates import gate_words

# Mailboxes named before the rest are only counted.
NAMED = 5
SERVICE_NAMES = {"smtp": "SMTP sessions", "pop3": "POP3 sessions", "pop3_logged_in": "POP3 sessions after login"}
# Limits that servers are known to have: of sessions, and of messages per second.
KNOWN = {
    ("smtp", 10): "Maddy's concurrency",
    ("smtp", 20): "Exim's smtp_accept_max",
    ("smtp", 50): "Postfix's smtpd_client_connection_count_limit",
    ("smtp", 100): "Postfix's default_process_limit",
    ("pop3", 100): "Dovecot's default_process_limit",
    ("pop3_logged_in", 10): "Dovecot's mail_max_userip_connections",
    ("pop3_logged_in", 100): "Dovecot's default_process_limit",
}
KNOWN_RATES = {20: "Maddy's limits of 20 messages per second"}
SETTINGS = (
    "Postfix's default_process_limit, local_destination_concurrency_limit and default_destination_concurrency_limit, "
    "Exim's queue_run_max and deliver_queue_load_max, Sendmail's MaxQueueChildren, process_limit of Dovecot's lmtp "
    "service"
)
SET_UP_ADVICE = "This number shows a configured limit, not a speed: raise the limit, or report the number as a limit."
DELIVERY_ADVICE = "Raise the limit that the number equals, and run again: see whether the rate of delivery rises."


@ruled.register
def _(rule: LedgerRule) -> tuple[str, str]:
    return "each accepted message was delivered, damaged, doubled or lost, and each message seen has its class", EXACT


@gate_words.register
def _(detail: FailedShares, name: str) -> str:
    failed = [f"{wording.percent(share)} of the {what}" for what, share in detail.shares.items()]
    return f"{name} failed {wording.names(failed)}"


@gate_words.register
def _(detail: SmallerMail, name: str) -> str:
    smaller = wording.percent(detail.smaller)
    return f"{name} put off the large messages: those it took are {smaller} smaller on average"


@advised.register
def _(fact: MixedTls) -> tuple[str, str]:
    return (
        f"Clients speak differently to contenders: {', '.join(f'{name} by {way}' for name, way in fact.ways.items())}.",
        "The figures include handshakes: use one protocol for all, unless the run compares TLS.",
    )


@advised.register
def _(fact: ReadingLags) -> tuple[str, str]:
    return (
        f"{fact.contender}: reading lags behind sending at {wording.several(fact.load_steps)}. In all windows at "
        f"{fact.worst.words} it accepted {fact.accepted:,.0f} messages, and clients read {fact.read:,.0f}. "
        f"{fact.waiting:,.0f} messages waited at the end.",
        "Reading or delivery limits its rate of delivered messages, not acceptance: see backlog and visible times.",
    )


@advised.register
def _(fact: FewMessages) -> tuple[str, str]:
    return (
        f"{fact.contender}: a window holds only a handful of delivered messages at {wording.several(fact.load_steps)}: "
        f"{wording.figures(fact.mean, 2)} on average at {fact.least.words}.",
        "Most polls find empty mailboxes: use a longer --length, or more clients.",
    )


@advised.register
def _(fact: ForeignMail) -> tuple[str, str]:
    named = fact.mailboxes
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return (
        f"{fact.contender}: {wording.plural(fact.messages, 'message')} that are not Bakeoff's were in "
        f"{wording.plural(len(named), 'mailbox', 'mailboxes')} during trials and left alone: "
        f"{', '.join(named[:NAMED])}{more}.",
        "Each session lists such mail again: stop its sender, or use other accounts.",
    )


@advised.register
def _(fact: LostCameLater) -> tuple[str, str]:
    came = [f"{name} ({found:,} of {lost:,})" for name, (found, lost) in fact.found.items()]
    return (
        "Mail that counts as lost may only have been slow: so much mail of earlier trials was found when the next one "
        f"began, or in it, as {wording.names(came)} of what is lost. The drain ended {format_duration(fact.drain_s)} "
        "after a trial.",
        "Late mail is not lost: run again with a longer `--drain-limit`.",
    )


@advised.register
def _(fact: ShortDrain) -> tuple[str, str]:
    lost = wording.names([f"{name} ({number:,})" for name, number in fact.lost.items()])
    return (
        f"What counts as lost may be slow: the drain ended {format_duration(fact.drain_s)} after a trial, before mail "
        f"counts as late ({format_duration(fact.late_s)}). Lost mail of {lost} may have been in a queue.",
        "Run again with a longer `--drain-limit`: 60s unless given.",
    )


@advised.register
def _(fact: SessionsBounded) -> tuple[str, str]:
    known = KNOWN.get((fact.service, fact.limit), "")
    known = f" ({known})" if known else ""
    return (
        f"{fact.contender}: never more than {fact.limit} {SERVICE_NAMES[fact.service]} were served at once while "
        f"others waited or were refused: that equals the limit of {fact.limit}{known}.",
        SET_UP_ADVICE,
    )


@advised.register
def _(fact: QueueFull) -> tuple[str, str]:
    of = f" (its {', '.join(fact.queues)})" if fact.queues else ""
    return (
        f"{fact.contender}: connects waited for whole seconds or in vain, as they do when the server's accept queue is "
        f"full{of}.",
        SET_UP_ADVICE,
    )


@advised.register
def _(fact: RateBounded) -> tuple[str, str]:
    known = KNOWN_RATES[fact.limit]
    return (
        f"{fact.contender}: {fact.limit} messages per second at several loads equal the limit ({known}).",
        SET_UP_ADVICE,
    )


@advised.register
def _(fact: DeliveryBounded) -> tuple[str, str]:
    least, most = wording.figures(fact.least, 2), wording.figures(fact.most, 2)
    number = f"{least} to {most}" if fact.least >= 1.0 else f"up to {_whole(fact.most)}"
    accepted = " to ".join(map(_rate, fact.accepted))
    waiting = " to ".join(map(_whole, fact.waiting))
    return (
        f"{fact.contender}: delivery was the limit at {wording.several(fact.load_steps)}: {_rate(fact.rate)} "
        f"messages/s at each, while accepted/s went from {accepted} and the backlog from {waiting} messages. By "
        f"Little's law that is {number} deliveries at a time, each as long as at {fact.free.words}. It is an "
        f"inference, a server with a full processor or disk looks the same: compare the number with {SETTINGS}.",
        DELIVERY_ADVICE,
    )


@advised.register
def _(fact: DeliveryWaited) -> tuple[str, str]:
    return (
        f"{fact.contender}: up to {_whole(fact.peak)} accepted messages at once were certainly not delivered yet, one "
        f"in twenty for {fact.wait_ms / 1000:.1f} s or more: look at its limit of deliveries at a time ({SETTINGS}).",
        DELIVERY_ADVICE,
    )


def _rate(value: float) -> str:
    return wording.figures(value, 3)


def _whole(value: float) -> str:
    return f"{value:,.0f}"
