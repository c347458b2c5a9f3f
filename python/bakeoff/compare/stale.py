"""Requests that were asked again, as the server had closed their kept connection before they reached it."""

from __future__ import annotations

from typing import Any

from bakeoff.store.records import TrialRecord

STALE_LIMIT = 0.01


def stale_share(trials: list[TrialRecord]) -> float:
    """The share of requests, ramps included, that were asked again on a new connection."""
    again = sum(_count(trial.workload.get("stale_connections")) for trial in trials)
    asked = sum(trial.operations + trial.errors_total + _outside(trial) for trial in trials)
    return again / asked if asked else 0.0


def _outside(trial: TrialRecord) -> int:
    """Requests that ended in a ramp."""
    outside = trial.workload.get("outside")
    return sum(_count(outside.get(name)) for name in ("operations", "errors")) if isinstance(outside, dict) else 0


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0
