"""Every operation at every load step, exploratory, under Benjamini–Hochberg."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from bakeoff.compare.cube.cells import cells_of
from bakeoff.compare.model.pair import Exploratory, OperationRatio
from bakeoff.core.thresholds import MINIMUM_BLOCKS, P99_OPERATIONS
from bakeoff.load.load_step import LoadStep
from bakeoff.stats import benjamini_hochberg, fcr_level, ratios_by_row
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import Summary

if TYPE_CHECKING:
    from bakeoff.compare.cube.cube import Cube

Q = 0.05
MEAN_OPERATIONS = 30


def explore(cube: Cube, pair: tuple[str, str]) -> Exploratory:
    """Mean and p99 response time of each operation at each load step, contender over baseline.

    Cells with fewer than six pairs, or trials with too few operations for the figure, are not tested.
    """
    logs = {key: values for key, values in _log_ratios(cube, pair).items() if len(values) >= MINIMUM_BLOCKS}
    keys = sorted(logs)
    if not keys:
        return Exploratory(0, fcr_level(0, 0, Q), ())
    rows = np.array(list(zip_longest(*(logs[key] for key in keys), fillvalue=math.nan))).T
    q_values = benjamini_hochberg(ratios_by_row(rows).p)
    picked = np.flatnonzero(q_values <= Q)
    level = fcr_level(int(picked.size), len(keys), Q)
    wide = ratios_by_row(rows[picked], level)
    figures = zip(wide.ratio, wide.low, wide.high, wide.p, q_values[picked], strict=True)
    ratios = [
        OperationRatio(*keys[index], int(blocks), *map(float, own))
        for index, blocks, own in zip(picked, wide.blocks, figures, strict=True)
    ]
    ratios.sort(key=lambda cell: -abs(math.log(cell.ratio)))
    return Exploratory(len(keys), level, tuple(ratios))


def _log_ratios(cube: Cube, pair: tuple[str, str]) -> dict[tuple[str, str, LoadStep], list[float]]:
    """Per-block log-ratios by (operation, metric, load step)."""
    logs: dict[tuple[str, str, LoadStep], list[float]] = defaultdict(list)
    for load_step in cube.load_steps:
        for block in cube.blocks:
            base, other = cube.usable.get((pair[0], load_step, block)), cube.usable.get((pair[1], load_step, block))
            # Cells have a comparison of their own.
            if base is None or other is None or cells_of(base):
                continue
            for operation, metric, value in cube.kind.explored(base, other):
                logs[operation, metric, load_step].append(value)
    return logs


def ratios_of_operations(base: TrialRecord, other: TrialRecord) -> Iterator[tuple[str, str, float]]:
    """Name of an operation, `mean` or `p99`, and the log-ratio of that time, other over base."""
    known = {operation.name: operation.service for operation in base.per_operation}
    for operation in other.per_operation:
        if operation.name in known:
            for metric, value in _cell(known[operation.name], operation.service):
                yield operation.name, metric, value


def _cell(base: Summary, other: Summary) -> list[tuple[str, float]]:
    least = min(base.count, other.count)
    logs = []
    if least >= MEAN_OPERATIONS and base.mean_ns and other.mean_ns:
        logs.append(("mean", math.log(other.mean_ns / base.mean_ns)))
    if least >= P99_OPERATIONS and base.p99_ns and other.p99_ns:
        logs.append(("p99", math.log(other.p99_ns / base.p99_ns)))
    return logs
