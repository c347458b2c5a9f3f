"""Blocks that disagree: a machine or a server that has two speeds."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.run_records import TrialRecord

FACTOR = 2.0


@dataclass(frozen=True)
class RateSpread:
    """Lowest and highest rate of one contender at `load_step`, per second; `load_steps` are as bad as that. `gap` is
    the largest factor between two blocks that are neighbours by rate.
    """

    load_step: LoadStep
    lowest: float
    highest: float
    load_steps: int
    gap: float

    @property
    def factor(self) -> float:
        """How many times the lowest the highest is; infinite where one is 0."""
        return self.highest / self.lowest if self.lowest > 0.0 else math.inf


def widest(usable: list[TrialRecord]) -> RateSpread | None:
    """The load step at which the blocks of one contender differ most, when that is by more than `FACTOR`."""
    rates: dict[LoadStep, list[float]] = defaultdict(list)
    for trial in usable:
        rates[trial.load_step].append(trial.operations_per_s)
    wide = {load_step: measured for load_step, measured in rates.items() if max(measured) > FACTOR * min(measured)}
    if not wide:
        return None
    worst = max(wide, key=lambda load_step: max(wide[load_step]) / min(wide[load_step]))
    rising = sorted(wide[worst])
    gap = max(after / before if before > 0.0 else math.inf for before, after in pairwise(rising))
    return RateSpread(worst, rising[0], rising[-1], len(wide), gap)
