"""Blocks that disagree: a machine or a server that has two speeds."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from bakeoff.mix import Mix
from bakeoff.report.narrate import wording
from bakeoff.store.records import TrialRecord

FACTOR = 2.0


@dataclass(frozen=True)
class Spread:
    """Lowest and highest rate of one contender at `mix`, per second; `mixes` are as bad as that. `gap` is the largest
    factor between two blocks that are neighbours by rate.
    """

    mix: Mix
    low: float
    high: float
    mixes: int
    gap: float

    def text(self, name: str, work: str) -> str:
        """One clause for a verdict or a warning."""
        return f"figures of {name} at {self.mix.words} vary {self._between} {work}/s between blocks{self._more}"

    def also(self, name: str) -> str:
        """The same of another contender, after the clause of the first."""
        return f"those of {name} at {self.mix.words} {self._between}{self._more}"

    def caveat(self, name: str, work: str) -> str:
        """What a reader of the mean must know: two speeds where one gap is most of the way between the ends."""
        two = self.gap * self.gap > self.factor
        why = "two speeds, a mean of both describes neither" if two else "no mean describes such blocks"
        return f"{name} did {self._between} {work}/s at {self.mix.words}: {why}"

    @property
    def factor(self) -> float:
        """How many times the lowest the highest is; infinite where one is 0."""
        return self.high / self.low if self.low > 0.0 else math.inf

    @property
    def _between(self) -> str:
        return f"from {wording.rate(self.low)} to {wording.rate(self.high)}"

    @property
    def _more(self) -> str:
        return f", and at {wording.plural(self.mixes - 1, 'more mix', 'more mixes')} likewise" if self.mixes > 1 else ""


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
