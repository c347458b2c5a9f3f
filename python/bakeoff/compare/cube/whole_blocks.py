"""Which mixes an endpoint is over, and which blocks have all of them.

A mix that is there in under half of the blocks is left out (trials were voided, or both contenders broke); then blocks
with a hole are.
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


def kept_mixes(present: Mask, measured: Mask | None = None) -> tuple[Mask, Mask]:
    """Mixes that are `present`, shape (mixes, blocks), in half at least of the blocks in which any was `measured`, or
    present where that is not given: shape (mixes,); and the blocks that have all of these, shape (blocks,).
    """
    blocks = int((present if measured is None else measured).any(axis=0).sum())
    kept = present.sum(axis=1) * 2 >= max(1, blocks)
    return kept, present[kept].all(axis=0) & kept.any()


def kept_of_pair(outcomes: PairLogs) -> tuple[Mask, Mask]:
    """The same of a pair of contenders: what both lost was measured as well."""
    present = np.isfinite(outcomes.settled())
    return kept_mixes(present, present | outcomes.ties)


def over_mixes(cube: Cube, logs: Logs, kept: Mask) -> Logs:
    """The weighted mean of each block over the mixes that are `kept`, shape (blocks,); NaN for a block with a hole."""
    if not kept.any():
        return np.full(len(cube.blocks), math.nan)
    weights = trapezoid_weights([mix.x for mix, keep in zip(cube.mixes, kept, strict=True) if keep])
    mean: Logs = weights @ logs[kept]
    return mean
