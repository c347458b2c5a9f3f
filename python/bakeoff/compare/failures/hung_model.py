"""Operations that never ended, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hung:
    """`operations` never ended, in `trials` of `of` trials.

    A trial can be marked for an operation that began after its window, which is in no count: `operations` is
    then 0.
    """

    operations: int
    trials: int
    of: int
