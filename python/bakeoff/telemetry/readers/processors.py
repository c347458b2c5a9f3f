"""Each processor of a machine: for how much of the window it worked, and whichever worked most."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# More than these are not told apart.
MOST_PROCESSORS = 1_024
# The busiest one is searched for in stretches of this length: ticks are counted a hundred times a second, so that in
# less some processor of many is always busy by chance.
STRETCH_S = 1.0
# By states of processors; what a hypervisor took is in neither.
WORKING, IDLE = ("user", "nice", "system", "irq", "softirq"), ("idle", "iowait")


@dataclass(frozen=True)
class Spent:
    """Seconds by the number of the processor: `worked_s`, of `left_s` that a hypervisor left of it. NaN where there is
    no such processor, or nobody knows.
    """

    worked_s: array[float]
    left_s: array[float]

    def since(self, before: Spent) -> Spent:
        """What was spent after `before`. What counts less than it did was started again."""
        grown = [
            _grown(*four) for four in zip(self.worked_s, self.left_s, before.worked_s, before.left_s, strict=False)
        ]
        return Spent(array("d", (worked for worked, _ in grown)), array("d", (left for _, left in grown)))

    def with_(self, other: Spent) -> Spent:
        """Both together, where both know a processor."""
        pairs = ((self.worked_s, other.worked_s), (self.left_s, other.left_s))
        worked, left = (array("d", map(float.__add__, *both)) for both in pairs)
        return Spent(worked, left)

    def shares(self) -> list[float]:
        """Of each processor, 0 to 1."""
        spent = zip(self.worked_s, self.left_s, strict=True)
        return [min(1.0, worked / left) if left > 0.0 else math.nan for worked, left in spent]


def _grown(worked: float, left: float, worked_before: float, left_before: float) -> tuple[float, float]:
    known = worked >= worked_before and left >= left_before
    return (worked - worked_before, left - left_before) if known else (math.nan, math.nan)


def worked_of(by_state: Mapping[str, float]) -> tuple[float, float]:
    """How long a processor worked, and what of it a hypervisor left; NaN where nothing is told."""
    if not by_state:
        return math.nan, math.nan
    worked_s = sum(by_state.get(state, 0.0) for state in WORKING)
    return worked_s, worked_s + sum(by_state.get(state, 0.0) for state in IDLE)


def spent_of(rows: Mapping[int, tuple[float, float]]) -> Spent | None:
    """From (worked, left) in seconds by processor; None where there is none below `MOST_PROCESSORS`."""
    known = {number: row for number, row in rows.items() if 0 <= number < MOST_PROCESSORS}
    if not known:
        return None
    unused = (math.nan, math.nan)
    listed = [known.get(number, unused) for number in range(max(known) + 1)]
    return Spent(array("d", (worked for worked, _ in listed)), array("d", (left for _, left in listed)))


@dataclass(frozen=True)
class ProcessorShares:
    """`each` processor's share of the window by its number, None where nobody knows; `busiest` is that of whichever
    worked most in a second, mean over the seconds.
    """

    each: tuple[float | None, ...] = ()
    busiest: float | None = None


def in_window(spans: Iterable[tuple[float, float, Spent | None]], begin_s: float, end_s: float) -> ProcessorShares:
    """Of spans (begin, length, what was spent) those that lie in the window; one at its edge counts by its share."""
    whole: _Sum = _Sum()
    stretch, busiest = _Sum(), list[tuple[float, float]]()
    for at_s, width_s, spent in spans:
        inside_s = min(end_s, at_s + width_s) - max(begin_s, at_s)
        if spent is None or inside_s <= 0.0 or width_s <= 0.0:
            continue
        share = min(1.0, inside_s / width_s)
        whole.add(spent, share, inside_s)
        stretch.add(spent, share, inside_s)
        if stretch.length_s >= 0.99 * STRETCH_S:
            busiest.append((stretch.length_s, stretch.busiest()))
            stretch = _Sum()
    if stretch.length_s >= STRETCH_S / 2 or not busiest:
        busiest.append((stretch.length_s, stretch.busiest()))
    known = [(length_s, share) for length_s, share in busiest if math.isfinite(share)]
    length_s = math.fsum(length_s for length_s, _ in known)
    mean = math.fsum(length_s * share for length_s, share in known) / length_s if length_s > 0.0 else math.nan
    return ProcessorShares(tuple(map(_finite, whole.shares())), _finite(mean))


class _Sum:
    """What was spent over several spans: of each processor where it is known."""

    def __init__(self) -> None:
        self.length_s = 0.0
        self._worked, self._left = list[float](), list[float]()

    def add(self, spent: Spent, share: float, inside_s: float) -> None:
        self.length_s += inside_s
        missing = len(spent.left_s) - len(self._left)
        self._worked += [0.0] * missing
        self._left += [0.0] * missing
        for number, (worked, left) in enumerate(zip(spent.worked_s, spent.left_s, strict=True)):
            if not math.isnan(left):
                self._worked[number] += share * worked
                self._left[number] += share * left

    def shares(self) -> list[float]:
        return Spent(array("d", self._worked), array("d", self._left)).shares()

    def busiest(self) -> float:
        return max((share for share in self.shares() if math.isfinite(share)), default=math.nan)


def _finite(share: float) -> float | None:
    return round(share, 4) if math.isfinite(share) else None
