"""The primary metric of each contender in each block."""

from __future__ import annotations

import numpy as np

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.level import Level, Levels
from bakeoff.stats import trapezoid_weights


def levels_of(cube: Cube, metric: Metric) -> Levels | None:
    """See Levels. None for a metric that only pairs have."""
    if metric.paired is not None or not cube.load_steps:
        return None
    values = cube.values(metric.extract)
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(values > 0.0, np.log(values), np.nan)
    means = np.exp(np.einsum("m,cmb->cb", trapezoid_weights([load_step.x for load_step in cube.load_steps]), logs))
    return Levels(
        metric=metric.key,
        title=metric.title,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
        load_steps=cube.load_steps,
        blocks=cube.blocks,
        contenders=tuple(
            Level(name, tuple(map(float, means[at])), int(cube.forfeits(name).sum()))
            for at, name in enumerate(cube.contenders)
        ),
    )
