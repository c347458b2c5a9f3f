"""Arithmetic on intervals: what is calculated from printed digits is known as well as those digits tell, and no better.

Source: R. E. Moore, Interval Analysis, 1966. Ends are arrays of one shape; NaN stands where a number is not stated, and
nothing can be said of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

# Ends are floating point: what meets but for their own rounding does meet.
GUARD = 1e-12


@dataclass(frozen=True)
class Interval:
    """Values from `low` to `high`, one interval for each place of the arrays."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, low: npt.ArrayLike, high: npt.ArrayLike | None = None) -> Interval:
        """From `low` to `high`, or the exact values `low`."""
        below = np.asarray(low, dtype=np.float64)
        return cls(below, below if high is None else np.asarray(high, dtype=np.float64))

    def __len__(self) -> int:
        return int(self.low.size)

    def __getitem__(self, places: int | Bools | list[int] | slice) -> Interval:
        return Interval(np.asarray(self.low[places]), np.asarray(self.high[places]))

    @property
    def middle(self) -> Floats:
        """What was printed, where it was rounded to the nearest."""
        return (self.low + self.high) / 2

    @property
    def known(self) -> Bools:
        """Where there is a number."""
        return ~(np.isnan(self.low) | np.isnan(self.high))

    def __add__(self, other: Interval | float) -> Interval:
        that = _interval(other)
        return Interval(self.low + that.low, self.high + that.high)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Interval | float) -> Interval:
        return self + -_interval(other)

    def __mul__(self, other: Interval | float) -> Interval:
        that = _interval(other)
        ends = (self.low * that.low, self.low * that.high, self.high * that.low, self.high * that.high)
        return Interval(reduce(np.minimum, ends), reduce(np.maximum, ends))

    def __truediv__(self, other: Interval | float) -> Interval:
        """Not known where `other` may be 0."""
        that = _interval(other)
        certain = (that.low > 0) | (that.high < 0)
        with np.errstate(all="ignore"):
            inverse = Interval(np.where(certain, 1 / that.high, np.nan), np.where(certain, 1 / that.low, np.nan))
        return self * inverse

    def square_root(self) -> Interval:
        """Of what is at least 0."""
        return Interval(np.sqrt(np.maximum(self.low, 0)), np.sqrt(np.maximum(self.high, 0)))

    def widened(self, by: float | Floats) -> Interval:
        """`by` more at each end."""
        return Interval(self.low - by, self.high + by)

    def at_least(self, least: float) -> Interval:
        """What of it is `least` or more."""
        return Interval(np.maximum(self.low, least), np.maximum(self.high, least))

    def meets(self, other: Interval | float) -> Bools:
        """Where both have a value in common; also where nothing is known."""
        return ~(self.is_below(other) | _interval(other).is_below(self))

    def is_below(self, other: Interval | float) -> Bools:
        """Where every value is less than each of `other`."""
        that = _interval(other)
        guard = GUARD * np.maximum(np.abs(self.high), np.abs(that.low))
        with np.errstate(invalid="ignore"):
            return np.asarray(self.high < that.low - guard)

    def gap(self, other: Interval | float) -> Floats:
        """How far apart they are, as a share of `other`'s middle; 0 where they meet."""
        that = _interval(other)
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.maximum(np.maximum(self.low - that.high, that.low - self.high), 0.0) / np.abs(that.middle)
        return np.asarray(np.where(self.meets(that), 0.0, apart))


def sum_of(parts: list[Interval]) -> Interval:
    """The sum of one or more."""
    return reduce(lambda one, other: one + other, parts)


def sum_over(interval: Interval) -> Interval:
    """The sum of all places that are known, as an interval of one."""
    return Interval.of(np.nansum(interval.low), np.nansum(interval.high))


def most_common(candidates: Interval) -> tuple[float, int]:
    """The value that most of the intervals have, and how many do. 0 intervals have none: (NaN, 0).

    It is the middle of the first stretch where most overlap.
    """
    known = candidates[candidates.known]
    if not len(known):
        return float("nan"), 0
    ends = np.concatenate((known.low, known.high))
    steps = np.concatenate((np.ones(len(known)), -np.ones(len(known))))
    order = np.lexsort((-steps, ends))  # where one ends and another begins they have a value in common
    depth = np.cumsum(steps[order])
    at = int(np.argmax(depth))
    begin, end = ends[order][at], ends[order][min(at + 1, len(order) - 1)]
    return float((begin + end) / 2), int(depth[at])


def _interval(value: Interval | float) -> Interval:
    return value if isinstance(value, Interval) else Interval.of(value)
