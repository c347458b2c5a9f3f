"""Searches for capacities compared: what each contender carries under the objective, and who carries more.

The unit of inference is the block, as everywhere: a search gives one capacity, and paired log-ratios of blocks the
verdict. A contender for which no load met the objective, or that died, has lost its block.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from bakeoff.compare.cube.cube import UNPAIRED, Cube, build_cube, machines_of, same_machines, usual_of
from bakeoff.compare.estimate.intervals import shown
from bakeoff.compare.estimate.pairs import compare_pairs
from bakeoff.compare.limits.capacity_model import (
    CAPACITY,
    CapacityComparison,
    ContenderCapacity,
    LeastLoad,
    SearchOutcome,
    ShareMet,
)
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.comparison import LeftOut
from bakeoff.compare.model.gate import CutOff, NotConfirmed
from bakeoff.compare.model.pair import Gate, PairComparison
from bakeoff.compare.model.reason import NoCapacity, OtherProbeMachines, Recorded, stand_in
from bakeoff.compare.validity.gates import Judge
from bakeoff.load.load_step import LoadStep, OfCapacity, StatedLoad
from bakeoff.stats import geometric_interval
from bakeoff.store.records.run_records import (
    AT_LEAST,
    DIED,
    FAILED,
    NONE,
    OK,
    SEARCH,
    SHARE,
    UNSETTLED,
    VOIDED,
    RunRecord,
    SearchRecord,
    TrialRecord,
)

WHOLE = OfCapacity(1.0)
# At this share of a capacity noise of the capacity decides nothing.
WELL_BELOW = 0.9


def at_share(trial: TrialRecord, share: float) -> OfCapacity:
    """The load step that stands for the one of `trial`."""
    assert not isinstance(trial.load_step, OfCapacity | StatedLoad)
    return OfCapacity(share, trial.load_step)


def view_of(run: RunRecord) -> RunRecord:
    """A search as the statistics take it: its trials at shares of what was found, where there are any, and the shares
    as load steps.
    """
    assert run.planned.capacity is not None
    load_steps = tuple(OfCapacity(share) for share in run.planned.capacity.shares if share > 0)
    if not load_steps:
        return found_view(run)
    wanted = {load_step.share for load_step in load_steps}
    trials = tuple(
        replace(trial, load_step=at_share(trial, trial.share))
        for trial in run.trials
        if trial.purpose == SHARE and trial.share in wanted and trial.share is not None
    )
    return replace(run, load_steps=tuple(sorted(set(load_steps))), trials=trials, trials_planned=len(trials))


def found_view(run: RunRecord) -> RunRecord:
    """A run of which each search is one trial: that with the highest load that met the objective, or a failed one."""
    by_order = {trial.order: trial for trial in run.trials}
    trials = []
    for search in run.searches:
        trial = None if search.met is None else by_order.get(search.met)
        if trial is not None and trial.state == OK and search.outcome not in (DIED, NONE):
            found = replace(trial, load_step=at_share(trial, 1.0))
            changed = _changing_machines(run, search)
            trials.append(stand_in(found, changed, state=VOIDED) if changed else found)
        elif search.outcome in (DIED, NONE) and (nearest := _nearest(run, search)) is not None:
            trials.append(_lost(nearest, search))
    return replace(run, load_steps=(WHOLE,), trials=tuple(trials), trials_planned=len(trials))


def _changing_machines(run: RunRecord, search: SearchRecord) -> OtherProbeMachines | None:
    """Why a search has found nobody's capacity: its probes were sent by one set of machines, then by another."""
    own = [
        trial
        for trial in sorted(run.trials, key=lambda trial: trial.order)
        if (trial.contender, trial.block, trial.purpose, trial.state) == (search.contender, search.block, SEARCH, OK)
        and trial.per_agent
    ]
    usual = usual_of(own) if own else None
    sets = dict.fromkeys(machines_of(trial) for trial in own if usual is not None and not same_machines(trial, usual))
    if usual is None or not sets:
        return None
    return OtherProbeMachines(machines_of(usual), tuple(sets))


def unpaired(run: RunRecord, baseline: str, left_out: Sequence[LeftOut]) -> tuple[LeftOut, ...]:
    """Capacities that are compared with none, since other machines found them, where that was not `told` already."""
    known = {left.trial_id for left in left_out}
    cube = build_cube(found_view(run), baseline)
    return tuple(left for left in cube.left_out if left.state in (UNPAIRED, VOIDED) and left.trial_id not in known)


