"""Which load steps an endpoint is over, and which blocks have all of them.

A load step that is there in under half of the blocks is left out (trials were voided, or both contenders broke); then
blocks with a hole are.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.forfeits import PairLogs
from bakeoff.stats import trapezoid_weights

Logs = NDArray[np.float64]
Mask = NDArray[np.bool_]


def kept_load_steps(present: Mask, measured: Mask | None = None) -> tuple[Mask, Mask]:
    """Load steps that are `present`, shape (load steps, blocks), in half at least of the blocks in which any was
    `measured`, or present where that is not given: shape (load steps,); and the blocks that have all of these, shape
    (blocks,).
    """
    blocks = int((present if measured is None else measured).any(axis=0).sum())
    kept = present.sum(axis=1) * 2 >= max(1, blocks)
    return kept, present[kept].all(axis=0) & kept.any()


def kept_of_pair(outcomes: PairLogs) -> tuple[Mask, Mask]:
    """The same of a pair of contenders: what both lost was measured as well."""
    present = np.isfinite(outcomes.settled())
    return kept_load_steps(present, present | outcomes.ties)


def over_load_steps(cube: Cube, logs: Logs, kept: Mask) -> Logs:
    """The weighted mean of each block over the load steps that are `kept`, shape (blocks,); NaN for a block with a
    hole.
    """
    if not kept.any():
        return np.full(len(cube.blocks), math.nan)
    weights = trapezoid_weights([load_step.x for load_step, keep in zip(cube.load_steps, kept, strict=True) if keep])
    mean: Logs = weights @ logs[kept]
    return mean
