"""A number that is read out of a trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bakeoff.compare.cube.cells import CellKey
from bakeoff.compare.cube.file_weights import FileWeights
from bakeoff.compare.cube.forfeits import PairLogs
from bakeoff.store.records.run_records import TrialRecord

if TYPE_CHECKING:
    from bakeoff.compare.cube.cube import Cube

Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Metric:
    """`extract` gives a number or NaN. `title` and `short` are its names, alone and inside a sentence: nouns that say
    which figure it is and nothing about its value.

    `scale` says how blocks are averaged: what is positive on logarithms. With `cells` the ratio is the geometric mean
    over these, by `weights` when there are any; a time that `is_mean_of_cells` is one already in each trial. A trial
    with fewer operations than `least` says too little about this figure for a verdict.
    """

    key: str
    title: str
    unit: str
    higher_is_better: bool
    scale: Scale
    extract: Callable[[TrialRecord], float]
    short: str
    cells: frozenset[CellKey] = frozenset()
    is_mean_of_cells: bool = False
    least: int = 1
    weights: FileWeights | None = None
    # Between what the true value of a trial lies, where a search or the end of a window leaves that open.
    bounds: Callable[[TrialRecord], tuple[float, float]] | None = None
    # How two contenders are paired, for what is not simply the ratio of their values.
    paired: Callable[[Cube, str, str], PairLogs] | None = None
    # By what share the value of a trial may be off, where its digits say so.
    finest: Callable[[TrialRecord], float] | None = None
