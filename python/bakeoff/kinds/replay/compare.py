"""What comparisons know of a replay: a table of paths for each contender at each load step, and what the log left
out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bakeoff.compare.cube.cube import why_unusable
from bakeoff.compare.estimate.exploratory import MEAN_OPERATIONS
from bakeoff.compare.kind import ComparePart
from bakeoff.compare.model.comparison import KindSummary
from bakeoff.compare.model.fact import Fact
from bakeoff.core.thresholds import P99_OPERATIONS
from bakeoff.core.times import ns_of
from bakeoff.kinds.replay.figures import PathFigures, ReplayFigures
from bakeoff.kinds.replay.log import LogFacts
from bakeoff.kinds.replay.plan import replay_settings
from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.served import WorkPart, parts_of

OTHERS = "other paths"
# Paths that the log chooses for being asked for most, of which trials are compared; the engine's number.
MOST_ASKED = 20


@dataclass(frozen=True)
class NotReplayed(Fact):
    """Requests of the log that are not replayed, by their method, beside those that are."""

    by_method: Mapping[str, int]
    replayed: int


@dataclass(frozen=True)
class NoRequests(Fact):
    """Lines of the log that are no requests, or none that could be made again."""

    lines: int
    of: int


@dataclass(frozen=True)
class LogMismatch(Fact):
    """Replies of a contender whose status does not fit the log's, most often of `path`. They may count as answered."""

    contender: str
    mismatched: int
    replies: int
    path: str
    got_status: int | None
    logged_status: int | None
    counted: bool


@dataclass(frozen=True)
class PathRow:
    """A path in all usable trials of a contender at a load step: sums, and geometric means over the blocks of
    percentiles.

    `in_log` lines ask for it, a `share` of all. In `trials` of the trials it has a row of its own.
    """

    path: str
    in_log: int
    share: float
    trials: int
    asked: int
    answered: int
    per_s: float
    time_s: float
    p50_ns: float
    p99_ns: float
    statuses: dict[str, int]
    errors: dict[str, int]
    other_status: int
    logged_status: int | None
    got_status: int | None


@dataclass(frozen=True)
class PathTable:
    """The paths of a contender at a load step: the most asked ones, then those of the others that took most time, each
    in their order, and `others`, the remaining `other_paths`, as one.
    """

    contender: str
    load_step: LoadStep
    trials: int
    most_asked: tuple[PathRow, ...]
    longest: tuple[PathRow, ...]
    others: PathRow | None
    other_paths: int


@dataclass(frozen=True)
class ReplaySummary(KindSummary):
    """The tables of paths."""

    key: ClassVar[str] = "replay"

    paths: tuple[PathTable, ...]


class Replay(ComparePart):
    work = "requests"

    def moved_bytes(self, trial: TrialRecord) -> int:
        """Those received: what is sent is mostly questions."""
        return trial.bytes_in

    def parts(self, trial: TrialRecord) -> Iterator[WorkPart]:
        """Also paths that are no class of their own."""
        yield from parts_of(trial)
        classes = {one.name for one in trial.per_operation}
        for row in trial.figures(ReplayFigures).paths.rows:
            if row.path not in classes:
                yield WorkPart("path", row.path, row.answered, sum(row.errors.values()))

    def explored(self, base: TrialRecord, other: TrialRecord) -> Iterator[tuple[str, str, float]]:
        """See ComparePart: response times of the most asked paths, which the log chooses and no result does."""
        known = {row.path: row for row in _most_asked(base)}
        for row in _most_asked(other):
            if row.path not in known:
                continue
            least = min(row.answered, known[row.path].answered)
            for metric, enough in (("mean", MEAN_OPERATIONS), ("p99", P99_OPERATIONS)):
                values = [_time_ns(each, metric) for each in (known[row.path], row)]
                if least >= enough and all(values):
                    yield row.path, metric, math.log(values[1] / values[0])

    def advice(self, run: RunRecord) -> list[Fact]:
        """See ComparePart: what of the log was not replayed as it was, and replies that do not fit it."""
        return [*_of_the_log(run), *_log_mismatches(run)]

    def summary(self, run: RunRecord) -> ReplaySummary:
        usable = [trial for trial in run.trials if why_unusable(trial) is None]
        tables = []
        for load_step in sorted(run.load_steps):
            for contender in run.contenders:
                trials = [
                    trial for trial in usable if trial.contender == contender.name and trial.load_step == load_step
                ]
                tables.append(_table(contender.name, load_step, trials, _requests(run)))
        return ReplaySummary(tuple(tables))


