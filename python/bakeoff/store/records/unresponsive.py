"""Contenders that did not answer any more when their run was over, as its events tell: they died of the end of it.

Events stand in a run file, which anybody may have written; none of this changes a figure.
"""

from __future__ import annotations

from datetime import datetime

from bakeoff.store.records.run_records import UNRESPONSIVE, RunRecord

LONGEST = 2_000


def unresponsive_contenders(run: RunRecord) -> dict[str, str]:
    """Why contenders did not answer after their last trial, by name; of several files, of each by itself. One that was
    measured again later was there again.
    """
    found: dict[str, str] = {}
    for file in run.files:
        part = file.run
        for contender in part.contenders:
            name = file.names[contender.name]
            events = [event for event in part.events if (event.code, event.contender) == (UNRESPONSIVE, name)]
            started = [_moment(trial.started_at) for trial in part.trials if trial.contender == contender.name]
            if events and max(started, default=0.0) <= _moment(events[-1].at):
                found[contender.name] = events[-1].reason[:LONGEST]
    return found


def unresponsive_text(name: str, why: str) -> str:
    """ "b did not answer after its last trial: its port is closed"."""
    return f"{name} did not answer after its last trial: {why}"


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return 0.0