def _nearest(run: RunRecord, search: SearchRecord) -> TrialRecord | None:
    """A trial whose figures stand for a search without a result: the last of its own, or any."""
    own = [t for t in run.trials if (t.contender, t.block) == (search.contender, search.block)]
    return next(iter([*reversed(own), *run.trials]), None)


def _lost(trial: TrialRecord, search: SearchRecord) -> TrialRecord:
    return stand_in(
        trial,
        Recorded(search.reason) if search.reason else NoCapacity(),
        contender=search.contender,
        block=search.block,
        load_step=at_share(trial, 1.0),
        state=FAILED,
        reason=search.reason,
        operations=0,
        operations_per_s=0.0,
    )


def probes_view(run: RunRecord) -> Cube:
    """All trials of a search as a cube, each in a place of its own: for audits, which ask each trial alone."""
    names = tuple(contender.name for contender in run.contenders)
    cube = build_cube(replace(run, trials=(), load_steps=(WHOLE,)), names[0])
    usable = {(t.contender, t.load_step, t.order): t for t in run.trials if t.state == OK and t.operations}
    return replace(cube, trials=usable, usable=usable)


@dataclass(frozen=True)
class CapacityJudge(Judge):
    """A capacity that a generator, or a bound of the plan, cut off is the least that a contender carries."""

    searches: dict[str, tuple[SearchRecord, ...]] = field(default_factory=dict)
    shares_met: dict[str, tuple[ShareMet, ...]] = field(default_factory=dict)

    def _gates(self, leader: str, follower: str, load_steps: tuple[LoadStep, ...], both_sides: bool) -> list[Gate]:
        gates = super()._gates(leader, follower, load_steps, both_sides)
        return [*gates, *self._unconfirmed(leader, True), *self._unconfirmed(follower, both_sides)]

    def _unconfirmed(self, name: str, ahead: bool) -> list[Gate]:
        """Whoever is fast in the probes of its search, and fails most trials well below what was found, does not carry
        that. Without such trials nobody knows.
        """
        if not self.shares_met.get(name):
            return [Gate("not confirmed", "amber", name, NotConfirmed(math.nan, 0, 0))]
        failed = [each for each in self.shares_met.get(name, ()) if 2 * each.met <= each.trials]
        if not failed:
            return []
        least = failed[0]
        red = ahead and least.share <= WELL_BELOW
        detail = NotConfirmed(least.share, least.trials - least.met, least.trials)
        return [Gate("not confirmed", "red" if red else "amber", name, detail)]

    def _generator(self, name: str, usable: list[TrialRecord], behind: bool) -> list[Gate]:
        searches = [search for search in self.searches.get(name, ()) if search.outcome == AT_LEAST]
        if not searches:
            return []
        detail = CutOff(len(searches), len(self.searches[name]), searches[-1].reason, not behind)
        return [Gate("generator", "red" if behind else "amber", name, detail)]

    def _schedule(self, name: str, usable: list[TrialRecord], behind: bool) -> list[Gate]:
        """A late generator does no harm where the objective was met all the same; where it was not, see above."""
        return []


def capacity_metric(unit: str, missed: Mapping[tuple[str, int], float] | None = None) -> Metric:
    """The load that met the objective. The capacity lies between it and the lowest that `missed` it, by contender and
    block: the step between them is part of what is not known.
    """

    def load(trial: TrialRecord) -> float:
        return (
            trial.load_step.of.x
            if isinstance(trial.load_step, OfCapacity) and trial.load_step.of is not None
            else math.nan
        )

    def between(trial: TrialRecord) -> tuple[float, float]:
        met = load(trial)
        return met, max(met, (missed or {}).get((trial.contender, trial.block), met))

    return Metric(CAPACITY, "Capacity", unit, True, "log", load, unit, bounds=between)


def missed_loads(run: RunRecord) -> dict[tuple[str, int], float]:
    """The lowest load of each search that did not meet the objective."""
    by_order = {trial.order: trial for trial in run.trials}
    return {
        (search.contender, search.block): trial.load_step.x
        for search in run.searches
        if search.missed is not None and (trial := by_order.get(search.missed)) is not None
    }


def capacity_pairs(run: RunRecord, baseline: str, judge: Judge, unit: str) -> tuple[PairComparison, ...]:
    """The verdicts about capacities, by the statistics of any run."""
    judge = capacity_judge(run, baseline, judge)
    return compare_pairs(judge.cube, (capacity_metric(unit, missed_loads(run)),), judge)


