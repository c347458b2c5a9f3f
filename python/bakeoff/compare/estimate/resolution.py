"""What a trial resolves: blocks that agree to the last digit are no nearer to each other than a count can tell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.metrics.metric import Metric
from bakeoff.store.records.run_records import TrialRecord

# Histograms keep three digits: a time lies within half of a thousandth of what is told.
TIME_RESOLUTION = 0.0005


def resolution_of(metric: Metric) -> Callable[[TrialRecord], float]:
    """By what share a figure of a trial may be off: that of one operation in a count, of half a digit in a time or in a
    figure of another tool's file.
    """
    if metric.finest is not None:
        return metric.finest
    if metric.unit == "ms":
        return lambda trial: TIME_RESOLUTION
    return lambda trial: 1.0 / max(1, trial.operations if trial.starts is None else trial.starts.answered)


def resolution_of_pair(cube: Cube, metric: Metric, pair: tuple[str, str]) -> NDArray[np.float64]:
    """The same of ln(contender / baseline), shape (load steps, blocks); 0 where there is no pair."""
    finest = np.nan_to_num(cube.values(resolution_of(metric)))
    both: NDArray[np.float64] = finest[cube.index(pair[0])] + finest[cube.index(pair[1])]
    return both
