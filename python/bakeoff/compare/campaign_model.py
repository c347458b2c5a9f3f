"""What the statistics say of a campaign: immutable values, ready to be written as JSON.

Ratios are contender divided by baseline as in each suite; the ratio over all suites is turned so that above 1 is
better, since suites of response times and of rates are in it together.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from bakeoff.compare.model import Comparison
from bakeoff.compare.plain import as_dict, nulled

SCHEMA = "bakeoff-campaign/1"


@dataclass(frozen=True)
class SuiteVerdict:
    """The primary endpoint of a pair in a suite, in the family of all of them: `p_family` and `q_family` are the p
    values of difference and equivalence after Holm over `family` of them. `kind` and `text` are the verdict that is
    left then, `winner` who is better by it.
    """

    suite: str
    baseline: str
    contender: str
    ratio: float
    low: float
    high: float
    p_family: float
    q_family: float
    kind: str
    winner: str | None
    text: str


@dataclass(frozen=True)
class OverallPair:
    """Two contenders over all suites in which both are: the weighted geometric mean of the suites' ratios, turned so
    that above 1 is better for `contender`. `why_not` says what else keeps the order from being certain.
    """

    baseline: str
    contender: str
    suites: tuple[str, ...]
    ratio: float
    low: float
    high: float
    p: float
    p_adjusted: float
    winner: str | None
    why_not: str


@dataclass(frozen=True)
class OverallPlace:
    """The places that a contender may have over all suites; None for one that is disqualified in some suite."""

    contender: str
    first: int | None
    last: int | None
    better_than: tuple[str, ...]

    @property
    def words(self) -> str:
        """ "1", "2–3", "disqualified"."""
        if self.first is None:
            return "disqualified"
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True)
class SuiteResult:
    """A suite with its own comparison, and its weight in the ranking; without a comparison, why there is none."""

    name: str
    weight: float
    comparison: Comparison | None
    missing: str


@dataclass(frozen=True)
class CampaignComparison:
    """All of a campaign."""

    schema: str
    name: str
    title: str
    contenders: tuple[str, ...]
    suites: tuple[SuiteResult, ...]
    verdicts: tuple[SuiteVerdict, ...]
    overall: tuple[OverallPair, ...]
    places: tuple[OverallPlace, ...]
    headline: tuple[str, ...]
    headline_kinds: tuple[str, ...]

    @property
    def winner(self) -> str | None:
        """Who is certainly first over all suites."""
        first = [place.contender for place in self.places if place.first == place.last == 1]
        return first[0] if first else None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; NaN is null."""
        bare = replace(self, suites=tuple(replace(suite, comparison=None) for suite in self.suites))
        plain: dict[str, Any] = nulled(as_dict(bare))
        for one, suite in zip(plain["suites"], self.suites, strict=True):
            one["comparison"] = None if suite.comparison is None else suite.comparison.to_dict()
        return plain

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)
