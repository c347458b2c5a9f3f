"""Two contenders against each other: endpoints over the whole curve and bands at each load step."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations, compress

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cells import mean_logs
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.forfeits import PairLogs, bounded
from bakeoff.compare.estimate.estimate import Estimate, bands_of, corrected, decided, estimate
from bakeoff.compare.estimate.exploratory import explore
from bakeoff.compare.estimate.intervals import both_shown, ratio_of, turned
from bakeoff.compare.estimate.resolution import resolution_of_pair
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.comparison import Forfeit
from bakeoff.compare.model.pair import Endpoint, PairComparison, RatioCurve, RatioPoint, Verdict
from bakeoff.compare.model.reason import NoneOfUnit
from bakeoff.compare.validity.gates import Judge
from bakeoff.compare.verdict.failures_flatter import with_failures_as_slowest
from bakeoff.compare.verdict.why_open import Open, why_open
from bakeoff.load.load_step import LoadStep
from bakeoff.stats import (
    FLIP_ALPHA,
    Decision,
    PairedRatio,
    decision_of,
    ratio_from_logs,
    sign_flip_interval,
    sign_flip_p,
)
from bakeoff.stats.intervals.bands import ONE_LOAD_STEP

Logs = NDArray[np.float64]


@dataclass(frozen=True)
class _Estimate:
    """An endpoint before correction for the others."""

    pair: tuple[str, str]
    metric: Metric
    outcomes: PairLogs
    found: Estimate
    # The same with each failed operation as slow as the slowest answer, where any failed.
    slowed: PairedRatio | None = None

    @property
    def forfeited(self) -> dict[str, int]:
        """How many pairs of trials each of the two lost."""
        whole_blocks = self.found.whole_blocks
        counts = (int(side[whole_blocks.steps][:, whole_blocks.whole].sum()) for side in self.outcomes.forfeited)
        return dict(zip(self.pair, counts, strict=True))

    @property
    def load_steps_left_out(self) -> tuple[LoadStep, ...]:
        """Of those at which one of the two was asked."""
        whole_blocks = self.found.whole_blocks
        asked = {load_step for name, load_step, _ in whole_blocks.cube.trials if name in self.pair}
        return tuple(load_step for load_step in whole_blocks.load_steps_left_out if load_step in asked)

    @property
    def blocks_left_out(self) -> tuple[int, ...]:
        """Of those in which both were asked."""
        whole_blocks = self.found.whole_blocks
        return tuple(compress(whole_blocks.cube.blocks, whole_blocks.cube.together(*self.pair) & ~whole_blocks.whole))


def compare_pairs(cube: Cube, metrics: tuple[Metric, ...], judge: Judge) -> tuple[PairComparison, ...]:
    """Every pair of contenders that are in one run file, at the analysis of `judge`.

    Primary endpoints are corrected across pairs, secondary ones across all of them.
    """
    # A run without a trial has its pairs all the same.
    pairs = [pair for pair in combinations(cube.contenders, 2) if not cube.asked or cube.together(*pair).any()]
    level = judge.interim.level
    logs = {(pair, metric.key): pair_logs(cube, metric, *pair) for pair in pairs for metric in metrics}
    estimates = {
        (pair, metric.key): _estimate(cube, pair, metric, logs[pair, metric.key], judge)
        for pair in pairs
        for metric in metrics
    }
    primary = _corrected([estimates[pair, metrics[0].key] for pair in pairs], judge, "pair")
    explaining = [estimates[pair, m.key] for pair in pairs for m in metrics[1:]]
    # How many blocks are still needed is said once: for what decides.
    secondary = [_bare(end) for end in _corrected(explaining, judge, "endpoint")]
    return tuple(
        PairComparison(
            baseline=pair[0],
            contender=pair[1],
            primary=primary[index],
            secondary=_of_pair(secondary, index, len(metrics) - 1),
            curves=tuple(
                _curve(cube, pair, m, logs[pair, m.key], judge, 1.0 - (1.0 - level) / len(pairs), end)
                for m, end in zip(metrics, (primary[index], *_of_pair(secondary, index, len(metrics) - 1)), strict=True)
            ),
            exploratory=explore(cube, pair),
        )
        for index, pair in enumerate(pairs)
    )


def _of_pair(ends: list[Endpoint], pair: int, each: int) -> tuple[Endpoint, ...]:
    """The endpoints of a pair, by its number, of those of all pairs."""
    return tuple(ends[pair * each : (pair + 1) * each])


def pair_logs(cube: Cube, metric: Metric, baseline: str, contender: str) -> PairLogs:
    """ln(contender / baseline), shape (load steps, blocks); NaN unless both have a number or one of them lost."""
    if metric.paired is not None:
        return metric.paired(cube, baseline, contender)
    if metric.cells:
        return mean_logs(cube, metric.cells, metric.weights, baseline, contender)
    values = cube.values(lambda t: metric.extract(t) if t.service.count >= metric.least else math.nan)
    below, above = values[cube.index(baseline)], values[cube.index(contender)]
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.log(below), np.log(above)
    # Of what is good when it is much, nothing is a loss as well.
    nothing = (below == 0.0) & metric.higher_is_better, (above == 0.0) & metric.higher_is_better
    # What lies among the failed operations is beyond every time.
    beyond = np.isinf(below), np.isinf(above)
    forfeited = (
        cube.forfeits(baseline) | nothing[0] | beyond[0],
        cube.forfeits(contender) | nothing[1] | beyond[1],
    )
    outcomes = bounded(*logs, forfeited, metric.higher_is_better)
    return outcomes if metric.bounds is None else _between(cube, metric, outcomes, (baseline, contender))


def _between(cube: Cube, metric: Metric, outcomes: PairLogs, pair: tuple[str, str]) -> PairLogs:
    """The same with the bounds of each log-ratio, and its middle for the ratio; what was lost stays as it counts."""
    assert metric.bounds is not None
    ends = [cube.values(lambda trial, end=end: metric.bounds(trial)[end]) for end in (0, 1)]  # type: ignore[misc]
    below, above = (tuple(end[cube.index(name)] for end in ends) for name in pair)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = np.log(above[0]) - np.log(below[1]), np.log(above[1]) - np.log(below[0])
    known = (
        np.isfinite(low)
        & np.isfinite(high)
        & np.isfinite(outcomes.logs)
        & ~(outcomes.forfeited[0] | outcomes.forfeited[1])
    )
    low, high = np.where(known, low, outcomes.logs), np.where(known, high, outcomes.logs)
    return replace(outcomes, logs=(low + high) / 2.0, bounds=(low, high))


def without_result(cube: Cube, metric: Metric) -> tuple[Forfeit, ...]:
    """Usable trials that count as forfeited by `metric` alone: operations succeeded, and what decides is nothing."""
    if metric.paired is not None or metric.cells or not metric.higher_is_better:
        return ()
    found = [
        (trial.order, key, trial.operations)
        for key, trial in cube.usable.items()
        if key not in cube.forfeited and trial.service.count >= metric.least and metric.extract(trial) == 0.0
    ]
    return tuple(
        Forfeit(*key, "", NoneOfUnit(metric.unit, operations))
        for _, key, operations in sorted(found, key=lambda one: one[0])
    )


def _estimate(cube: Cube, pair: tuple[str, str], metric: Metric, outcomes: PairLogs, judge: Judge) -> _Estimate:
    level = judge.interim.level
    found = estimate(cube, outcomes, level, judge.delta, resolution_of_pair(cube, metric, pair))
    slow = with_failures_as_slowest(cube, metric, outcomes, pair)
    slowed = None if slow is None else ratio_from_logs(found.whole_blocks.of_whole(slow), level)
    return _Estimate(pair, metric, outcomes, found, slowed)


def _corrected(estimates: list[_Estimate], judge: Judge, what: str) -> list[Endpoint]:
    both = corrected((each.found.ratio.p_t, each.found.p_equivalence) for each in estimates)
    return [_endpoint(each, p, q, judge, len(estimates), what) for each, (p, q) in zip(estimates, both, strict=True)]


def without_number(pair: PairComparison) -> PairComparison:
    """`pair` without what an answer would still take."""
    return replace(pair, primary=_bare(pair.primary))


def _bare(end: Endpoint) -> Endpoint:
    return replace(end, verdict=end.verdict.without_number())


def _endpoint(e: _Estimate, p: float, q: float, judge: Judge, family: int, what: str) -> Endpoint:
    """`what` a family of so many is made of: pairs, or endpoints."""
    found, ratio = e.found, e.found.ratio
    decision, still = decided(found, p, q, judge, family, what)
    is_above = ratio.log_mean > 0.0
    # A load step that the endpoint had to leave out still counts for the gates: a contender broke there.
    judged = tuple(sorted((*found.whole_blocks.load_steps, *e.load_steps_left_out)))
    ahead, by = leader(e.pair, is_above, e.metric), reach(ratio.low, ratio.high, is_above)
    gone = e.slowed is not None and not _still_ahead(e.slowed, is_above, judge.delta)
    judge = replace(judge, metric=e.metric.key, flattered=ahead if gone else "")
    at_most = max(p, ratio.p_flip)
    verdict, gates = judge.verdict(decision, *e.pair, judged, ahead, ratio.blocks, by, at_most, still)
    low, high = found.interval
    return Endpoint(
        metric=e.metric.key,
        title=e.metric.title,
        higher_is_better=e.metric.higher_is_better,
        load_steps=found.whole_blocks.load_steps,
        load_steps_left_out=e.load_steps_left_out,
        blocks=ratio.blocks,
        blocks_left_out=e.blocks_left_out,
        ratio=ratio.ratio,
        low=low,
        high=high,
        log_sd=ratio.log_sd,
        p_t=ratio.p_t,
        p_sign_flip=ratio.p_flip,
        p_adjusted=p,
        p_equivalence=found.p_equivalence,
        p_equivalence_adjusted=q,
        forfeited=e.forfeited,
        pairs_counted=len(found.whole_blocks.blocks) * len(found.whole_blocks.load_steps),
        forfeited_as=e.outcomes.factor,
        verdict=verdict,
        gates=gates,
        is_mean_of_cells=e.metric.is_mean_of_cells,
    )


def _still_ahead(slowed: PairedRatio, is_above: bool, delta: float) -> bool:
    """Whether a lead is left that matters."""
    far = slowed.log_mean if is_above else -slowed.log_mean
    return far >= math.log1p(delta) - 1e-12 and (slowed.low > 1.0 if is_above else slowed.high < 1.0)


def reach(low: float, high: float, is_above: bool) -> tuple[float, float]:
    """By what factors the one ahead is ahead, from the ends of an interval of the ratio."""
    return (low, high) if is_above else turned(low, high)


def leader(pair: tuple[str, str], is_above: bool, metric: Metric) -> str:
    """Who is ahead: the contender when the ratio is on the good side of 1."""
    return pair[1] if is_above == metric.higher_is_better else pair[0]


def _curve(
    cube: Cube, pair: tuple[str, str], metric: Metric, outcomes: PairLogs, judge: Judge, level: float, end: Endpoint
) -> RatioCurve:
    """The ratio at each load step; `end` is the endpoint of the same pair and metric."""
    judge, logs = replace(judge, metric=metric.key), outcomes.settled()
    is_one = cube.load_steps == end.load_steps and len(end.load_steps) == 1
    bands = bands_of(outcomes, level, resolution_of_pair(cube, metric, pair))
    slow = with_failures_as_slowest(cube, metric, outcomes, pair)

    def judged(index: int, blocks: int, has_forfeits: bool) -> tuple[float, float, Verdict]:
        mean, low, high = (float(x[index]) for x in (bands.log_mean, bands.log_low, bands.log_high))
        p_flip = sign_flip_p(logs[index])
        if has_forfeits:
            low, high = sign_flip_interval(logs[index], judge.interim.level)
            decision = _forfeit_decision(logs[index], mean, 1.0 - judge.interim.level)
        else:
            # No band has the test in it: flipped residuals give its width alone. What decides is held against it, too.
            flips = p_flip <= max(judge.interim.alpha, FLIP_ALPHA)
            decision = _band_decision(mean, low, high, blocks, judge.delta, flips)
        low, high, is_above = ratio_of(low), ratio_of(high), mean > 0.0
        ahead, by = leader(pair, is_above, metric), reach(low, high, is_above)
        far = 0.0 if slow is None or not np.isfinite(slow[index]).any() else float(np.nanmean(slow[index]))
        gone = slow is not None and (far if is_above else -far) < math.log1p(judge.delta) - 1e-12
        still = Open(why_open(both_shown(low, high, blocks), p_flip, math.nan, judge.interim, (1, ""), blocks))
        verdict, _ = replace(judge, flattered=ahead if gone else "").verdict(
            judge.interim.settled(decision), *pair, (cube.load_steps[index],), ahead, blocks, by, still=still
        )
        return low, high, verdict

    points = []
    for index, load_step in enumerate(cube.load_steps):
        mean, blocks = float(bands.log_mean[index]), int(bands.blocks[index])
        below, above = (int(side[index].sum()) for side in outcomes.forfeited)
        # One figure has one interval and one verdict: where it is the only load step those of the endpoint.
        low, high, verdict = (end.low, end.high, end.verdict) if is_one else judged(index, blocks, below + above > 0)
        number = 0 if outcomes.instead is None else int(outcomes.instead[index].sum())
        forfeited = dict(zip(pair, (below, above), strict=True))
        ends, forfeited_as = both_shown(low, high, blocks), outcomes.factor if metric.paired is None else math.nan
        # How many blocks are still needed is said once, for the whole endpoint.
        verdict = verdict.without_number()
        points.append(RatioPoint(load_step, blocks, math.exp(mean), *ends, forfeited, verdict, number, forfeited_as))
    method, level = (ONE_LOAD_STEP, judge.interim.level) if is_one else (bands.method, level)
    return RatioCurve(metric.key, metric.title, metric.higher_is_better, method, level, tuple(points))


def _forfeit_decision(logs: Logs, mean: float, alpha: float) -> Decision:
    """At a load step that one of them lost in some blocks: whoever is behind in all blocks, by losses or by numbers."""
    return decision_of(int(np.isfinite(logs).sum()), mean, 0.0, sign_flip_p(logs) <= alpha, False)


def _band_decision(mean: float, low: float, high: float, blocks: int, delta: float, flips: bool) -> Decision:
    """The verdict at one load step: the simultaneous band excludes 1, the sign-flip test agrees (`flips`) and it
    matters, or the band lies inside ±delta. How many blocks it would take is told of the whole endpoint alone.
    """
    margin = math.log1p(delta)
    return decision_of(blocks, mean, delta, (low > 0.0 or high < 0.0) and flips, -margin < low and high < margin)
