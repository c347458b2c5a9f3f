"""The one thing that a reader of the result must know beside it; immutable values, ready to be written as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bakeoff.compare.model.fact import Fact

# Every kind, the most important first. Those that are also gates have their names.
CaveatKind = Literal[
    "imported",
    "audit",
    "order turned",
    "other load",
    "generator stopped",
    "link",
    "generator",
    "schedule",
    "generator waited",
    "noise floor",
    "blocks",
    "not steady",
    "generator capacity",
    "incomplete",
    "left out",
    "cache",
    "short trials",
]


@dataclass(frozen=True)
class Caveat:
    """What speaks against a result: of which `kind`, of which `contender` (empty: of all), in how many `trials` of how
    many (0 of 0: of the run as a whole), and what it is `about`."""

    kind: CaveatKind
    contender: str
    trials: int
    of: int
    about: Fact

    @property
    def in_most(self) -> bool:
        """Whether it is of the whole run or of most of its trials: it comes before what is of a few."""
        return 2 * self.trials >= self.of


@dataclass(frozen=True)
class SuiteCaveat:
    """The weightiest of all suites of a campaign, with the suite."""

    suite: str
    caveat: Caveat


@dataclass(frozen=True)
class TrialsVoid(Fact):
    """`trials` of all `of` are void."""

    trials: int
    of: int


@dataclass(frozen=True)
class GeneratorStopped(Fact):
    """The generator was stopped in `trials` of `of`, for up to `lost_share` of a window."""

    trials: int
    of: int
    lost_share: float


@dataclass(frozen=True)
class ShortTrials(Fact):
    """`trials` of `of` have too few operations for a p99."""

    trials: int
    of: int
    fewest_operations: int
