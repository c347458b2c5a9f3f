"""Runs of one plan over time: the level of each contender, its ratio to the baseline, and where they changed."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.collections.history_model import (
    CopiedRun,
    GatesClosed,
    History,
    ImportedRun,
    LeftOutFile,
    LevelChange,
    NothingMeasured,
    NoValue,
    OnlyAtLeast,
    PlanHistory,
    RunOfPlan,
    RunPoint,
    Series,
    TrialsLost,
    UnreadFile,
    WithoutMetric,
)
from bakeoff.compare.collections.joined_differences import differences
from bakeoff.compare.collections.joined_model import FileDifference
from bakeoff.compare.cube.levels import levels_of
from bakeoff.compare.estimate.intervals import both_shown
from bakeoff.compare.limits.capacity_model import CAPACITY
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.subject import Subject, asked_of, subject_of
from bakeoff.core.errors import PlanError
from bakeoff.stats import change_points, geometric_interval, paired_log_ratio
from bakeoff.store.collections.found import Unread
from bakeoff.store.collections.join import work_of
from bakeoff.store.records.run_records import FAILED, OK, JoinedFile, RunRecord
from bakeoff.store.sqlite.canonical import to_json
from bakeoff.store.sqlite.read import read_run

Floats = NDArray[np.float64]
# Two changes this many runs apart, by factors no further apart than this share of their logarithm, are one.
NEAR_RUNS, ALIKE = 1, 0.5
# Of each change so many differences of the runs are named.
MOST_DIFFERENCES = 8


@dataclass(frozen=True)
class _Measured:
    """What is needed of a run: values by contender and block, and why those of a contender do not count."""

    run: RunOfPlan
    title: str
    unit: str
    metric: str
    higher_is_better: bool
    values: Mapping[str, Floats]
    left_out: Mapping[str, Fact]


def history_of(
    runs: Iterable[RunRecord | Unread], metric: str | None = None, read: Callable[[Path], RunRecord] = read_run
) -> History:
    """The history of each plan by its primary metric, or by the one of this key. `read` gives a run again whose
    differences are wanted. Raises PlanError for a metric that no run has.
    """
    plans: dict[str, list[_Measured]] = defaultdict(list)
    heads: dict[str, RunRecord] = {}
    out: list[LeftOutFile] = []
    seen: dict[str, str] = {}
    known: set[str] = set()
    for run in runs:
        reason = UnreadFile(run.reason) if isinstance(run, Unread) else _unusable(run, seen)
        if isinstance(run, Unread) or reason is not None:
            out.append(LeftOutFile(str(run.path), reason or NothingMeasured()))
            continue
        measured = _measured(run, metric, known)
        if measured is None:
            out.append(LeftOutFile(str(run.path), WithoutMetric(metric or "")))
            continue
        key = to_json([run.suite, work_of(run.plan), measured.metric])
        plans[key].append(measured)
        heads[key] = replace(run, trials=(), earlier=(), events=())
    if metric is not None and not plans and known:
        raise PlanError(f"no run has the metric {metric}: choose one of {', '.join(sorted(known))}")
    made = [_plan(heads[key], measured, read) for key, measured in plans.items()]
    return History(tuple(sorted(made, key=lambda plan: (-len(plan.runs), plan.suite))), tuple(out))


def _unusable(run: RunRecord, seen: dict[str, str]) -> Fact | None:
    """Why a run is in no history; None when it is."""
    if run.imported_from is not None:
        return ImportedRun(run.imported_from)
    if not any(trial.state == OK for trial in run.trials):
        return NothingMeasured()
    mark = json.dumps([run.created_at, run.plan_hash, [trial.started_at for trial in run.trials[:1]]])
    if mark in seen:
        return CopiedRun(seen[mark])
    seen[mark] = str(run.path)
    return None


def _measured(run: RunRecord, key: str | None, known: set[str]) -> _Measured | None:
    subject = subject_of(run, asked_of(run, None, None, True, math.nan))
    metrics = subject.shape.metrics(subject)
    known.update(metric.key for metric in metrics)
    metric = metrics[0] if key is None else next((each for each in metrics if each.key == key), None)
    if metric is None:
        return None
    bad = sum(trial.state != OK for trial in run.trials)
    began_at = min(trial.started_at for trial in run.trials)
    of = RunOfPlan(str(run.path), began_at, run.blocks_whole, len(run.trials), bad)
    if metric.key == CAPACITY:
        capacity = subject.shape.findings(subject)["capacity"]
        values = {one.name: np.array([search.met for search in one.searches]) for one in capacity.contenders}
        out: dict[str, Fact] = {
            one.name: OnlyAtLeast(one.at_least) if one.at_least else TrialsLost(one.none + one.died, len(one.searches))
            for one in capacity.contenders
            if one.at_least or one.none or one.died
        }
        return _Measured(of, metric.title, capacity.unit, metric.key, True, values, out)
    levels = levels_of(subject.cube, replace(metric, paired=None))
    if levels is None:
        return None
    values = {level.contender: np.array(level.values) for level in levels.contenders}
    out = {
        level.contender: fact
        for level in levels.contenders
        if (fact := _doubt(subject, level.contender, values[level.contender])) is not None
    }
    return _Measured(of, metric.title, metric.unit, metric.key, metric.higher_is_better, values, out)


def _doubt(subject: Subject, name: str, values: Floats) -> Fact | None:
    """Why the figures of a contender do not count; a time that lies among its failures has no number."""
    trials = subject.cube.of(name, subject.cube.load_steps)
    forfeited = int(subject.cube.forfeits(name).sum()) + int(np.isinf(values).sum())
    if forfeited:
        return TrialsLost(forfeited, max(forfeited, sum(trial.state in (OK, FAILED) for trial in trials)))
    gates = subject.judge.alone(name, subject.cube.load_steps)
    return GatesClosed(gates) if gates else None


def _plan(head: RunRecord, measured: list[_Measured], read: Callable[[Path], RunRecord]) -> PlanHistory:
    measured.sort(key=lambda one: one.run.began_at)
    newest = measured[-1]
    names = list(dict.fromkeys(name for one in reversed(measured) for name in one.values))
    levels = [_series(name, "", _level_points(name, measured), newest.higher_is_better) for name in names]
    ratios = [
        _series(name, names[0], _ratio_points(name, names[0], measured), newest.higher_is_better) for name in names[1:]
    ]
    levels, ratios = _shared(levels, ratios), [one for one in ratios if one.points]
    places = sorted({change.run for series in (*levels, *ratios) for change in series.changes})
    return PlanHistory(
        suite=head.suite,
        name=head.name,
        loads=", ".join(step.words for step in head.load_steps[:3]) + (" …" if len(head.load_steps) > 3 else ""),
        metric=newest.metric,
        title=newest.title,
        unit=newest.unit,
        higher_is_better=newest.higher_is_better,
        runs=tuple(one.run for one in measured),
        levels=tuple(levels),
        ratios=tuple(ratios),
        differences={place: _differences(measured, place, read) for place in places},
    )


def _level_points(name: str, measured: Sequence[_Measured]) -> list[RunPoint]:
    points = []
    for at, one in enumerate(measured):
        if name not in one.values:
            continue
        found = geometric_interval(one.values[name])
        points.append(_point(at, found.blocks, found.centre, found.low, found.high, one.left_out.get(name)))
    return points


def _ratio_points(name: str, baseline: str, measured: Sequence[_Measured]) -> list[RunPoint]:
    points = []
    for at, one in enumerate(measured):
        if name not in one.values or baseline not in one.values:
            continue
        mine, other = one.values[name], one.values[baseline]
        size = min(mine.size, other.size)
        found = paired_log_ratio(mine[:size], other[:size])
        out = one.left_out.get(name) or one.left_out.get(baseline)
        points.append(_point(at, found.blocks, found.ratio, found.low, found.high, out))
    return points


def _point(run: int, blocks: int, centre: float, low: float, high: float, out: Fact | None) -> RunPoint:
    if not blocks or not math.isfinite(centre):
        return RunPoint(run, 0, math.nan, math.nan, math.nan, out or NoValue())
    return RunPoint(run, blocks, centre, *both_shown(low, high, blocks), left_out=out)


def _series(name: str, baseline: str, points: Sequence[RunPoint], higher_is_better: bool) -> Series:
    series = Series(name, baseline, tuple(points), ())
    counted = series.counted
    values = np.array([point.centre for point in counted])
    found = change_points(values)
    edges = [0, *(change.first for change in found), len(counted)]
    changes = []
    for change, (first, end), last in zip(found, pairwise(edges), edges[2:], strict=False):
        before, after = (float(np.exp(np.log(part).mean())) for part in (values[first:end], values[end:last]))
        is_better = (change.ratio > 1.0) == higher_is_better
        sizes = (end - first, last - end)
        place = counted[change.first].run
        changes.append(
            LevelChange(place, change.ratio, change.low, change.high, change.p, (before, after), sizes, is_better)
        )
    return replace(series, changes=tuple(changes))


def _shared(levels: Sequence[Series], ratios: Sequence[Series]) -> list[Series]:
    """Mark the changes that all contenders have at one run by one factor, and no ratio has."""
    turned = {change.run for series in ratios for change in series.changes}

    def is_shared(change: LevelChange) -> bool:
        near = [
            any(abs(other.run - change.run) <= NEAR_RUNS and _alike(other.ratio, change.ratio) for other in one.changes)
            for one in levels
        ]
        return len(levels) > 1 and all(near) and not any(abs(place - change.run) <= NEAR_RUNS for place in turned)

    return [
        replace(one, changes=tuple(replace(change, is_shared=is_shared(change)) for change in one.changes))
        for one in levels
    ]


def _alike(one: float, other: float) -> bool:
    log = math.log(other)
    return abs(math.log(one) - log) <= ALIKE * abs(log)


def _differences(
    measured: Sequence[_Measured], place: int, read: Callable[[Path], RunRecord]
) -> tuple[FileDifference, ...]:
    """In what the run at `place` differs from the one before it."""
    files = []
    for label, one in zip("AB", measured[place - 1 : place + 1], strict=False):
        run = read(Path(one.run.path))
        names = {contender.name: contender.name for contender in run.contenders}
        files.append(JoinedFile(label, run, names, 0, 1, failed=False))
    return differences(files)[:MOST_DIFFERENCES]
