"""Which intervals are printed, and how they are turned."""

from __future__ import annotations

import math

from bakeoff.core.thresholds import MINIMUM_BLOCKS


def shown(end: float, blocks: int) -> float:
    """The end of an interval, NaN under six blocks: with two or three it is as wide as the number of blocks is small,
    and says nothing of the servers.
    """
    return end if blocks >= MINIMUM_BLOCKS else math.nan


def both_shown(low: float, high: float, blocks: int) -> tuple[float, float]:
    """Both ends of it."""
    return shown(low, blocks), shown(high, blocks)


def turned(low: float, high: float) -> tuple[float, float]:
    """The interval of 1 / ratio, from that of a ratio."""
    return 1.0 / high if high else math.nan, 1.0 / low if low else math.inf


def ratio_of(log: float) -> float:
    """e to this power, which is a number however far out it lies; NaN of NaN."""
    return math.exp(min(log, 700.0)) if not math.isnan(log) else math.nan
