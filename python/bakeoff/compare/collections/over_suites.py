"""The order over the suites of a campaign: the weighted geometric mean of their ratios, suites as strata."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from bakeoff.compare.collections.campaign_model import (
    BelowDelta,
    Disqualified,
    FewBlocks,
    LeaderForfeited,
    NoOtherContender,
    NotBothIn,
    NotMeasuredIn,
    NotShown,
    OverallPair,
    OverallPlace,
    SuiteResult,
    WithheldIn,
    compared,
)
from bakeoff.compare.estimate.interim import LEVEL, ONLY_ANALYSIS
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import PairComparison
from bakeoff.compare.planning.noise import floor_of
from bakeoff.compare.verdict.ranking import beaten, possible_places, wrong_content
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.stats import Stratum, holm, over_strata


def strictness(one: Comparison) -> float:
    """By how much its analysis makes a suite stricter than one that is analysed once: so its p values count."""
    return 1.0 if one.run.interim is None else ONLY_ANALYSIS.alpha / one.run.interim.alpha


@dataclass(frozen=True)
class _Part:
    """What a suite says of a pair: ln(ratio), above 0 good for the second, as a stratum by the weight of the suite."""

    suite: str
    stratum: Stratum
    trouble: Fact | None
    # By either contender: pairs of trials that it forfeited, of which no ratio tells how far it was behind.
    forfeited: Mapping[str, int]
    # By how much the analysis of its run makes it stricter, and the level of the intervals of that.
    times: float = 1.0
    level: float = LEVEL
    # What equals differ by at most in so many blocks of it.
    floor: float = math.nan


def over_suites(contenders: Sequence[str], suites: Sequence[SuiteResult]) -> tuple[OverallPair, ...]:
    pairs = [(pair, _parts(pair, suites)) for pair in combinations(contenders, 2)]
    joint = [(pair, parts, *_joint(parts)) for pair, parts in pairs if parts]
    adjusted = holm([p for *_, p in joint])
    return tuple(
        _overall_pair(pair, parts, ratio, low, high, p, float(after), suites)
        for (pair, parts, ratio, low, high, p), after in zip(joint, adjusted, strict=True)
    )


def _parts(pair: tuple[str, str], suites: Sequence[SuiteResult]) -> list[_Part]:
    return [
        part
        for suite, comparison in compared(suites)
        for one in comparison.pairs
        if {one.baseline, one.contender} == set(pair) and (part := _part(suite, comparison, one, pair)) is not None
    ]


def _part(suite: SuiteResult, comparison: Comparison, one: PairComparison, pair: tuple[str, str]) -> _Part | None:
    end = one.primary
    if not end.blocks or not end.ratio > 0.0 or math.isinf(end.ratio):
        return None
    log = math.log(end.ratio) * (1.0 if end.higher_is_better else -1.0)
    if one.baseline != pair[0]:
        log = -log
    few = None if end.blocks >= MINIMUM_BLOCKS else FewBlocks(suite.name, end.blocks)
    withheld = WithheldIn(suite.name, end.verdict) if end.verdict.kind in ("withheld", "disqualified") else None
    interim = comparison.run.interim or ONLY_ANALYSIS
    stratum = Stratum(suite.weight, log, end.log_sd / math.sqrt(end.blocks), end.blocks - 1)
    trouble, times, floor = withheld or few, strictness(comparison), floor_of(comparison, end.blocks)
    return _Part(suite.name, stratum, trouble, end.forfeited, times, interim.level, floor)


def _joint(parts: Sequence[_Part]) -> tuple[float, float, float, float]:
    """Ratio, its interval and the p value of no difference, over suites as strata: both as strict as the strictest
    analysis of a suite.
    """
    strata = [replace(part.stratum, weight=weight) for part, weight in zip(parts, _weights(parts), strict=True)]
    found = over_strata(strata, max(part.level for part in parts))
    p = found.p if math.isnan(found.p) else min(1.0, found.p * max(part.times for part in parts))
    return math.exp(found.mean), math.exp(found.low), math.exp(found.high), p


def _weights(parts: Sequence[_Part]) -> list[float]:
    """Those of suites, which add up to 1."""
    whole = sum(part.stratum.weight for part in parts)
    return [part.stratum.weight / whole for part in parts]


def _overall_pair(
    pair: tuple[str, str],
    parts: Sequence[_Part],
    ratio: float,
    low: float,
    high: float,
    p: float,
    adjusted: float,
    suites: Sequence[SuiteResult],
) -> OverallPair:
    without = [suite.name for suite in suites if suite.name not in [part.suite for part in parts]]
    reasons = [part.trouble for part in parts if part.trouble]
    if without:
        reasons.append(NotBothIn(tuple(without)))
    delta = max(one.run.delta for _, one in compared(suites))
    if math.isnan(adjusted) or not adjusted <= ONLY_ANALYSIS.alpha:
        reasons.append(NotShown(not math.isnan(adjusted)))
    elif abs(math.log(ratio)) < math.log1p(delta):
        reasons.append(BelowDelta(delta))
    leader = pair[1] if ratio > 1.0 else pair[0]
    reasons += [LeaderForfeited(leader, part.suite) for part in parts if part.forfeited.get(leader)]
    names = tuple(part.suite for part in parts)
    winner = None if reasons else leader
    return OverallPair(*pair, names, ratio, low, high, p, adjusted, winner, tuple(reasons), _joint_floor(parts))


def _joint_floor(parts: Sequence[_Part]) -> float:
    """What equals would differ by where the set-up errs to the same side in every suite, which is the worst case."""
    floors = [math.log1p(part.floor) for part in parts]
    return math.expm1(sum(weight * floor for weight, floor in zip(_weights(parts), floors, strict=True)))


def places_over(
    contenders: Sequence[str], suites: Sequence[SuiteResult], overall: Sequence[OverallPair]
) -> tuple[OverallPlace, ...]:
    """As in a run: one stands above another only where it is certain. Only who was measured in every suite that has
    figures has a place: what a contender would have done where it was not is not known.
    """
    there = [suite for suite, _ in compared(suites)]
    absent = {name: tuple(suite.name for suite in there if name in suite.absent) for name in contenders}
    no_place: dict[str, Fact] = {name: NotMeasuredIn(where) for name, where in absent.items() if where}
    wrong = wrong_content(pair for _, one in compared(suites) for pair in one.pairs)
    no_place |= dict.fromkeys(wrong, Disqualified())
    ranked = [name for name in contenders if name not in no_place]
    if len(ranked) == 1 and any(one != Disqualified() for one in no_place.values()):
        # Nobody is the best of one.
        no_place[ranked.pop()] = NoOtherContender()
    won = [(pair.winner, pair.baseline, pair.contender) for pair in overall]
    over = {name: beaten(won, name, ranked) if name in ranked else () for name in contenders}
    places = []
    for name in contenders:
        first, last = possible_places(name, over, ranked)
        places.append(OverallPlace(name, first, last, over[name], no_place.get(name)))
    return tuple(sorted(places, key=lambda place: (place.first is None, place.first or 0, place.last or 0)))
