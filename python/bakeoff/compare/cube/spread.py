"""Blocks that disagree: a machine or a server that has two speeds."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from bakeoff.load.load_step import Mix
from bakeoff.store.records.run_records import TrialRecord

FACTOR = 2.0


@dataclass(frozen=True)
class Spread:
    """Lowest and highest rate of one contender at `mix`, per second; `mixes` are as bad as that. `gap` is the largest
    factor between two blocks that are neighbours by rate.
    """

    mix: Mix
    lowest: float
    highest: float
    mixes: int
    gap: float

    @property
    def factor(self) -> float:
        """How many times the lowest the highest is; infinite where one is 0."""
        return self.highest / self.lowest if self.lowest > 0.0 else math.inf


def widest(usable: list[TrialRecord]) -> Spread | None:
    """The mix at which the blocks of one contender differ most, when that is by more than `FACTOR`."""
    rates: dict[Mix, list[float]] = defaultdict(list)
    for trial in usable:
        rates[trial.mix].append(trial.operations_per_s)
    wide = {mix: measured for mix, measured in rates.items() if max(measured) > FACTOR * min(measured)}
    if not wide:
        return None
    worst = max(wide, key=lambda mix: max(wide[mix]) / min(wide[mix]))
    rising = sorted(wide[worst])
    gap = max(after / before if before > 0.0 else math.inf for before, after in pairwise(rising))
    return Spread(worst, rising[0], rising[-1], len(wide), gap)
