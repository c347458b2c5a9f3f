"""What the ledgers of a mail run say about each contender, and which limits of a server decided its result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
# Ways of not serving a session that a limit of sessions brings about.
REFUSALS = (
    "refused",
    "reset",
    "busy_421",
    "denied",
    "connect_timeout",
    "banner_timeout",
    "connect_1s",
    "connect_3s",
    "connect_7s",
)
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
    peaks: dict[str, Any] = trial.workload.get("peak_sessions") or {}
    measured = (trial.workload.get("refusals") or {}).get("measured", {})
    refused = sum(measured.get("counts", {}).get(name, 0) for name in REFUSALS)
    offered = trial.mix_clients * int(run.plan.get("settings", {}).get("threads", 1))
    for side, peak in peaks.items():
        if refused and 1 < peak < offered:
            known = KNOWN_LIMITS.get(peak)
            of = f" ({known})" if known else ""
            yield (
                f"never more than {peak} {side.upper()} sessions were served at once while others were refused: "
                f"that equals the limit of {peak}{of}"
            )
    rate = (trial.workload.get("flow") or {}).get("accepted_per_s", 0.0)
    for limit, known in KNOWN_RATES.items():
        if abs(rate - limit) <= 0.02 * limit:
            yield f"{rate:.1f} messages per second equals the limit of {limit} ({known})"


def overall_response_s(trial: TrialRecord) -> float:
    """Mean over all timed steps, seconds; NaN when none succeeded."""
    return trial.service.mean_ns / 1e9 if trial.service.mean_ns is not None else float("nan")


def seconds(value: float) -> str:
    """A time in seconds as a figure."""
    return wording.figures(value) if value == value else wording.MISSING
