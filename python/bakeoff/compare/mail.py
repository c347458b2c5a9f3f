"""What the ledgers of a mail run say about each contender."""

from __future__ import annotations

from bakeoff.store.records import TrialRecord

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


def ledger_counts(trials: list[TrialRecord]) -> dict[str, int]:
    """The classes of all messages of `trials`, added up."""
    total: dict[str, int] = {}
    for trial in trials:
        for name, count in (trial.workload.get("ledger") or {}).get("counts", {}).items():
            total[name] = total.get(name, 0) + int(count)
    return total


def overall_response_s(trial: TrialRecord) -> float:
    """Mean over all timed steps, seconds; NaN when none succeeded."""
    return trial.service.mean_ns / 1e9 if trial.service.mean_ns is not None else float("nan")
