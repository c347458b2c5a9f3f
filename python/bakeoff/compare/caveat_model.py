"""The one thing that a reader of the result must know beside it; immutable values, ready to be written as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Every kind, the most important first. Those that are also gates have their names.
CaveatKind = Literal[
    "imported",
    "audit",
    "order in time",
    "other load",
    "generator stopped",
    "link",
    "generator",
    "schedule",
    "generator waited",
    "noise floor",
    "blocks",
    "not steady",
    "ceiling",
    "incomplete",
    "left out",
    "cache",
    "short trials",
]


@dataclass(frozen=True)
class Caveat:
    """What speaks against a result: of which `kind`, of which `contender` (empty: of all), in how many `trials` of how
    many (0 of 0: of the run as a whole). `figures` are the numbers of `text`, by what they are: rates per second,
    shares between 0 and 1, bytes.
    """

    kind: CaveatKind
    contender: str
    trials: int
    of: int
    figures: dict[str, float]
    text: str

    @property
    def in_most(self) -> bool:
        """Whether it is of the whole run or of most of its trials: it comes before what is of a few."""
        return 2 * self.trials >= self.of

    @property
    def sentence(self) -> str:
        """As it stands in the box beside the result."""
        return f"Beware: {self.text}."


@dataclass(frozen=True)
class SuiteCaveat:
    """The weightiest of all suites of a campaign, with the suite."""

    suite: str
    caveat: Caveat

    @property
    def sentence(self) -> str:
        """As it stands in the box beside the result."""
        return f"Beware, in {self.suite}: {self.caveat.text}."
