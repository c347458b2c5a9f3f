"""What the ledgers of a mail run say about each contender, and which limits of a server decided its result."""

from __future__ import annotations

import math
from collections.abc import Iterator

from bakeoff.compare import wording
from bakeoff.store.records import RunRecord, TrialRecord

SATURATED_S = 5.0
# What must not happen to mail that a server has accepted, in words.
LOSSES = {
    "lost": "lost",
    "duplicate": "delivered more than once",
    "corrupt": "damaged",
    "misdelivered": "put into a mailbox it was not for",
    "ghost": "refused and delivered all the same",
    "resurrected": "back after its deletion was confirmed",
}
# Where a server may bound its sessions: how the trial's figures call the place, words for it, the step of being let in.
DOORS = (
    ("smtp", "SMTP sessions", "smtp-connect"),
    ("pop3", "POP3 sessions", "pop3-connect"),
    ("pop3_logged_in", "POP3 sessions after login", "pop3-pass"),
)
# Replies that say no to a session as such.
SAID_NO = ("busy_421", "denied")
QUEUE_OVERFLOW = ("connect_1s", "connect_3s", "connect_7s", "connect_timeout")
KNOWN_LIMITS = {
    10: "Dovecot's mail_max_userip_connections, Maddy's concurrency",
    20: "Exim's smtp_accept_max, Postfix's default_destination_concurrency_limit",
    50: "Postfix's smtpd_client_connection_count_limit",
    100: "the default_process_limit of Postfix and Dovecot",
}
KNOWN_RATES = {20: "Maddy's limits of 20 messages per second"}


def ledger_counts(trials: list[TrialRecord]) -> dict[str, int]:
    """The classes of all messages of `trials`, added up."""
    total: dict[str, int] = {}
    for trial in trials:
        for name, count in (trial.workload.get("ledger") or {}).get("counts", {}).items():
            total[name] = total.get(name, 0) + int(count)
    return total


def losses(run: RunRecord) -> tuple[str, ...]:
    """A sentence for each contender that did not keep what it had accepted; the first lines of a report."""
    found = []
    for contender in run.contenders:
        counts = ledger_counts([trial for trial in run.trials if trial.contender == contender.name])
        parts = [f"{counts[name]:,} {text}" for name, text in LOSSES.items() if counts.get(name)]
        if parts:
            accepted = counts.get("accepted", 0)
            found.append(f"{contender.name} did not keep its mail: of {accepted:,} accepted, {', '.join(parts)}.")
    return tuple(found)


def limits(run: RunRecord) -> tuple[str, ...]:
    """A sentence for each number of a result that equals a limit."""
    found: dict[str, None] = {}
    for trial in run.trials:
        for text in _limits(run, trial):
            found[f"{trial.contender}: {text}"] = None
    return tuple(found)


def _limits(run: RunRecord, trial: TrialRecord) -> Iterator[str]:
    offered = trial.mix_clients * int(run.plan.get("settings", {}).get("threads", 1))
    told: set[int] = set()
    for door, words, step in DOORS:
        peak = _limiting(trial, door, step, offered)
        if peak is not None and peak not in told:
            told.add(peak)
            known = KNOWN_LIMITS.get(peak)
            of = f" ({known})" if known else ""
            yield (
                f"never more than {peak} {words} were served at once while others waited or were refused: "
                f"that equals the limit of {peak}{of}"
            )
    yield from _overflow(run, trial)
    rate = (trial.workload.get("flow") or {}).get("accepted_per_s", 0.0)
    for limit, known in KNOWN_RATES.items():
        if abs(rate - limit) <= 0.02 * limit:
            yield f"{rate:.1f} messages per second equals the limit of {limit} ({known})"


def _limiting(trial: TrialRecord, door: str, step: str, offered: int) -> int | None:
    """The most sessions that a door let through when this number was the server's choice, not the load's.

    Either the server says no to further sessions, or sessions wait in front of the door on average while the number
    behind it stays at its peak. Without a limit the number would vary as independent sessions make it vary: the mean
    would then lie more than a standard deviation below the peak.
    """
    sessions = (trial.workload.get("sessions") or {}).get(door) or {}
    peak, mean, waiting = (sessions.get(key, 0) for key in ("peak", "mean", "waiting"))
    if not 1 < peak < offered:
        return None
    let_in = next((op for op in trial.per_operation if op.name == step), None)
    turned_away = sum(let_in.errors.values()) if let_in and step.endswith("connect") else 0
    counts = (trial.workload.get("refusals") or {}).get("measured", {}).get("counts", {})
    if turned_away and any(counts.get(name) for name in SAID_NO):
        return int(peak)
    deviation = math.sqrt(max(0.0, mean * (1 - mean / offered)))
    held = mean + deviation > peak
    return int(peak) if held and (waiting >= 1 or turned_away) else None


def _overflow(run: RunRecord, trial: TrialRecord) -> Iterator[str]:
    """The kernel dropped connections because the server did not accept them fast enough."""
    counts = (trial.workload.get("refusals") or {}).get("measured", {}).get("counts", {})
    dropped = sum(counts.get(name, 0) for name in QUEUE_OVERFLOW)
    if not dropped:
        return
    contenders = (run.environment.get("content") or {}).get("contenders") or {}
    facts = contenders.get(trial.contender) or {}
    queues = [f"{key} {value}" for key, value in facts.items() if key.endswith("listen backlog")]
    of = f" (its {', '.join(queues)})" if queues else ""
    yield f"connections waited for whole seconds or in vain: the accept queue of the server was full{of}"


def overall_response_s(trial: TrialRecord) -> float:
    """Mean over all timed steps, seconds; NaN when none succeeded."""
    return trial.service.mean_ns / 1e9 if trial.service.mean_ns is not None else float("nan")


def seconds(value: float) -> str:
    """A time in seconds as a figure."""
    return wording.figures(value) if value == value else wording.MISSING
