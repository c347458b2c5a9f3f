"""What each factor of a design does: main effects and interactions from log-ratios within blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cube import Cube, blamed
from bakeoff.compare.cube.forfeits import PairLogs
from bakeoff.compare.estimate.estimate import Estimate, bands_of, corrected, decided, estimate
from bakeoff.compare.estimate.intervals import both_shown, ratio_of
from bakeoff.compare.estimate.pairs import pair_logs
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.factor import (
    Combination,
    Effect,
    EffectAt,
    EffectPoint,
    EffectVerdict,
    FactorComparison,
    FactorLevels,
    NotMeasured,
    Plane,
    PlaneCell,
    TrialsForfeited,
    TrialsUnusable,
)
from bakeoff.compare.model.pair import Gate
from bakeoff.compare.validity.gates import Judge
from bakeoff.compare.verdict.why_open import without_number
from bakeoff.plan.model import Plan
from bakeoff.stats import Contrast, Decision, at_level, between, block_logs, contrasts
from bakeoff.stats.design.factorial import Cell, Logs
from bakeoff.store.records.run_records import RunRecord

# Of a plan that somebody else wrote.
FACTORS_MAX, COMBINATIONS_MAX, TEXT_MAX = 6, 200, 200


@dataclass(frozen=True)
class Design:
    """The factors of a run, and its contenders by their place in them: level numbers, 0 for that of the baseline, and
    one behind the last where a contender has no level. Contenders without any are none of them.
    """

    factors: tuple[FactorLevels, ...]
    cells: Mapping[Cell, str]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many places each factor has: its levels, and one for contenders without where there are any."""
        return tuple(max(len(f.levels), *(1 + cell[at] for cell in self.cells)) for at, f in enumerate(self.factors))

    @property
    def planned(self) -> NDArray[np.bool_] | None:
        """The combinations that were to be, where some have no level of a factor; None where all could be."""
        if self.shape == tuple(len(factor.levels) for factor in self.factors):
            return None
        there = np.zeros(self.shape, dtype=bool)
        there[tuple(zip(*self.cells, strict=True))] = True
        return there

    def levels(self, cell: Cell) -> dict[str, str]:
        """The levels of a combination in words."""
        places = zip(self.factors, cell, strict=True)
        return {factor.name: factor.levels[at] for factor, at in places if at < len(factor.levels)}


def design_of(run: RunRecord, baseline: str) -> Design | None:
    """The design of a run; None of one without factors, or whose plan has none that can be read. The levels of
    `baseline` come first. A factor of which only one level is left is none.
    """
    levels = _levels_of(run.planned)
    names = [contender.name for contender in run.contenders]
    if not set(names) >= set(levels):
        return None
    found = []
    for name, planned in _known(run.planned).items():
        own = levels.get(baseline, {}).get(name, "")
        there = [level for level in planned if any(each.get(name) == level for each in levels.values())]
        there.sort(key=lambda level, own=own: level != own)  # type: ignore[misc]
        if len(there) > 1:
            found.append(FactorLevels(name, tuple(there)))
    if not found or math.prod(len(factor.levels) for factor in found) > COMBINATIONS_MAX:
        return None
    cells = {
        tuple(f.levels.index(own[f.name]) if f.name in own else len(f.levels) for f in found): name
        for name, own in levels.items()
    }
    return Design(tuple(found), cells) if len(cells) == len(levels) else None


def _levels_of(plan: Plan) -> dict[str, dict[str, str]]:
    """The levels of each contender that has any, all of them known to the plan. Empty where that is not so."""
    known = _known(plan)
    found = {contender.name: contender.levels for contender in plan.contenders if contender.levels}
    all_known = all(level in known.get(name, ()) for levels in found.values() for name, level in levels.items())
    short = all(len(one) <= TEXT_MAX for levels in found.values() for one in (*levels, *levels.values()))
    return found if all_known and short and len(known) <= FACTORS_MAX else {}


def _known(plan: Plan) -> dict[str, list[str]]:
    """The factors in the order of the plan, each with its levels in their order."""
    return {factor.name: list(dict.fromkeys(factor.levels)) for factor in plan.factors}


@dataclass(frozen=True)
class _Estimate:
    """An effect before correction for the others."""

    contrast: Contrast
    metric: Metric
    outcomes: PairLogs
    found: Estimate


def compare_factors(design: Design, cube: Cube, metrics: Sequence[Metric], judge: Judge) -> FactorComparison:
    """All effects on all metrics, at the analysis of `judge`: the first metric decides, the others explain. What a
    contender forfeited has no ratio that could be part of an effect: it is left out, and named by the gates.
    """
    here = _Here(design, cube, replace(judge, both=True))
    effects = here.effects(metrics[:1])
    # How many blocks are still needed is said once: for what decides.
    explaining = [_without_number(effect) for effect in here.effects(metrics[1:])]
    combinations = tuple(
        Combination(name, design.levels(cell), here.missing.get(cell)) for cell, name in design.cells.items()
    )
    return FactorComparison(
        factors=design.factors,
        combinations=combinations,
        effects=effects,
        explaining=tuple(explaining),
        planes=here.planes(metrics[0]),
        family=sum(effect.estimated for effect in effects),
    )


