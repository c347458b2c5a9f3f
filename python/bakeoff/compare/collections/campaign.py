"""From the runs of a campaign to one comparison: a primary endpoint for each suite, Holm over all of them, and an order
over the suites by their weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from bakeoff.compare.advice.advice_model import OfFile
from bakeoff.compare.advice.caveat import of_suites
from bakeoff.compare.collections.campaign_model import (
    SCHEMA,
    CampaignComparison,
    SuiteEffect,
    SuiteResult,
    SuiteVerdict,
    compared,
)
from bakeoff.compare.collections.challenge import challenge_over_all
from bakeoff.compare.collections.over_suites import over_suites, places_over, strictness
from bakeoff.compare.estimate.estimate import corrected
from bakeoff.compare.estimate.interim import ONLY_ANALYSIS
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.model.factor import Effect
from bakeoff.compare.model.pair import Endpoint, PairComparison
from bakeoff.compare.planning.noise import floor_of
from bakeoff.compare.planning.noise_model import NoiseFloor
from bakeoff.compare.run import compare_run
from bakeoff.compare.verdict.blocks_needed import block_lengths_s
from bakeoff.compare.verdict.blocks_needed_suites import open_among_all
from bakeoff.compare.verdict.why_open import Open, why_of
from bakeoff.core.errors import PlanError
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
    overall = over_suites(contenders, suites)
    places = places_over(contenders, suites, overall)
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
        (pair.primary.p_t * strictness(one), pair.primary.p_equivalence * strictness(one)) for _, one, pair in ends
    )
    return tuple(
        _verdict(suite, one, pair, p, q, len(ends)) for (suite, one, pair), (p, q) in zip(ends, both, strict=True)
    )


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
    both = corrected(
        (effect.p_t * strictness(one), effect.p_equivalence * strictness(one)) for _, one, effect in effects
    )
    return tuple(
        _effect(suite, one, effect, p, q, len(effects))
        for (suite, one, effect), (p, q) in zip(effects, both, strict=True)
    )


def _effect(suite: str, one: Comparison, effect: Effect, p: float, q: float, family: int) -> SuiteEffect:
    kind, left, still = _left(effect, one, p, q, family)
    ends, levels = (effect.ratio, effect.low, effect.high), (effect.factors, effect.below, effect.above)
    return SuiteEffect(suite, *levels, *ends, p, q, family, kind, effect.verdict, left, still)
