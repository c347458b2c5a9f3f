"""Requests that were asked again: the server had ended their kept connection without an answer, or put them back
unread on a connection with streams.
"""

from __future__ import annotations

from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import TrialRecord

STALE_LIMIT = 0.01


def stale_share(trials: list[TrialRecord]) -> float:
    """The share of requests, ramps included, that were asked again on a new connection."""
    figures = [trial.figures(Figures) for trial in trials]
    again = sum((one.stale_connections or 0) + (one.put_back or 0) for one in figures)
    asked = sum(trial.operations + trial.errors_total + _outside(trial) for trial in trials)
    return again / asked if asked else 0.0


def _outside(trial: TrialRecord) -> int:
    """Requests that ended in a ramp."""
    outside = trial.figures(Figures).outside
    return outside.operations + outside.errors
