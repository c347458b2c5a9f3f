"""Whether a lead is made of failures, which took no time that counts and are in no mean: what the lead would be if each
of them had taken as long as the slowest answer.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.metrics.metric import Metric
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import missing_of

if TYPE_CHECKING:
    from bakeoff.compare.cube.forfeits import PairLogs

Logs = NDArray[np.float64]
# Whole trials' figures that failures flatter; percentiles have them in already (bakeoff.compare.metrics.all_attempts).
MEAN = "mean"


def with_failures_as_slowest(cube: Cube, metric: Metric, outcomes: PairLogs, pair: tuple[str, str]) -> Logs | None:
    """ln(contender / baseline), shape (load steps, blocks), with each failed operation as slow as the slowest answer of
    either; None where nothing failed, or the figure has its failures in it.
    """
    if metric.paired is not None or metric.cells or not (metric.higher_is_better or metric.key == MEAN):
        return None
    more = {name: np.zeros(outcomes.logs.shape) for name in pair}
    for m, load_step in enumerate(cube.load_steps):
        for b, block in enumerate(cube.blocks):
            trials = {name: cube.usable.get((name, load_step, block)) for name in pair}
            slowest_ns = max((t.service.max_ns or 0 for t in trials.values() if t is not None), default=0)
            for name, trial in trials.items():
                if trial is not None and missing_of(trial):
                    more[name][m, b] = _log_cost(cube, metric, trial, slowest_ns)
    cost = more[pair[1]] - more[pair[0]]
    if not any(each.any() for each in more.values()):
        return None
    forfeited = outcomes.forfeited[0] | outcomes.forfeited[1]
    return np.where(forfeited, outcomes.settled(), outcomes.settled() + (-cost if metric.higher_is_better else cost))


def _log_cost(cube: Cube, metric: Metric, trial: TrialRecord, slowest_ns: int) -> float:
    """By how much the logarithm of a figure gets worse."""
    failed = missing_of(trial)
    if metric.key == MEAN:
        times = cube.kind.response(trial)
        if not times.count or not times.mean_ns:
            return 0.0
        mean_ns = (times.count * times.mean_ns + failed * slowest_ns) / (times.count + failed)
        return math.log(mean_ns / times.mean_ns)
    # At a rate what failed is missing from what was answered, and the load was an open loop.
    spent_ns = (trial.service.mean_ns or 0.0) * trial.service.count
    return 0.0 if trial.starts is not None or not spent_ns else math.log1p(failed * slowest_ns / spent_ns)