@dataclass(frozen=True)
class _Here:
    """A design with the trials of its contenders, and the pairs of them that were compared already."""

    design: Design
    cube: Cube
    judge: Judge
    _pairs: dict[tuple[str, Cell, Cell], Logs] = field(default_factory=dict)
    _gates: dict[tuple[Cell, Cell], tuple[Gate, ...]] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int]:
        return len(self.cube.load_steps), len(self.cube.blocks)

    @cached_property
    def _used(self) -> dict[Cell, NDArray[np.bool_]]:
        """Where each combination has figures, shape (load steps, blocks)."""
        return {
            cell: np.array(
                [
                    [
                        (key := (name, load_step, block)) in self.cube.usable and key not in self.cube.forfeited
                        for block in self.cube.blocks
                    ]
                    for load_step in self.cube.load_steps
                ],
                dtype=bool,
            ).reshape(self.size)
            for cell, name in self.design.cells.items()
        }  # fmt: skip

    @cached_property
    def missing(self) -> dict[Cell, NotMeasured | TrialsForfeited | TrialsUnusable]:
        """Combinations with figures in under half of the places where any has them, and why."""
        any_of = np.zeros(self.size, dtype=bool)
        for used in self._used.values():
            any_of |= used
        found: dict[Cell, NotMeasured | TrialsForfeited | TrialsUnusable] = {}
        for cell, name in self.design.cells.items():
            if not any_of.any() or 2 * int(self._used[cell].sum()) < int(any_of.sum()):
                found[cell] = _missing(self.cube, name)
        return found

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        there = np.zeros(self.design.shape, dtype=bool)
        for cell in self.design.cells:
            there[cell] = cell not in self.missing
        return there

    def effects(self, metrics: Sequence[Metric]) -> tuple[Effect, ...]:
        """All effects on `metrics`, which are one family."""
        levels = [len(factor.levels) for factor in self.design.factors]
        planned = contrasts(levels, self.present, self.design.planned)
        found = [self._estimate(contrast, metric) for metric in metrics for contrast in planned]
        both = corrected((each.found.ratio.p_t, each.found.p_equivalence) for each in found)
        family = sum(each.found.ratio.blocks > 0 for each in found)
        return tuple(self._effect(each, p, q, family) for each, (p, q) in zip(found, both, strict=True))

    def planes(self, metric: Metric) -> tuple[Plane, ...]:
        """Each two factors, as ratios to the levels of the baseline."""
        return tuple(self._plane(two, metric) for two in combinations(range(len(self.design.factors)), 2))

    def _plane(self, two: tuple[int, int], metric: Metric) -> Plane:
        one, other = (self.design.factors[factor] for factor in two)
        cells = []
        for chosen in product(range(len(one.levels)), range(len(other.levels))):
            levels = (one.levels[chosen[0]], other.levels[chosen[1]])
            if chosen == (0, 0):
                known = bool(between(chosen, chosen, two, self.present).contexts)
                number, one_to_one = (len(self.cube.blocks), 1.0) if known else (0, math.nan)
                cells.append(PlaneCell(levels, number, one_to_one, math.nan, math.nan))
                continue
            found = self._estimate(between((0, 0), chosen, two, self.present), metric).found
            cells.append(PlaneCell(levels, found.ratio.blocks, found.ratio.ratio, *found.interval))
        return Plane((one.name, other.name), tuple(cells))

    def _logs(self, metric: Metric, lower: Cell, upper: Cell) -> Logs:
        """ln(upper / lower) where both have figures and none lost, shape (load steps, blocks)."""
        key = (metric.key, lower, upper)
        if key not in self._pairs:
            found = pair_logs(self.cube, metric, self.design.cells[lower], self.design.cells[upper])
            below, above = found.forfeited
            whole = self._used[lower] & self._used[upper] & ~below & ~above
            self._pairs[key] = np.where(whole, found.logs, np.nan)
        return self._pairs[key]

    def _estimate(self, contrast: Contrast, metric: Metric) -> _Estimate:
        """As endpoints are: a load step with under half of the blocks is left out, then blocks with a hole are."""
        pairs = {(term.lower, term.upper): self._logs(metric, term.lower, term.upper) for term in contrast.terms}
        logs = block_logs(contrast, pairs, self.size)
        none = np.zeros(self.size, dtype=bool)
        outcomes = PairLogs(logs, none, (none, none), math.nan)
        found = estimate(self.cube, outcomes, self.judge.interim.level, self.judge.delta)
        return _Estimate(contrast, metric, outcomes, found)

    def _effect(self, e: _Estimate, p: float, q: float, family: int) -> Effect:
        factors = [self.design.factors[factor] for factor in e.contrast.factors]
        level = 1.0 - (1.0 - self.judge.interim.level) / max(1, family)
        bands, found, ratio = bands_of(e.outcomes, level), e.found, e.found.ratio
        points = tuple(
            EffectPoint(load_step, number, ratio_of(mean), *both_shown(ratio_of(low), ratio_of(high), number))
            for load_step, number, mean, low, high in zip(
                self.cube.load_steps,
                map(int, bands.blocks),
                *(map(float, logs) for logs in (bands.log_mean, bands.log_low, bands.log_high)),
                strict=True,
            )
        )
        return Effect(
            metric=e.metric.key,
            title=e.metric.title,
            higher_is_better=e.metric.higher_is_better,
            factors=tuple(factor.name for factor in factors),
            below=tuple(factor.levels[at] for factor, at in zip(factors, e.contrast.below, strict=True)),
            above=tuple(factor.levels[at] for factor, at in zip(factors, e.contrast.above, strict=True)),
            contexts=e.contrast.contexts,
            contexts_wanted=e.contrast.wanted,
            load_steps=found.whole_blocks.load_steps,
            load_steps_left_out=found.whole_blocks.load_steps_left_out,
            blocks=ratio.blocks,
            blocks_left_out=found.whole_blocks.blocks_left_out,
            ratio=ratio.ratio,
            low=found.interval[0],
            high=found.interval[1],
            log_sd=ratio.log_sd,
            p_t=ratio.p_t,
            p_sign_flip=ratio.p_flip,
            p_adjusted=p,
            p_equivalence=found.p_equivalence,
            p_equivalence_adjusted=q,
            verdict=self._verdict(e, p, q, family),
            at=self._at(e) if len(factors) == 1 else (),
            points=points,
            method=bands.method,
            level=level,
        )

    def _at(self, e: _Estimate) -> tuple[EffectAt, ...]:
        """A main effect at each level of each other factor that it was planned at."""
        (this,) = e.contrast.factors
        found = []
        for number, factor in enumerate(self.design.factors):
            for at, level in enumerate(factor.levels if number != this else ()):
                if not any(cell[number] == at and cell[this] in e.contrast.below for cell in self.design.cells):
                    continue
                own = self._estimate(at_level(e.contrast, number, at), e.metric).found
                found.append(EffectAt(factor.name, level, own.ratio.blocks, own.ratio.ratio, *own.interval))
        return tuple(found)

    def _verdict(self, e: _Estimate, p: float, q: float, family: int) -> EffectVerdict:
        judge, blocks = self.judge, e.found.ratio.blocks
        if not blocks:
            return EffectVerdict("not_estimated", 0, judge.delta, None)
        decision, still = decided(e.found, p, q, judge, family, "effect", is_interval=True)
        gates = self._gates_of(e)
        red = tuple(gate for gate in gates if gate.level == "red")
        made = EffectVerdict("too_few", blocks, judge.delta, decision.more_blocks, gates)
        if decision.outcome == "too_few":
            return made
        if red:
            return replace(made, kind="withheld", more_blocks=None, decisive=red)
        if decision.outcome == "inconclusive":
            return replace(made, kind="inconclusive", still=still)
        made = replace(made, more_blocks=None)
        if decision.outcome in ("equivalent", "near_margin"):
            return replace(made, kind=decision.outcome)
        return replace(made, kind="shown", better=self._better(e))

    def _better(self, e: _Estimate) -> tuple[str, str] | None:
        """The level that a main effect speaks for."""
        if len(e.contrast.factors) > 1:
            return None
        factor = self.design.factors[e.contrast.factors[0]]
        is_above = (e.found.ratio.log_mean > 0.0) == e.metric.higher_is_better
        return factor.name, factor.levels[(e.contrast.above if is_above else e.contrast.below)[0]]

    def _gates_of(self, e: _Estimate) -> tuple[Gate, ...]:
        """What any pair that the effect is made of did not pass: if one of them fell short, so does the effect."""
        found: list[Gate] = []
        for term in e.contrast.terms:
            key = (term.lower, term.upper)
            if key not in self._gates:
                names = (self.design.cells[term.lower], self.design.cells[term.upper])
                # None of the two is ahead: both are held to the same.
                tie, blocks = Decision("inconclusive", None), e.found.ratio.blocks
                _, self._gates[key] = self.judge.verdict(tie, *names, self.cube.load_steps, names[1], blocks)
            found += [gate for gate in self._gates[key] if gate not in found]
        return tuple(found)


def _missing(cube: Cube, name: str) -> NotMeasured | TrialsForfeited | TrialsUnusable:
    """Why a combination has too few figures."""
    trials = [trial for (contender, _, _), trial in cube.trials.items() if contender == name]
    forfeited = {key[1:]: reason for key, reason in cube.forfeited.items() if key[0] == name}
    if not trials:
        return NotMeasured()
    if forfeited:
        return TrialsForfeited(len(forfeited), len(trials), next(iter(forfeited.values())))
    unusable = len(trials) - sum((name, trial.load_step, trial.block) in cube.usable for trial in trials)
    return TrialsUnusable(unusable, len(trials), len(blamed(trials)) < len(trials))


def _without_number(effect: Effect) -> Effect:
    still = without_number(effect.verdict.still)
    return replace(effect, verdict=replace(effect.verdict, more_blocks=None, still=still))
