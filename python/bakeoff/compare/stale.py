"""Requests that were asked again, as the server had closed their kept connection before they reached it."""

from __future__ import annotations

from bakeoff.store.figures import Figures
from bakeoff.store.records import TrialRecord

STALE_LIMIT = 0.01


def stale_share(trials: list[TrialRecord]) -> float:
    """The share of requests, ramps included, that were asked again on a new connection."""
    again = sum(trial.figures(Figures).stale_connections or 0 for trial in trials)
    asked = sum(trial.operations + trial.errors_total + _outside(trial) for trial in trials)
    return again / asked if asked else 0.0


def _outside(trial: TrialRecord) -> int:
    """Requests that ended in a ramp."""
    outside = trial.figures(Figures).outside
    return outside.operations + outside.errors
