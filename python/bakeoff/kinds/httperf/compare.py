"""What comparisons know of httperf's work: replies a second decide, and times are those of calls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.kind import ComparePart
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.comparison import Audit
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.validity.audits import CONTENT_OPERATIONS, CONTENT_TOLERANCE, LittlesLaw, deviating, exact
from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.kinds.httperf.lines import share
from bakeoff.plan.model import Plan
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import Summary

CALL = "call"
CLASSES = ("s1xx", "s2xx", "s3xx", "s4xx", "s5xx", "other")
STATUS_TOLERANCE = 0.01


@dataclass(frozen=True)
class ConnectionsRule(Fact):
    """Each connection, and each request, has one end."""


@dataclass(frozen=True)
class RepliesRule(Fact):
    """Statuses agree with the baseline's to a share of the replies, in trials of so many `operations` or more, and so
    does the size of their content, to a share of it.
    """

    statuses: float
    operations: int
    content: float


@dataclass(frozen=True)
class OtherStatuses(Fact):
    """The share of replies with a status of a class, and that of another contender."""

    status: str
    share: float
    other: str
    other_share: float


@dataclass(frozen=True)
class OtherReplies(Fact):
    """Bytes of content per reply, and those of another contender."""

    content_bytes: float
    other: str
    other_bytes: float


class Httperf(ComparePart):
    work = "operations"  # connections, calls and sessions: errors may be of any of them
    iterations = "starts"
    responds = "a call"
    ends_with_its_starts = True
    audits_of_its_own = ("Connections",)

    def response(self, trial: TrialRecord) -> Summary:
        """Of calls, at a rate from when they were due: their connections, and waits for them, are in it."""
        return trial.response or self.service(trial)

    def service(self, trial: TrialRecord) -> Summary:
        """Of calls, from when they were sent: connections and sessions have times of their own in its sums."""
        calls = [operation.service for operation in trial.per_operation if operation.name == CALL]
        return calls[0] if calls else trial.service

    def moved_bytes(self, trial: TrialRecord) -> int:
        """Those received."""
        return trial.bytes_in

    def rates(self, plan: Plan) -> tuple[Metric, ...]:
        """Replies decide; connections a second are what is offered."""
        return (
            Metric("rate", "Replies/s", "replies/s", True, "log", _replies, "replies/s"),
            Metric("connections", "Connections/s", "connections/s", True, "log", _connections, "connections/s"),
        )

    def implied_sessions(self, trial: TrialRecord, law: LittlesLaw) -> float | None:
        """None: pipelined calls and idle connections are no sessions."""
        return None

    def same_work(self, run: RunRecord, cube: Cube) -> Sequence[Audit]:
        """The counts of every trial add up: each connection, and each request, has one end; and replies are alike."""
        trials = sorted(cube.usable.values(), key=lambda trial: trial.order)
        return exact("Connections", ConnectionsRule(), trials, [_sums(t) for t in trials]), _same_replies(cube)


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
        ("statuses", by_status, f.replies),
        ("requests", f.replies + f.requests_failed + f.requests_unfinished, f.requests),
    ]
    if f.sessions is not None:
        sums.append(("sessions", f.sessions.completed + f.sessions.failed + f.sessions.unfinished, f.starts))
    return sums


def _share_of(figures: HttperfFigures, name: str) -> float:
    return float(getattr(figures.statuses, name)) / figures.replies


def _same_replies(cube: Cube) -> Audit:
    """Replies are those of the baseline: who answers by another status, or with another page, does other work."""
    bad, worst, checked = [], 0.0, 0
    for (contender, load_step, block), trial in sorted(cube.usable.items(), key=lambda item: item[1].order):
        base = cube.usable.get((cube.contenders[0], load_step, block))
        if contender == cube.contenders[0] or base is None:
            continue
        mine, theirs = trial.figures(HttperfFigures), base.figures(HttperfFigures)
        if min(mine.replies, theirs.replies) < CONTENT_OPERATIONS:
            continue
        checked += 1
        shares = {name: (_share_of(mine, name), _share_of(theirs, name)) for name in CLASSES}
        parts: list[Fact] = [
            OtherStatuses(name[1:], a, base.contender, b)
            for name, (a, b) in shares.items()
            if abs(a - b) > STATUS_TOLERANCE
        ]
        sizes = mine.reply_content_bytes / mine.replies, theirs.reply_content_bytes / theirs.replies
        off = abs(sizes[0] - sizes[1]) / max(1.0, sizes[1])
        worst = max(worst, off)
        if off > CONTENT_TOLERANCE:
            parts.append(OtherReplies(sizes[0], base.contender, sizes[1]))
        if parts:
            bad.append(deviating(trial, *parts))
    rule = RepliesRule(STATUS_TOLERANCE, CONTENT_OPERATIONS, CONTENT_TOLERANCE)
    return Audit("Same content", rule, checked, len(cube.usable) - checked, worst, tuple(bad))


PART = Httperf()
