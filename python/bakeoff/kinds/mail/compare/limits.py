"""Which limits of a mail server decided its result: numbers that say how it was set up, not how fast it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bakeoff.compare.content import facts_of
from bakeoff.kinds.mail.compare.books import telling_flow
from bakeoff.kinds.mail.figures import Door as Sessions
from bakeoff.kinds.mail.figures import MailFigures
from bakeoff.mix import Mix
from bakeoff.store.records import RunRecord, TrialRecord


@dataclass(frozen=True)
class Door:
    """A place where a server may bound its sessions: what the trial's figures call it, words for it, the step of being
    let in with the kind of refusal that says no there, and limits that servers are known to have.
    """

    key: str
    words: str
    known: dict[int, str]
    step: str | None = None
    said_no: str = ""


DOORS = (
    Door(
        "smtp",
        "SMTP sessions",
        {
            10: "Maddy's concurrency",
            20: "Exim's smtp_accept_max",
            50: "Postfix's smtpd_client_connection_count_limit",
            100: "Postfix's default_process_limit",
        },
        "smtp-connect",
        "busy_421",
    ),
    Door("pop3", "POP3 sessions", {100: "Dovecot's default_process_limit"}, "pop3-connect", "denied"),
    Door(
        "pop3_logged_in",
        "POP3 sessions after login",
        {10: "Dovecot's mail_max_userip_connections", 100: "Dovecot's default_process_limit"},
    ),
)
# That none of so many expected sessions is let in has a chance of less than one in a million (Poisson).
UNLIKELY = 14.0
QUEUE_OVERFLOW = (*(f"connect_{after_s}s" for after_s in (1, 2, 3, 4, 5, 7)), "connect_timeout")
# Messages per second.
KNOWN_RATES = {20: "Maddy's limits of 20 messages per second"}
RATE_TOLERANCE = 0.02


def limits(run: RunRecord) -> tuple[str, ...]:
    """A sentence for each number of a result that equals a limit."""
    sentences: dict[str, None] = {}
    for trial in run.trials:
        for text in (*_sessions(run, trial), *_overflow(run, trial)):
            sentences[f"{trial.contender}: {text}"] = None
    return (*sentences, *_rates(run))


def _sessions(run: RunRecord, trial: TrialRecord) -> Iterator[str]:
    offered = trial.mix.clients * run.planned.settings.threads
    peaks = {door.key: _limiting(trial, door, offered) for door in DOORS}
    if peaks["pop3_logged_in"] == peaks["pop3"]:
        peaks["pop3_logged_in"] = None  # a bound on connections bounds logins, too
    for door in DOORS:
        peak = peaks[door.key]
        if peak is None:
            continue
        of = f" ({door.known[peak]})" if peak in door.known else ""
        yield (
            f"never more than {peak} {door.words} were served at once while others waited or were refused: "
            f"that equals the limit of {peak}{of}"
        )


def _limiting(trial: TrialRecord, door: Door, offered: int) -> int | None:
    """The most sessions that a door let through when this number was the server's choice, not the load's.

    Either the server says no to further sessions, or it lets none in while so many are inside, again and again, though
    others wait for so long that it would have let in `UNLIKELY` of them at the rate of the other times. A mean would
    not do: a busy machine lowers it.
    """
    sessions = trial.figures(MailFigures).sessions.get(door.key, Sessions())
    peak = sessions.peak
    if not 1 < peak < offered:
        return None
    turned_away = sum(sum(op.errors.values()) for op in trial.per_operation if op.name == door.step)
    if turned_away and _refusals(trial).get(door.said_no):
        return peak
    expected = sessions.at_peak.let_in_expected if sessions.at_peak else 0.0
    return peak if expected >= UNLIKELY else None


def _refusals(trial: TrialRecord) -> dict[str, int]:
    return trial.figures(MailFigures).refusals.measured.counts


def _overflow(run: RunRecord, trial: TrialRecord) -> Iterator[str]:
    """The first packets of connections had no answer: the kernel drops them when a server does not accept in time."""
    if not any(_refusals(trial).get(name) for name in QUEUE_OVERFLOW):
        return
    facts = facts_of(run, trial.contender)
    queues = [f"{key} {value}" for key, value in facts.items() if key.endswith("listen backlog")]
    of = f" (its {', '.join(queues)})" if queues else ""
    yield f"connects waited for whole seconds or in vain, as they do when the server's accept queue is full{of}"


def _rates(run: RunRecord) -> Iterator[str]:
    """A throttle holds the rate of accepted messages at the same number, however many clients there are."""
    for contender in run.contenders:
        rates: dict[Mix, list[float]] = {}
        for trial in telling_flow(run, contender.name):
            rates.setdefault(trial.mix, []).append(trial.figures(MailFigures).flowing.accepted_per_s)
        for limit, known in KNOWN_RATES.items():
            equal = [mix for mix, values in rates.items() if all(_equals(value, limit) for value in values)]
            if len(equal) > 1:
                yield f"{contender.name}: {limit} messages per second at several loads equal the limit ({known})"


def _equals(value: float, limit: int) -> bool:
    return abs(value - limit) <= RATE_TOLERANCE * limit
