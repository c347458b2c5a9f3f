"""Times of single operations out of logs with a line for each, in bounded memory: how often each whole number of ticks
was there.
"""

from __future__ import annotations

import math

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import count_of
from bakeoff.formats.foreign.table import ForeignValue, percentile
from bakeoff.formats.foreign.units import Unit

# Different times that are kept exactly; beyond them neighbours are put together, to three digits.
MOST_DIFFERENT = 200_000
SHARES = (50, 75, 90, 95, 99, 99.9)


class Samples:
    """Counts by whole ticks."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.count = 0

    def add(self, ticks: int) -> None:
        """One time."""
        self.count += 1
        if ticks in self.counts:
            self.counts[ticks] += 1
        else:
            self.new(ticks)

    def new(self, ticks: int) -> None:
        """A time that was not there before."""
        self.counts[ticks] = 1
        if len(self.counts) > MOST_DIFFERENT:
            rough: dict[int, int] = {}
            for each, number in self.counts.items():
                step = 10 ** max(0, len(str(each)) - 3)
                rough[each // step * step] = rough.get(each // step * step, 0) + number
            self.counts = rough

    def values(self, unit: Unit) -> dict[str, ForeignValue]:
        """Minimum, mean, maximum, deviation and percentiles, in ticks of `unit`; empty without any."""
        if not self.count:
            return {}
        ordered = sorted(self.counts.items())
        mean = math.fsum(ticks * number for ticks, number in ordered) / self.count
        spread = math.fsum(number * (ticks - mean) ** 2 for ticks, number in ordered)
        found = {table.MINIMUM: float(ordered[0][0]), table.MEAN: mean, table.MAXIMUM: float(ordered[-1][0])}
        if self.count > 1:
            found[table.DEVIATION] = math.sqrt(spread / (self.count - 1))
        wanted = [(percentile(share), math.ceil(share * self.count / 100 - 1e-6)) for share in SHARES]
        seen = 0
        for ticks, number in ordered:
            seen += number
            while wanted and seen >= wanted[0][1]:
                found[wanted.pop(0)[0]] = float(ticks)
        return {name: count_of(value, unit) for name, value in found.items()}
