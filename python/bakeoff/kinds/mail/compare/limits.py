"""Which limits of a mail server decided its result: numbers that say how it was set up, not how fast it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bakeoff.compare.failures.content import facts_of
from bakeoff.compare.model.fact import Fact
from bakeoff.kinds.mail.compare.known import QueueFull, RateBounded, SessionsBounded
from bakeoff.kinds.mail.compare.ledger import telling_flow
from bakeoff.kinds.mail.figures import MailFigures, ServiceSessions
from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.run_records import RunRecord, TrialRecord


@dataclass(frozen=True)
class SessionLimit:
    """A place where a server may bound its sessions: what the trial's figures call it, and the step of being let in
    with the kind of refusal that says no there.
    """

    key: str
    step: str | None = None
    refused_parts: str = ""


SERVICES = (
    SessionLimit("smtp", "smtp-connect", "busy_421"),
    SessionLimit("pop3", "pop3-connect", "denied"),
    SessionLimit("pop3_logged_in"),
)
# That none of so many expected sessions is let in has a chance of less than one in a million (Poisson).
IMPROBABLE = 14.0
QUEUE_OVERFLOW = (*(f"connect_{after_s}s" for after_s in (1, 2, 3, 4, 5, 7)), "connect_timeout")
# Limits of servers, in messages per second.
KNOWN_RATES = (20,)
RATE_TOLERANCE = 0.02


def limits(run: RunRecord) -> list[Fact]:
    """Each number of a result that equals a limit."""
    found = (fact for trial in run.trials for fact in (*_sessions(run, trial), *_overflow(run, trial)))
    return [*dict.fromkeys(found), *_rates(run)]


def _sessions(run: RunRecord, trial: TrialRecord) -> Iterator[Fact]:
    offered = trial.load_step.clients * run.planned.settings.virtual_users
    peaks = {service.key: _limiting(trial, service, offered) for service in SERVICES}
    if peaks["pop3_logged_in"] == peaks["pop3"]:
        peaks["pop3_logged_in"] = None  # a bound on connections bounds logins, too
    for service in SERVICES:
        peak = peaks[service.key]
        if peak is not None:
            yield SessionsBounded(trial.contender, service.key, peak)


def _limiting(trial: TrialRecord, service: SessionLimit, offered: int) -> int | None:
    """The most sessions that a door let through when this number was the server's choice, not the load's.

    Either the server says no to further sessions, or it lets none in while so many are inside, again and again, though
    others wait for so long that it would have let in `UNLIKELY` of them at the rate of the other times. A mean would
    not do: a busy machine lowers it.
    """
    sessions = trial.figures(MailFigures).sessions.get(service.key, ServiceSessions())
    peak = sessions.peak
    if not 1 < peak < offered:
        return None
    refused = sum(sum(op.errors.values()) for op in trial.per_operation if op.name == service.step)
    if refused and _refusals(trial).get(service.refused_parts):
        return peak
    expected = sessions.at_peak.let_in_expected if sessions.at_peak else 0.0
    return peak if expected >= IMPROBABLE else None


def _refusals(trial: TrialRecord) -> dict[str, int]:
    return trial.figures(MailFigures).refusals.measured.counts


def _overflow(run: RunRecord, trial: TrialRecord) -> Iterator[Fact]:
    """The first packets of connections had no answer: the kernel drops them when a server does not accept in time."""
    if not any(_refusals(trial).get(name) for name in QUEUE_OVERFLOW):
        return
    facts = facts_of(run, trial.contender)
    queues = tuple(f"{key} {value}" for key, value in facts.items() if key.endswith("listen backlog"))
    yield QueueFull(trial.contender, queues)


def _rates(run: RunRecord) -> Iterator[Fact]:
    """A throttle holds the rate of accepted messages at the same number, however many clients there are."""
    for contender in run.contenders:
        rates: dict[LoadStep, list[float]] = {}
        for trial in telling_flow(run, contender.name):
            rates.setdefault(trial.load_step, []).append(trial.figures(MailFigures).flowing.accepted_per_s)
        for limit in KNOWN_RATES:
            equal = [load_step for load_step, values in rates.items() if all(_equals(value, limit) for value in values)]
            if len(equal) > 1:
                yield RateBounded(contender.name, limit)


def _equals(value: float, limit: int) -> bool:
    return abs(value - limit) <= RATE_TOLERANCE * limit
