"""The steps of sending and of reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bakeoff.compare.metrics.time_breakdown import total_ns
from bakeoff.store.records.run_records import TrialRecord

SENDING, READING = "sending time", "reading time"


def time_breakdown(trials: Iterable[TrialRecord]) -> Mapping[str, Mapping[str, float]]:
    """Time of each step of each side, ns, of those that went well."""
    sides: dict[str, dict[str, float]] = {SENDING: {}, READING: {}}
    for operation in (operation for trial in trials for operation in trial.per_operation):
        parts = sides[READING if operation.name.startswith("pop3-") else SENDING]
        time_ns = total_ns(operation.service.mean_ns, operation.service.count)
        parts[operation.name] = parts.get(operation.name, 0.0) + time_ns
    return sides
