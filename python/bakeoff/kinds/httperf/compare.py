"""What comparisons know of httperf's work: replies a second decide, and times are those of calls."""

from __future__ import annotations

import math
from typing import Any

from bakeoff.compare.audits import LittlesLaw, exact
from bakeoff.compare.cube import Cube
from bakeoff.compare.kind import ComparePart
from bakeoff.compare.metric import Metric
from bakeoff.compare.model import Audit
from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.kinds.httperf.lines import share
from bakeoff.store.records import RunRecord, Summary, TrialRecord

CALL = "call"


class Httperf(ComparePart):
    """See ComparePart."""

    work = "operations"  # connections, calls and sessions: errors may be of any of them
    turns = "starts"
    ends_with_its_starts = True
    audits_of_its_own = ("Connections and calls",)

    def response(self, trial: TrialRecord) -> Summary:
        """Of calls, from when they were sent: connections and sessions have times of their own in its sums."""
        calls = [operation.service for operation in trial.per_operation if operation.name == CALL]
        return calls[0] if calls else trial.service

    def moved_bytes(self, trial: TrialRecord) -> int:
        """Those received."""
        return trial.bytes_in

    def rates(self, plan: dict[str, Any]) -> tuple[Metric, ...]:
        """Replies decide; connections a second are what is offered."""
        return (
            Metric("rate", "Replies/s", "replies/s", True, "log", _replies, "replies/s"),
            Metric("connections", "Connections/s", "connections/s", True, "log", _connections, "connections/s"),
        )

    def implied_sessions(self, trial: TrialRecord, law: LittlesLaw) -> float | None:
        """None: pipelined calls and idle connections are no sessions."""
        return None

    def same_work(self, run: RunRecord, cube: Cube) -> Audit | None:
        """The counts of every trial add up: each connection, and each request, has one end."""
        trials = sorted(cube.usable.values(), key=lambda trial: trial.order)
        what = (
            "starts = connections begun or sessions; requests = replies + those that failed or were not answered at "
            "the end; replies = those of all statuses"
        )
        return exact("Connections and calls", what, trials, [_sums(trial) for trial in trials])


def _replies(trial: TrialRecord) -> float:
    figures = trial.figures(HttperfFigures)
    return share(figures.replies, figures.test_duration_s) or math.nan


def _connections(trial: TrialRecord) -> float:
    figures = trial.figures(HttperfFigures)
    return share(figures.connections, figures.test_duration_s) or math.nan


def _sums(trial: TrialRecord) -> list[tuple[str, int, int]]:
    f = trial.figures(HttperfFigures)
    s = f.statuses
    by_status = s.s1xx + s.s2xx + s.s3xx + s.s4xx + s.s5xx + s.other
    sums = [
        ("replies by status", by_status, f.replies),
        ("requests", f.replies + f.requests_failed + f.requests_unfinished, f.requests),
    ]
    if f.sessions is not None:
        sums.append(("sessions", f.sessions.completed + f.sessions.failed + f.sessions.unfinished, f.starts))
    return sums


PART = Httperf()
