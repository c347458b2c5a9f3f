"""Open-loop load: whether a contender is overloaded, from which rate on, and what
decides between two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.forfeits import PairLogs, bounded
from bakeoff.compare.metrics.all_attempts import all_attempts_ns, all_attempts_service_ns
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.comparison import OverloadPoint
from bakeoff.core.times import ms_of, s_of
from bakeoff.load import open_loop
from bakeoff.load.load_step import LoadStep, Rate
from bakeoff.plan.design.unit import LoadUnit
from bakeoff.stats import median_ranks, queue_growth
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import StartsRecord

if TYPE_CHECKING:
    from bakeoff.compare.kind import ComparePart

DECIDES = "deciding"
# Standard deviations by which the number of operations under way may differ between the edges of a window.
EDGES = 3.0


def is_overloaded(trial: TrialRecord, kind: ComparePart | None = None) -> bool:
    """Whether `trial`, at a rate, answered less than it was offered: by more than 1 %, and by more than what may be
    under way at the one edge of the window and not at the other. Of the iterations that wait at the end of the window
    those count by which their queue grew all through it: a pause at the end is a long response time, and no less than
    that anywhere else. So does one that answers, and puts off what its answers promise.
    """
    starts = trial.starts
    if starts is None or not isinstance(trial.load_step, Rate):
        return False
    under_way = trial.operations_per_s * s_of(trial.service.mean_ns or 0.0)
    edges = trial.load_step.arrivals.slack(starts.offered) + EDGES * math.sqrt(2.0 * under_way)
    allowed = (1.0 - open_loop.SUSTAINED_SHARE) * starts.offered + edges
    return _unanswered(trial, starts, trial.load_step) > allowed or (kind is not None and kind.owes_more(trial))


def _unanswered(trial: TrialRecord, starts: StartsRecord, load_step: Rate) -> float:
    unanswered = starts.offered - starts.answered
    queue = starts.queue
    if not queue or not load_step.arrivals.steady:
        return unanswered
    fills_s = s_of(trial.service.p50_ns or 0)
    failed = unanswered - (queue[-1] - queue[0]) + trial.errors.get("unfinished", 0)
    return failed + queue_growth(queue, fills_s / trial.window_s if trial.window_s > 0.0 else 0.0)


def answered_per_s(trial: TrialRecord) -> float:
    """Iterations that ended well in the window, a second."""
    if trial.starts is None or trial.window_s <= 0.0:
        return math.nan
    return trial.starts.answered / trial.window_s


def _answered_between(trial: TrialRecord) -> tuple[float, float]:
    """Iterations a second that ended well, and the same with those of the window that were open at its end: of whoever
    keeps
    up these are no difference.
    """
    per_s, fates = answered_per_s(trial), None if trial.starts is None else trial.starts.fates
    if fates is None or is_overloaded(trial):
        return per_s, per_s
    low, high = fates.answered / trial.window_s, (fates.answered + fates.open) / trial.window_s
    return min(per_s, low), max(per_s, high)


def offered_per_s(trial: TrialRecord) -> float:
    """Starts that were planned for the window, a second."""
    if trial.starts is None or trial.window_s <= 0.0:
        return math.nan
    return trial.starts.offered / trial.window_s


def open_loop_metrics(run: RunRecord, cube: Cube, general: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """What decides at rates first, then what was answered; of `general` the response times and throughput; and service
    times.
    """
    work = cube.kind.iterations or cube.kind.work
    rate = f"{work}/s"
    title = f"{rate[0].upper()}{rate[1:]} answered"
    others = tuple(metric for metric in general if metric.key == "throughput" or metric.unit == "ms")
    metrics = (
        _deciding(run, cube),
        Metric("rate", title, rate, True, "log", answered_per_s, rate, bounds=_answered_between),
        *others,
        _service(cube, "service_p50", "p50", title="Median service time (p50)"),
        _service(cube, "service_p99", "p99", title="99th percentile of service time (p99)"),
    )
    return cube.kind.open_loop_metrics(run, metrics)


def _service(cube: Cube, key: str, field: str, title: str) -> Metric:
    def milliseconds(trial: TrialRecord) -> float:
        return ms_of(all_attempts_service_ns(cube.kind, trial, field))

    return Metric(key, title, "ms", False, "log", milliseconds, title.split(" (")[0].lower())


def _deciding(run: RunRecord, cube: Cube) -> Metric:
    """The response time that the plan named, under the rules that it named."""
    length_s, clock = run.planned.settings.length_s, run.planned.settings.clock
    end_s = length_s - clock.ramp_down_s
    figure = open_loop.deciding(cube.load_steps, clock.ramp_up_s, end_s, length_s, clock.operations)

    def milliseconds(trial: TrialRecord) -> float:
        return ms_of(all_attempts_ns(cube.kind, trial, figure) + cube.kind.waited_ns(trial, figure))

    words = open_loop.words_of(figure)
    of = f" of {cube.kind.responds}" if cube.kind.responds else ""
    waits = f", plus {cube.kind.waits_for}" if cube.kind.waits_for else ""
    title = f"{words[0].upper()}{words[1:]}{of}{waits}, where neither is overloaded"
    short = f"{figure} response time{waits.replace(', plus', ' plus')}"
    return Metric(DECIDES, title, "ms", False, "log", milliseconds, short, paired=_paired(milliseconds))


def _paired(milliseconds: Callable[[TrialRecord], float]) -> Callable[[Cube, str, str], PairLogs]:
    def paired(cube: Cube, baseline: str, contender: str) -> PairLogs:
        """Response times where neither is overloaded; one that is overloaded alone has lost; where both are, what each
        took for an answer, window over answers.
        """
        times, took = cube.values(milliseconds), 1.0 / cube.values(answered_per_s)
        overloaded = cube.values(lambda trial: float(is_overloaded(trial, cube.kind))) == 1.0
        sides = cube.index(baseline), cube.index(contender)
        both = overloaded[sides[0]] & overloaded[sides[1]]
        with np.errstate(invalid="ignore", divide="ignore"):
            below, above = (np.log(np.where(both, took[side], times[side])) for side in sides)
        forfeited = tuple(
            cube.forfeits(name) | (overloaded[side] & ~both) | (np.isinf(times[side]) & ~both)
            for name, side in zip((baseline, contender), sides, strict=True)
        )
        return replace(bounded(below, above, (forfeited[0], forfeited[1]), higher_is_better=False), instead=both)

    return paired


def overload_points(cube: Cube, unit: LoadUnit) -> tuple[OverloadPoint, ...]:
    """The overload point of each contender at rates, in starts of `unit`, in the order of the cube."""
    return tuple(_overload_point(cube, name, unit) for name in cube.contenders)


def _overload_point(cube: Cube, contender: str, unit: LoadUnit) -> OverloadPoint:
    first = sorted(at for block in cube.blocks if (at := _first_overloaded(cube, contender, block)) is not None)
    ranks = median_ranks(len(first))
    middle = first[(len(first) - 1) // 2] if first else 0  # of an even number of blocks the lower one
    low, high = (None, None) if ranks is None else (first[ranks[0]], first[ranks[1]])
    load_steps: tuple[LoadStep | None, ...] = (*cube.load_steps, None)
    return OverloadPoint(
        contender=contender,
        blocks=len(first),
        overload_load_step=load_steps[middle] if first else None,
        sustained_load_step=cube.load_steps[middle - 1] if middle > 0 else None,
        interval=ranks is not None,
        low_load_step=None if low is None else load_steps[low],
        high_load_step=None if high is None else load_steps[high],
        highest_load_step=cube.load_steps[-1],
        unit=unit,
    )


def _first_overloaded(cube: Cube, contender: str, block: int) -> int | None:
    """The place of the lowest rate at which `contender` lost or was overloaded in a block, one more than the last where
    there is none; None where a trial is missing before it.
    """
    for place, load_step in enumerate(cube.load_steps):
        key = (contender, load_step, block)
        if key in cube.forfeited:
            return place
        if key not in cube.usable:
            return None
        if is_overloaded(cube.usable[key], cube.kind):
            return place
    return len(cube.load_steps)
