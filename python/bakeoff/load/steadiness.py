"""The steadiness of a trial: whether its rate was steady, second by second, inside of the measured window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from bakeoff.store.records.marks import CHANGED_RATE, DRIFTING, WARMING_UP, Mark

if TYPE_CHECKING:
    from bakeoff.stats.series.stationarity import Steadiness

WINDOW = "window"
ROUNDING_S = 1e-6
# `bakeoff.stats.series.stationarity.FEWEST_ROWS`, which takes a moment to load: a test holds them equal.
FEWEST_SECONDS = 20


class Second(Protocol):
    """A row of a trial's series, as it is measured and as it is stored."""

    @property
    def phase(self) -> str: ...
    @property
    def operations(self) -> int: ...
    @property
    def width_s(self) -> float: ...


def rates(seconds: Sequence[Second]) -> list[float]:
    """Operations per second of each whole second of the window. What is left at the end of the load is none: nothing
    begins there any more.
    """
    width_s = max((second.width_s for second in seconds), default=0.0)
    if not 0.0 < width_s < math.inf:  # a file may hold anything
        return []
    whole = [second for second in seconds if second.width_s >= width_s - ROUNDING_S]
    inside = [second for second in whole[:-1] if second.phase == WINDOW]
    return [max(0, second.operations) / width_s for second in inside]


def steadiness_of(seconds: Sequence[Second]) -> Steadiness | None:
    """How steady it was; None where it is too short to judge."""
    measured = rates(seconds)
    if len(measured) < FEWEST_SECONDS:
        return None
    from bakeoff.stats.series.stationarity import steadiness  # NumPy takes a moment to load

    return steadiness(measured)


def steadiness_marks(seconds: Sequence[Second]) -> list[Mark]:
    """What was not steady, as marks of the trial."""
    found = steadiness_of(seconds)
    if found is None:
        return []
    named: tuple[tuple[Mark, bool], ...] = (
        (WARMING_UP, found.settled > 0),
        (CHANGED_RATE, bool(found.changes)),
        (DRIFTING, found.growth != 1.0),
    )
    return [mark for mark, there in named if there]
