"""Which load steps an endpoint is over, and which blocks have all of them.

A load step that is there in under half of the blocks is left out (trials were voided, or both contenders broke); then
blocks with a hole are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.forfeits import PairLogs
from bakeoff.load.load_step import LoadStep
from bakeoff.stats import trapezoid_weights

Logs = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class WholeBlocks:
    """The load steps of a cube that an endpoint is over, and the blocks that are `whole`: that have all of these. Both
    are masks, of shape (load steps,) and (blocks,).
    """

    cube: Cube
    steps: Mask
    whole: Mask

    @property
    def load_steps(self) -> tuple[LoadStep, ...]:
        """Those that are kept."""
        return tuple(compress(self.cube.load_steps, self.steps))

    @property
    def load_steps_left_out(self) -> tuple[LoadStep, ...]:
        """The others."""
        return tuple(compress(self.cube.load_steps, ~self.steps))

    @property
    def blocks(self) -> tuple[int, ...]:
        """Those that are whole."""
        return tuple(compress(self.cube.blocks, self.whole))

    @property
    def blocks_left_out(self) -> tuple[int, ...]:
        """The others."""
        return tuple(compress(self.cube.blocks, ~self.whole))

    def by_block(self, logs: Logs) -> Logs:
        """The weighted mean of each block over the load steps, shape (blocks,); NaN for a block with a hole."""
        if not self.steps.any():
            return np.full(len(self.cube.blocks), math.nan)
        mean: Logs = trapezoid_weights([load_step.x for load_step in self.load_steps]) @ logs[self.steps]
        return mean

    def of_whole(self, logs: Logs) -> Logs:
        """The same of the blocks that are whole."""
        return self.by_block(logs)[self.whole]


def whole_blocks_of(cube: Cube, present: Mask, measured: Mask | None = None) -> WholeBlocks:
    """The load steps that are `present`, shape (load steps, blocks), in half at least of the blocks in which any was
    `measured`, or present where that is not given.
    """
    blocks = int((present if measured is None else measured).any(axis=0).sum())
    steps = present.sum(axis=1) * 2 >= max(1, blocks)
    return WholeBlocks(cube, steps, present[steps].all(axis=0) & steps.any())


def whole_blocks_of_pair(cube: Cube, outcomes: PairLogs) -> WholeBlocks:
    """The same of a pair of contenders: what both lost was measured as well."""
    present = np.isfinite(outcomes.settled())
    return whole_blocks_of(cube, present, present | outcomes.ties)


def whole_blocks_in_all(several: Sequence[WholeBlocks]) -> WholeBlocks:
    """What all of several have."""
    return reduce(lambda one, other: WholeBlocks(one.cube, one.steps & other.steps, one.whole & other.whole), several)
