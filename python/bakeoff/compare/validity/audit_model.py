"""What audits hold trials to, and how a trial falls short of it, as data. Kinds of suites have more of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bakeoff.compare.model.fact import Fact

# What the edges of a window cut of each session: an operation, or the longest of them, or of its iterations.
Edges = Literal["operation", "longest"]


@dataclass(frozen=True)
class LittleRule(Fact):
    """Little's law, to this `share` and what the `edges` of the window cut; where some were `filling` and checking
    data, with these sessions.
    """

    share: float
    edges: Edges
    filling: bool


@dataclass(frozen=True)
class StartsRule(Fact):
    """A rate starts as many as its shape has in the window, to so many standard deviations of what is at random."""

    deviations: float


@dataclass(frozen=True)
class FatesRule(Fact):
    """Each start has one fate."""


@dataclass(frozen=True)
class CountsRule(Fact):
    """Operations and errors add up to the total."""


@dataclass(frozen=True)
class BytesRule(Fact):
    """So do bytes."""


@dataclass(frozen=True)
class RatesRule(Fact):
    """Rates are operations over time."""


@dataclass(frozen=True)
class ContentRule(Fact):
    """Bytes per operation agree with the baseline's to a `share`, `header_bytes` aside, in classes of so many
    `operations` or more.
    """

    header_bytes: int
    operations: int
    share: float


@dataclass(frozen=True)
class CellsRule(Fact):
    """All tried the same cells; where bytes were `counted`, they are those of their transfers."""

    counted: bool


@dataclass(frozen=True)
class SteadyRule(Fact):
    """Rates of whole seconds, of `fewest_s` or more, do not move by more than this `share` and chance."""

    fewest_s: int
    share: float


@dataclass(frozen=True)
class OffSessions(Fact):
    """So many sessions there were, so many are implied."""

    sessions: int
    implied: float


@dataclass(frozen=True)
class OffStarts(Fact):
    """So many starts there were, so many are expected."""

    starts: int
    expected: float


@dataclass(frozen=True)
class OffRate(Fact):
    """A rate that is not its operations over its window."""

    per_s: float
    operations: int
    window_s: float


@dataclass(frozen=True)
class Unequal(Fact):
    """The sum of `what` is not the total."""

    what: str
    sum: int
    total: int


@dataclass(frozen=True)
class OtherSize(Fact):
    """Bytes per operation of a class, and those of another contender."""

    name: str
    size_bytes: float
    other: str
    other_bytes: float


@dataclass(frozen=True)
class CellBytes(Fact):
    """Bytes that a test moved, and those that it should have."""

    test: str
    moved: int
    due: int


@dataclass(frozen=True)
class NotMeasuredCells(Fact):
    """So many cells of one contender the other did not try."""

    cells: int
    of: str
    by: str
