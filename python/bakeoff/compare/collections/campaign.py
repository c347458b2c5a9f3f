"""From the runs of a campaign to one comparison: a primary endpoint for each suite, Holm over all of them, and an order
over the suites by their weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from types import MappingProxyType

from bakeoff.compare.advice.advice_model import OfFile
from bakeoff.compare.advice.caveat import of_suites
from bakeoff.compare.collections.campaign_model import (
    SCHEMA,
    BelowDelta,
    CampaignComparison,
    Disqualified,
    FewBlocks,
    HeldIn,
    LeaderForfeited,
    NoOtherContender,
    NotBothIn,
    NotMeasuredIn,
    NotShown,
    OverallPair,
    OverallPlace,
    SuiteEffect,
    SuiteResult,
    SuiteVerdict,
    compared,
)
from bakeoff.compare.collections.challenge import challenge_over_all
from bakeoff.compare.estimate.estimate import corrected
from bakeoff.compare.estimate.interim import LEVEL, ONLY_ANALYSIS
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.factor import Effect
from bakeoff.compare.model.pair import Endpoint, PairComparison
from bakeoff.compare.planning.noise import floor_of
from bakeoff.compare.planning.noise_model import NoiseFloor
from bakeoff.compare.run import compare_run
from bakeoff.compare.verdict.blocks_needed import block_lengths_s
from bakeoff.compare.verdict.blocks_needed_suites import open_among_all
from bakeoff.compare.verdict.ranking import beaten, possible_places, wrong_content
from bakeoff.compare.verdict.why_open import Open, why_of
from bakeoff.core.errors import PlanError
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.stats import Stratum, holm, over_strata
from bakeoff.store.collections.campaign import CampaignFolder
from bakeoff.store.collections.challenged import ChallengedCampaign
from bakeoff.store.records.absent import absent_of
from bakeoff.store.records.run_records import RunRecord

# What says that two are not equal, and so has to hold in the family of all suites.
UNEQUAL = ("better", "near_margin", "shown")


@dataclass(frozen=True)
class Measured:
    """A suite of a campaign as it was measured: `run` is None where it was not, and `missing` says why. `folder` is the
    name of the folder in which its run file lies.
    """

    name: str
    weight: float
    run: RunRecord | None
    missing: str = ""
    folder: str = ""
    # What an A/A run has shown of its set-up.
    noise: NoiseFloor | None = None
    # Whether it began, or was to, and was put aside for what is `missing`.
    put_aside: bool = False


def compare_campaign(
    name: str,
    title: str,
    contenders: tuple[str, ...],
    measured: Sequence[Measured],
    baseline: str | None = None,
    delta: float | None = None,
) -> CampaignComparison:
    """Compare all contenders over all suites. Raises PlanError as `compare_run` does."""
    # Blocks of suites take turns: none of them ends where the next one of its own suite begins.
    lengths = block_lengths_s({one.name: one.run for one in measured if one.run is not None})
    suites = tuple(_suite(one, contenders, baseline, delta, lengths.get(one.name)) for one in measured)
    verdicts = _verdicts(suites)
    overall = _overall(contenders, suites)
    places = _places(contenders, suites, overall)
    effects = _effects(suites)
    return CampaignComparison(
        schema=SCHEMA,
        name=name,
        title=title,
        contenders=contenders,
        suites=suites,
        verdicts=verdicts,
        overall=overall,
        places=places,
        effects=effects,
        caveat=of_suites({suite.name: suite.comparison for suite in suites if suite.comparison is not None}),
    )


def compare_folder(
    folder: CampaignFolder,
    baseline: str | None = None,
    delta: float | None = None,
    noise: Mapping[str, NoiseFloor] = MappingProxyType({}),
) -> CampaignComparison:
    """Compare what lies in the folder of a campaign; `noise` by suite is what A/A runs have shown of the set-up. Raises
    PlanError where the baseline is no contender of it, and as `compare_campaign` does.
    """
    campaign = folder.campaign
    if baseline is not None and baseline not in campaign.contenders:
        raise PlanError(f"there is no contender {baseline!r}: choose one of {', '.join(campaign.contenders)}")
    measured = [
        Measured(
            suite_run.name,
            suite_run.weight,
            folder.runs.get(suite_run.name),
            folder.faults.get(suite_run.name, ""),
            folder.path.name,
            noise.get(suite_run.name),
            suite_run.name in folder.faults,
        )
        for suite_run in campaign.suite_runs
    ]
    made = partial(compare_campaign, campaign.name, campaign.title, campaign.contenders)
    if folder.challenged is None:
        return made(measured, baseline, delta)
    found = made(_of_all_suites(folder.challenged, measured), baseline, delta)
    return replace(found, challenge=challenge_over_all(found.suites, folder.challenged))


def _of_all_suites(read: ChallengedCampaign, measured: Sequence[Measured]) -> list[Measured]:
    """Those of the report that is challenged: one that was left out is one without figures, for who stays away from a
    suite cannot win by the others.
    """
    known = {one.name: one for one in measured}
    return [known.get(suite.name) or Measured(suite.name, suite.weight, None, suite.left_out) for suite in read.suites]


def _suite(
    one: Measured, contenders: Sequence[str], baseline: str | None, delta: float | None, block_s: float | None
) -> SuiteResult:
    if one.run is None or not one.run.trials:
        return SuiteResult(one.name, one.weight, None, one.missing, put_aside=(0, 0) if one.put_aside else None)
    there, dead = [contender.name for contender in one.run.contenders], absent_of(one.run)
    known = baseline if baseline in there else None
    absent = {name: dead.get(name, "") for name in contenders if name not in there}
    comparison = _in_folder(compare_run(one.run, known, delta, noise=one.noise, block_s=block_s), one.folder)
    planned = tuple(name for name in absent if name in dead)
    aside = (one.run.blocks_whole, one.run.blocks_planned) if one.put_aside else None
    return SuiteResult(one.name, one.weight, comparison, one.missing, absent, planned, aside)


def _in_folder(comparison: Comparison, folder: str) -> Comparison:
    """Of a suite that lies in a folder the commands that are advised name that: all suites go on by it."""
    if not folder:
        return comparison
    relocated = tuple(
        replace(each, about=replace(each.about, folder=folder)) if isinstance(each.about, OfFile) else each
        for each in comparison.warnings
    )
    return replace(comparison, warnings=relocated)


def _verdicts(suites: Sequence[SuiteResult]) -> tuple[SuiteVerdict, ...]:
    """The verdict of each suite and pair, with Holm over all of these. Within a suite Holm has counted its pairs; here
    it counts them all together from the start.
    """
    ends = [(suite.name, one, pair) for suite, one in compared(suites) for pair in one.pairs]
    both = corrected(
        (pair.primary.p_t * _times(one), pair.primary.p_equivalence_adjusted * _times(one)) for _, one, pair in ends
    )
    return tuple(
        _verdict(suite, one, pair, p, q, len(ends)) for (suite, one, pair), (p, q) in zip(ends, both, strict=True)
    )


def _times(one: Comparison) -> float:
    """By how much its analysis makes a suite stricter than one that is analysed once: so its p values count."""
    return 1.0 if one.run.interim is None else ONLY_ANALYSIS.alpha / one.run.interim.alpha


def _verdict(suite: str, one: Comparison, pair: PairComparison, p: float, q: float, family: int) -> SuiteVerdict:
    end, verdict = pair.primary, pair.primary.verdict
    kind, left, still = _left(end, one, p, q, family)
    ends, winner = (end.ratio, end.low, end.high), verdict.winner if left else None
    names, floor = (pair.baseline, pair.contender), floor_of(one, end.blocks)
    return SuiteVerdict(suite, *names, *ends, p, q, family, kind, winner, verdict, left, still, floor)


def _left(end: Endpoint | Effect, one: Comparison, p: float, q: float, family: int) -> tuple[str, bool, Open | None]:
    """The verdict that is left of a suite's in the family of all, whether it is that of the suite by itself, and what
    is open in it.
    """
    kind = end.verdict.kind
    if _is_lost(kind, p, q):
        # What lies so near to the margin no number of blocks makes larger.
        return "inconclusive", False, None if kind == "near_margin" else open_among_all(end, one, family, None)
    is_open = kind == "inconclusive"
    return kind, True, open_among_all(end, one, family, why_of(end.verdict.still)) if is_open else None


def _is_lost(kind: str, p: float, q: float) -> bool:
    """Whether what a suite calls by itself is not shown among all of them."""
    return (kind in UNEQUAL and not p <= ONLY_ANALYSIS.alpha) or (kind == "equivalent" and not q <= ONLY_ANALYSIS.alpha)


def _effects(suites: Sequence[SuiteResult]) -> tuple[SuiteEffect, ...]:
    """What factors do in each suite, with Holm over the effects of all suites together."""
    effects = [
        (suite.name, one, effect)
        for suite, one in compared(suites)
        if one.factors is not None
        for effect in one.factors.effects
        if effect.estimated
    ]
    both = corrected((effect.p_t * _times(one), effect.p_equivalence * _times(one)) for _, one, effect in effects)
    return tuple(
        _effect(suite, one, effect, p, q, len(effects))
        for (suite, one, effect), (p, q) in zip(effects, both, strict=True)
    )


def _effect(suite: str, one: Comparison, effect: Effect, p: float, q: float, family: int) -> SuiteEffect:
    kind, left, still = _left(effect, one, p, q, family)
    ends, levels = (effect.ratio, effect.low, effect.high), (effect.factors, effect.below, effect.above)
    return SuiteEffect(suite, *levels, *ends, p, q, family, kind, effect.verdict, left, still)


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


def _overall(contenders: Sequence[str], suites: Sequence[SuiteResult]) -> tuple[OverallPair, ...]:
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
    held = HeldIn(suite.name, end.verdict) if end.verdict.kind in ("withheld", "disqualified") else None
    interim = comparison.run.interim or ONLY_ANALYSIS
    stratum = Stratum(suite.weight, log, end.log_sd / math.sqrt(end.blocks), end.blocks - 1)
    trouble, times, floor = held or few, _times(comparison), floor_of(comparison, end.blocks)
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


def _places(
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
