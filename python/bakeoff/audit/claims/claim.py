"""A claim: a percentage or a ratio, and as much as its sentence says of what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# more: ratio − 1, as of a rate that rises. less: 1 − ratio, as of a time that falls.
Direction = Literal["more", "less", ""]
Quantity = Literal["at most", "at least", "mean", ""]


@dataclass(frozen=True)
class Claim:
    """`number` are the digits as they stand; `times` are ratios ("2.4 times as fast") and not percentages. Names and
    metric are empty where the sentence has none. `low_load` and `high_load` bound the loads that it speaks of.
    """

    text: str
    number: str
    file: str
    line: int
    times: bool = False
    direction: Direction = ""
    quantity: Quantity = ""
    names: tuple[str, ...] = ()
    metric: str = ""
    low_load: float | None = None
    high_load: float | None = None
