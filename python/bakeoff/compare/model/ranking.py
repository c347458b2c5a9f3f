"""Where each of three and more contenders stands."""

from __future__ import annotations

from dataclasses import dataclass

DISQUALIFIED = "disqualified"


def place_words(first: int | None, last: int | None) -> str:
    """ "1", "2–3", "disqualified"."""
    if first is None:
        return DISQUALIFIED
    return f"{first}" if first == last else f"{first}–{last}"


@dataclass(frozen=True)
class Place:
    """The places, `first` to `last`, that a contender may have by the verdicts: more than one where its order is not
    certain. `ratio` is that to the baseline with its interval: 1 without one for the baseline itself, NaN where nothing
    can be compared. A disqualified contender has no place: `first` and `last` are None.
    """

    contender: str
    first: int | None
    last: int | None
    ratio: float
    low: float
    high: float
    better_than: tuple[str, ...]
    worse_than: tuple[str, ...]

    @property
    def words(self) -> str:
        return place_words(self.first, self.last)
