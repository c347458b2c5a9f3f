"""Runs of one plan over time: the level of each contender, its ratio to the baseline, and where they changed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.collections.history_model import (
    NEAR_RUNS,
    CopiedRun,
    GatesClosed,
    History,
    ImportedRun,
    LeftOutFile,
    LevelChange,
    NothingMeasured,
    NoValue,
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
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.subject import asked_of, subject_of
from bakeoff.compare.validity.gates import Judge
from bakeoff.core.errors import PlanError
from bakeoff.load.load_step import LoadStep
from bakeoff.stats import change_points, geometric_interval, paired_log_ratio
from bakeoff.store.collections.join import work_of
from bakeoff.store.collections.run_files import Unread
from bakeoff.store.records.run_records import FAILED, OK, RunRecord
from bakeoff.store.sqlite.canonical import to_json
from bakeoff.store.sqlite.read import read_run

Floats = NDArray[np.float64]
# Near changes by factors no further apart than this share of their logarithm are one.
ALIKE = 0.5
# Of each change so many differences of the runs are named.
MOST_DIFFERENCES = 8


@dataclass(frozen=True)
class _Measured:
    """What is needed of a run: values by contender and block, and why those of a contender do not count."""

    run: RunOfPlan
    suite: str
    name: str
    load_steps: tuple[LoadStep, ...]
    metric: Metric
    values: Mapping[str, Floats]
    left_out: Mapping[str, Fact]


def history_of(
    runs: Iterable[RunRecord | Unread], metric: str | None = None, read: Callable[[Path], RunRecord] = read_run
) -> History:
    """The history of each plan by its primary metric, or by the one of this key. `read` gives a run again whose
    differences are wanted. Raises PlanError for a metric that no run has.
    """
    plans: dict[str, list[_Measured]] = defaultdict(list)
    out: list[LeftOutFile] = []
    seen: dict[tuple[str, str, str], str] = {}
    known: set[str] = set()
    for run in runs:
        if isinstance(run, Unread):
            out.append(LeftOutFile(str(run.path), UnreadFile(run.reason)))
        elif (reason := _unusable(run, seen)) is not None:
            out.append(LeftOutFile(str(run.path), reason))
        elif (measured := _measured(run, metric, known)) is None:
            out.append(LeftOutFile(str(run.path), WithoutMetric(metric or "")))
        else:
            plans[to_json([run.suite, work_of(run.plan), measured.metric.key])].append(measured)
    if metric is not None and not plans and known:
        raise PlanError(f"no run has the metric {metric}: choose one of {', '.join(sorted(known))}")
    made = [_plan(measured, read) for measured in plans.values()]
    return History(tuple(sorted(made, key=lambda plan: (-len(plan.runs), plan.suite))), tuple(out))


def _unusable(run: RunRecord, seen: dict[tuple[str, str, str], str]) -> Fact | None:
    """Why a run is in no history; None when it is."""
    if run.imported_from is not None:
        return ImportedRun(run.imported_from)
    if not any(trial.state == OK for trial in run.trials):
        return NothingMeasured()
    mark = (run.created_at, run.plan_hash, run.trials[0].started_at)
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
    judge = replace(subject.shape.judge(subject, metric), metric=metric.key)
    levels = levels_of(judge.cube, replace(metric, paired=None))
    if levels is None:
        return None
    values = {level.contender: np.array(level.values) for level in levels.contenders}
    out = {name: fact for name, of in values.items() if (fact := _doubt(judge, name, of)) is not None}
    bad = sum(trial.state != OK for trial in run.trials)
    began_at = min(trial.started_at for trial in run.trials)
    of_run = RunOfPlan(str(run.path), began_at, run.blocks_whole, len(run.trials), bad)
    return _Measured(of_run, run.suite, run.name, run.load_steps, metric, values, out)


def _doubt(judge: Judge, name: str, values: Floats) -> Fact | None:
    """Why the figures of a contender do not count; a time that lies among its failures has no number."""
    cube = judge.cube
    forfeited = int(cube.forfeits(name).sum()) + int(np.isinf(values).sum())
    if forfeited:
        trials = cube.of(name, cube.load_steps)
        return TrialsLost(forfeited, max(forfeited, sum(trial.state in (OK, FAILED) for trial in trials)))
    gates = judge.alone(name, cube.load_steps)
    return GatesClosed(gates) if gates else None


def _plan(measured: list[_Measured], read: Callable[[Path], RunRecord]) -> PlanHistory:
    measured.sort(key=lambda one: one.run.began_at)
    newest = measured[-1]
    metric = newest.metric
    first, *others = dict.fromkeys(name for one in reversed(measured) for name in one.values)
    levels = [_series(name, "", _level_points(name, measured), metric.higher_is_better) for name in (first, *others)]
    compared = ((name, _ratio_points(name, first, measured)) for name in others)
    ratios = [_series(name, first, points, metric.higher_is_better) for name, points in compared if points]
    levels = _shared(levels, ratios)
    places = sorted({change.run for series in (*levels, *ratios) for change in series.changes})
    return PlanHistory(
        suite=newest.suite,
        name=newest.name,
        load_steps=newest.load_steps,
        metric=metric.key,
        title=metric.title,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
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
    counted = [point for point in points if point.left_out is None]
    values = np.array([point.centre for point in counted])
    found = change_points(values)
    segments = list(pairwise([0, *(change.first for change in found), len(counted)])) if counted else []
    levels = [float(np.exp(np.log(values[first:end]).mean())) for first, end in segments]
    changes = tuple(
        LevelChange(
            run=counted[change.first].run,
            ratio=change.ratio,
            low=change.low,
            high=change.high,
            p=change.p,
            levels=(before, after),
            runs=(old[1] - old[0], new[1] - new[0]),
            is_better=(change.ratio > 1.0) == higher_is_better,
        )
        for change, (before, after), (old, new) in zip(found, pairwise(levels), pairwise(segments), strict=True)
    )
    return Series(name, baseline, tuple(points), changes, levels[-1] if levels else math.nan)


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
    files = [read(Path(one.run.path)).files[0] for one in measured[place - 1 : place + 1]]
    return differences(files)[:MOST_DIFFERENCES]