def _most_asked(trial: TrialRecord) -> Sequence[PathFigures]:
    return trial.figures(ReplayFigures).paths.rows[:MOST_ASKED]


def _time_ns(row: PathFigures, metric: str) -> float:
    if metric == "p99":
        return row.p99_ns or 0.0
    return ns_of(row.time_s) / row.answered if row.answered else 0.0


def log_of(run: RunRecord) -> LogFacts | None:
    """The facts of the log, as the plan has them."""
    return replay_settings(run.planned.settings).log


def _requests(run: RunRecord) -> int:
    log = log_of(run)
    return 0 if log is None else log.requests


def _table(contender: str, load_step: LoadStep, trials: Sequence[TrialRecord], requests: int) -> PathTable:
    paths = [trial.figures(ReplayFigures).paths for trial in trials]
    window_s = math.fsum(trial.window_s for trial in trials)

    def row(path: str, parts: Sequence[PathFigures]) -> PathRow:
        return _row(path, parts, window_s, requests)

    most_asked = [one.rows[:MOST_ASKED] for one in paths]
    longest = [one.rows[MOST_ASKED:] for one in paths]
    others = [one.others for one in paths if one.others is not None and one.others.paths]
    by_time = [row(path, parts) for path, parts in _by_path(longest)]
    return PathTable(
        contender=contender,
        load_step=load_step,
        trials=len(trials),
        most_asked=tuple(row(path, parts) for path, parts in _by_path(most_asked)),
        longest=tuple(sorted(by_time, key=lambda each: (-each.time_s, each.path))),
        others=row(OTHERS, [one.sum for one in others]) if others else None,
        other_paths=max((one.paths for one in others), default=0),
    )


def _by_path(trials: Sequence[Sequence[PathFigures]]) -> Iterator[tuple[str, list[PathFigures]]]:
    parts: dict[str, list[PathFigures]] = {}
    for rows in trials:
        for one in rows:
            parts.setdefault(one.path, []).append(one)
    yield from parts.items()


def _row(path: str, parts: Sequence[PathFigures], window_s: float, requests: int) -> PathRow:
    statuses: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    for part in parts:
        statuses.update(part.statuses)
        errors.update(part.errors)
    in_log = max((part.in_log for part in parts), default=0)
    answered = sum(part.answered for part in parts)
    mismatched = next((part for part in parts if part.other_status), None)
    return PathRow(
        path=path,
        in_log=in_log,
        share=in_log / requests if requests else math.nan,
        trials=len(parts),
        asked=sum(part.asked for part in parts),
        answered=answered,
        per_s=answered / window_s if window_s > 0.0 else math.nan,
        time_s=math.fsum(part.time_s for part in parts),
        p50_ns=_geometric_mean([part.p50_ns for part in parts]),
        p99_ns=_geometric_mean([part.p99_ns for part in parts]),
        statuses=dict(sorted(statuses.items())),
        errors=dict(sorted(errors.items())),
        other_status=sum(part.other_status for part in parts),
        logged_status=mismatched.logged_status if mismatched else None,
        got_status=mismatched.got_status if mismatched else None,
    )


def _geometric_mean(values: Sequence[float | None]) -> float:
    logs = [math.log(value) for value in values if value]
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.nan


def _of_the_log(run: RunRecord) -> list[Fact]:
    log = log_of(run)
    if log is None:
        return []
    lines = sum(fault.lines for fault in log.faults)
    left_out = [NotReplayed(log.left_out, log.requests)] if log.left_out else []
    return [*left_out, *([NoRequests(lines, log.lines)] if lines else [])]


def _log_mismatches(run: RunRecord) -> list[Fact]:
    found = list[Fact]()
    counted = replay_settings(run.planned.settings).statuses == "any"
    for contender in run.contenders:
        rows = []
        for trial in run.trials:
            if trial.contender == contender.name and why_unusable(trial) is None:
                paths = trial.figures(ReplayFigures).paths
                rows += [*paths.rows, *([paths.others.sum] if paths.others else [])]
        mismatched, replies = sum(row.other_status for row in rows), sum(sum(row.statuses.values()) for row in rows)
        if mismatched:
            most = max(rows, key=lambda row: row.other_status)
            seen = most.path, most.got_status, most.logged_status
            found.append(LogMismatch(contender.name, mismatched, replies, *seen, counted))
    return found


PART = Replay()
