"""What the statistics say of a campaign: immutable values, ready to be written as JSON.

Ratios are contender divided by baseline as in each suite; the ratio over all suites is turned so that above 1 is
better, since suites of response times and of rates are in it together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from bakeoff.compare.advice.caveat_model import SuiteCaveat
from bakeoff.compare.collections.challenge_model import CampaignChallenge
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.factor import EffectVerdict
from bakeoff.compare.model.pair import Verdict
from bakeoff.compare.model.plain import Words, as_dict, no_words, nulled
from bakeoff.compare.verdict.why_open import Open

SCHEMA = "bakeoff-campaign/1"


@dataclass(frozen=True)
class SuiteVerdict:
    """The primary endpoint of a pair in a suite, in the family of all of them: `p_family` and `q_family` are the p
    values of difference and equivalence after Holm over `family` of them. `kind` is the verdict that is left then,
    `winner` who is better by it; `verdict` is that of the suite by itself, which is not shown in the family where it is
    not `left`, and `still` what an answer would take. `floor` is what equals differ by at most in so many blocks of
    this set-up, 0.02 for 2 %, NaN where it was not measured.
    """

    suite: str
    baseline: str
    contender: str
    ratio: float
    low: float
    high: float
    p_family: float
    q_family: float
    family: int
    kind: str
    winner: str | None
    verdict: Verdict
    left: bool
    still: Open | None
    floor: float = math.nan


@dataclass(frozen=True)
class SuiteEffect:
    """What a factor does in a suite, or an interaction, in the family of all effects of all suites: `p_family` and
    `q_family` are the p values of difference and equivalence after Holm over `family` of them. `kind` is the verdict
    that is left then; `verdict`, `left` and `still` are as those of `SuiteVerdict`.
    """

    suite: str
    factors: tuple[str, ...]
    below: tuple[str, ...]
    above: tuple[str, ...]
    ratio: float
    low: float
    high: float
    p_family: float
    q_family: float
    family: int
    kind: str
    verdict: EffectVerdict
    left: bool
    still: Open | None

    @property
    def is_main(self) -> bool:
        """Whether it is the effect of one factor by itself."""
        return len(self.factors) == 1


@dataclass(frozen=True)
class FewBlocks(Fact):
    """A suite has too few blocks for a verdict."""

    suite: str
    blocks: int


@dataclass(frozen=True)
class WithheldIn(Fact):
    """A suite withholds its verdict."""

    suite: str
    verdict: Verdict


@dataclass(frozen=True)
class NotBothIn(Fact):
    """In these suites there is no ratio of the two."""

    suites: tuple[str, ...]


@dataclass(frozen=True)
class NotShown(Fact):
    """The difference is not shown; without an interval nobody can tell."""

    has_interval: bool


@dataclass(frozen=True)
class BelowDelta(Fact):
    """The difference is smaller than what matters."""

    delta: float


@dataclass(frozen=True)
class LeaderForfeited(Fact):
    """Who is ahead lost trials outright in a suite."""

    contender: str
    suite: str


@dataclass(frozen=True)
class OverallPair:
    """Two contenders over all suites in which both are: the weighted geometric mean of the suites' ratios, turned so
    that above 1 is better for `contender`. `why_not` is what else keeps the order from being certain. `floor` is what
    equals differ by at most where the set-up errs to the same side in all of these suites, NaN where that was not
    measured for one of them.
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
    why_not: tuple[Fact, ...]
    floor: float = math.nan


@dataclass(frozen=True)
class NotMeasuredIn(Fact):
    """Who was not measured in these suites has no place."""

    suites: tuple[str, ...]


@dataclass(frozen=True)
class Disqualified(Fact):
    """Whose content or mail accounting is wrong in some suite has no place."""


@dataclass(frozen=True)
class NoOtherContender(Fact):
    """Nobody is the best of one: nobody else was measured in all suites."""


@dataclass(frozen=True)
class OverallPlace:
    """The places that a contender may have over all suites; None for one that has no place, and `no_place` says why: it
    is disqualified in some suite, or was not measured in all of them.
    """

    contender: str
    first: int | None
    last: int | None
    better_than: tuple[str, ...]
    no_place: Fact | None = None


@dataclass(frozen=True)
class SuiteResult:
    """A suite with its own comparison, and its weight in the ranking; without a comparison, why there is none. `absent`
    are contenders of the campaign that were not measured in it, with why.
    """

    name: str
    weight: float
    comparison: Comparison | None
    # Why there is no more of it; empty of one that is whole, or has not begun.
    missing: str
    absent: dict[str, str] = field(default_factory=dict)
    # Those of `absent` that were planned for it; the others have no reason.
    dead: tuple[str, ...] = ()
    # After how many of the planned blocks it was put aside.
    put_aside: tuple[int, int] | None = None

    @property
    def is_missing(self) -> bool:
        """Whether nothing or not all of it was measured."""
        return self.comparison is None or bool(self.missing)


def compared(suites: Iterable[SuiteResult]) -> list[tuple[SuiteResult, Comparison]]:
    """Those that have figures, with these."""
    return [(suite, suite.comparison) for suite in suites if suite.comparison is not None]


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
    # Where the contenders are combinations of levels.
    effects: tuple[SuiteEffect, ...] = ()
    # Where it challenges a report.
    challenge: CampaignChallenge | None = None
    # The weightiest caveat of its suites.
    caveat: SuiteCaveat | None = None

    @property
    def winner(self) -> str | None:
        """Who is certainly first over all suites, among several."""
        first = [place.contender for place in self.places if place.first == place.last == 1]
        return first[0] if first and len(self.contenders) > 1 else None

    @property
    def whole(self) -> bool:
        """Whether every suite was carried out, with everybody who was planned for it."""
        return not any(suite.is_missing or suite.dead for suite in self.suites)

    def to_dict(self, words: Words = no_words) -> dict[str, Any]:
        """Plain JSON values, with the `words` for them; NaN is null."""
        bare = replace(self, suites=tuple(replace(suite, comparison=None) for suite in self.suites))
        plain: dict[str, Any] = nulled(as_dict(bare, words))
        for one, suite in zip(plain["suites"], self.suites, strict=True):
            one["comparison"] = None if suite.comparison is None else suite.comparison.to_dict(words)
        return plain
