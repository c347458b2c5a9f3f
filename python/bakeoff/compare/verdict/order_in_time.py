"""A lead that changed hands while the run went on: one contender in all blocks up to some, the other in all after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.whole_blocks import whole_blocks_of_pair
from bakeoff.compare.estimate.pairs import pair_logs
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.fact import Fact

# Equals do so by chance in 3 % of runs of six blocks, in 2 % of eight, in 0.3 % of twelve.
LEAST_BLOCKS = 3


@dataclass(frozen=True)
class Turned(Fact):
    """`first` led by `before` in all blocks before `at`, `then` by `after` in all others; both ratios are above 1."""

    first: str
    later: str
    at: int
    before: float
    after: float


def turned_in_time(cube: Cube, metric: Metric, pair: tuple[str, str]) -> Turned | None:
    """Of a baseline and a contender, by what decides; None where no block divides the run so."""
    outcomes = pair_logs(cube, metric, *pair)
    kept = whole_blocks_of_pair(cube, outcomes)
    logs = kept.of_whole(outcomes.settled())
    logs = logs if metric.higher_is_better else -logs
    at = _last_before_change(logs.tolist())
    if at is None:
        return None
    before, after = float(np.mean(logs[:at])), float(np.mean(logs[at:]))
    first, later = pair[before > 0.0], pair[after > 0.0]
    return Turned(first, later, kept.blocks[at], math.exp(abs(before)), math.exp(abs(after)))


def _last_before_change(logs: Sequence[float]) -> int | None:
    """The first place from which all have the other sign than all before; None without one."""
    signs = [math.copysign(1.0, log) if log else 0.0 for log in logs]
    for at in range(LEAST_BLOCKS, len(signs) - LEAST_BLOCKS + 1):
        if signs[0] and {*signs[:at]} == {signs[0]} and {*signs[at:]} == {-signs[0]}:
            return at
    return None