def capacity_judge(run: RunRecord, baseline: str, judge: Judge) -> CapacityJudge:
    """The judge of capacities, with the cube that has them."""
    cube = build_cube(found_view(run), baseline)
    searches = {name: tuple(s for s in run.searches if s.contender == name) for name in cube.contenders}
    same = {field.name: getattr(judge, field.name) for field in fields(judge)}
    shares_met = {name: _shares(run, name) for name in cube.contenders}
    return CapacityJudge(**{**same, "cube": cube, "searches": searches, "shares_met": shares_met})


def joined(capacities: tuple[PairComparison, ...], shares: tuple[PairComparison, ...]) -> tuple[PairComparison, ...]:
    """The capacity decides; response times at shares of it explain. What is done per second there follows from it."""
    return tuple(
        replace(
            capacity,
            secondary=tuple(end for end in share.secondary if not end.higher_is_better),
            curves=share.curves,
            exploratory=share.exploratory,
        )
        for capacity, share in zip(capacities, shares, strict=True)
    )


def compare_capacities(run: RunRecord, names: tuple[str, ...], unit: str, level: float) -> CapacityComparison:
    """What the searches of each contender found."""
    plan = run.planned.capacity
    assert plan is not None
    by_order = {trial.order: trial for trial in run.trials}
    return CapacityComparison(
        objective=plan.objective,
        by=plan.by,
        unit=unit,
        width=plan.width,
        searches_planned=len(run.contenders) * run.blocks_planned,
        contenders=tuple(_contender(run, name, by_order, level) for name in names),
    )


def _contender(run: RunRecord, name: str, by_order: dict[int, TrialRecord], level: float) -> ContenderCapacity:
    searches = [search for search in run.searches if search.contender == name]
    outcomes = tuple(_outcome(run, search, by_order) for search in searches)
    counts = Counter(search.outcome for search in searches)
    found = [outcome for outcome in outcomes if outcome.outcome not in (DIED, NONE)]
    mean = geometric_interval([outcome.met for outcome in found], level)
    # The capacity lies between what met the objective and what missed it.
    above = geometric_interval([o.met if math.isnan(o.missed) else o.missed for o in found], level)
    return ContenderCapacity(
        name=name,
        blocks=mean.blocks,
        capacity=mean.centre,
        low=shown(mean.low, mean.blocks),
        high=shown(above.high, mean.blocks),
        at_least=counts[AT_LEAST],
        none=counts[NONE],
        died=counts[DIED],
        unsettled=counts[UNSETTLED],
        searches=outcomes,
        least=next((_least(search, by_order) for search in searches if search.outcome == NONE), None),
        shares=_shares(run, name),
    )


def _shares(run: RunRecord, name: str) -> tuple[ShareMet, ...]:
    """What came of the shares up to the capacity, rising."""
    met: dict[float, list[bool]] = {}
    for trial in run.trials:
        judged = trial.judged
        if trial.contender != name or trial.purpose != SHARE or trial.share is None or trial.share > 1.0:
            continue
        if judged is not None and trial.state in ("ok", "failed") and (judged.met or not judged.limit):
            met.setdefault(trial.share, []).append(judged.met)
    return tuple(ShareMet(share, sum(each), len(each)) for share, each in sorted(met.items()))


def _outcome(run: RunRecord, search: SearchRecord, by_order: dict[int, TrialRecord]) -> SearchOutcome:
    met, missed = (by_order.get(order) if order is not None else None for order in (search.met, search.missed))
    probes = sum(t.purpose == SEARCH and (t.contender, t.block) == (search.contender, search.block) for t in run.trials)
    terms = () if missed is None or missed.judged is None else missed.judged.terms
    return SearchOutcome(
        block=search.block,
        outcome=search.outcome,
        reason=search.reason,
        met=math.nan if met is None else met.load_step.x,
        missed=math.nan if missed is None else missed.load_step.x,
        probes=probes,
        missed_terms=tuple(term.term for term in terms if not term.met),
    )


def _least(search: SearchRecord, by_order: dict[int, TrialRecord]) -> LeastLoad | None:
    trial = None if search.missed is None else by_order.get(search.missed)
    if trial is None or trial.judged is None:
        return None
    return LeastLoad(search.block, trial.load_step.words, trial.state, trial.reason, trial.judged.terms)
