"""What each contender came to in each block, for itself: by which runs of other days can be held against this one."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.load.load_step import LoadStep


@dataclass(frozen=True)
class Level:
    """One contender: `values` has one for each block, NaN where it has none at some load step; `lost` trials were
    forfeited.
    """

    contender: str
    values: tuple[float, ...]
    forfeited: int


@dataclass(frozen=True)
class Levels:
    """The primary metric by contender and block: its geometric mean over `load_steps`, weighted as verdicts weigh
    them.
    """

    metric: str
    title: str
    unit: str
    higher_is_better: bool
    load_steps: tuple[LoadStep, ...]
    blocks: tuple[int, ...]
    contenders: tuple[Level, ...]
