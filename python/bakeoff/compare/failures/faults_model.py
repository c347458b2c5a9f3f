"""What a contender did wrong to the data in its care, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """Faults of one `source` in `trials` trials of a contender: how many of each class, of how many things."""

    source: str
    counts: dict[str, int]
    of: int
    trials: int
