"""Which intervals are printed."""

from __future__ import annotations

import math

from bakeoff.thresholds import MINIMUM_BLOCKS


def shown(end: float, blocks: int) -> float:
    """The end of an interval, NaN under six blocks: with two or three it is as wide as the number of blocks is small,
    and says nothing of the servers.
    """
    return end if blocks >= MINIMUM_BLOCKS else math.nan
