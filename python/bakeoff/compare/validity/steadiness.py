"""Whether trials were steady: who warmed up inside of the measured window, changed its rate, or drifted.

It voids nothing: blocks bear what trials are not steady by. But a mean over a course is the mean of nothing.
"""

from __future__ import annotations

import math
from statistics import median

from bakeoff.compare.cube.cells import cells_of
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.model.comparison import Audit, AuditTrial
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.validity.audit_model import SteadyRule
from bakeoff.compare.validity.steadiness_model import (
    ContenderSteadiness,
    NotSteady,
    SteadyState,
    Unsteady,
    UnsteadyTrials,
    size,
)
from bakeoff.load.steadiness import FEWEST_SECONDS, steadiness_of
from bakeoff.stats.series.stationarity import LEAST_SHARE, Steadiness
from bakeoff.store.records.run_records import RunRecord, TrialRecord

STEADY_STATE = "Steady state"


def steady_state(cube: Cube) -> SteadyState | None:
    """Of the usable trials; None where seconds say nothing of it: at rates the load sets the rate, and cells differ."""
    trials = [t for t in sorted(cube.usable.values(), key=lambda t: t.order) if t.starts is None and not cells_of(t)]
    trials = [trial for trial in trials if trial.per_second]
    if not trials:
        return None
    found = {trial.id: steadiness_of(trial.per_second) for trial in trials}
    contenders = []
    for name in cube.contenders:
        judged = [(t, steadiness) for t in trials if t.contender == name and (steadiness := found[t.id]) is not None]
        shares = [steadiness.effective / (steadiness.rows - steadiness.settled) for _, steadiness in judged]
        unsteady = tuple(_unsteady(trial, steadiness) for trial, steadiness in judged if not steadiness.is_steady)
        contenders.append(ContenderSteadiness(name, len(judged), median(shares) if shares else math.nan, unsteady))
    return SteadyState(FEWEST_SECONDS, sum(steadiness is None for steadiness in found.values()), tuple(contenders))


def _unsteady(trial: TrialRecord, steadiness: Steadiness) -> Unsteady:
    interval_s = max(second.width_s for second in trial.per_second)
    changes = tuple((place * interval_s, factor) for place, factor in steadiness.changes)
    settled_s = steadiness.settled * interval_s
    where = trial.id, trial.contender, trial.load_step, trial.block
    return Unsteady(*where, settled_s, steadiness.early, changes, steadiness.growth)


def steady_audit(found: SteadyState) -> Audit:
    """It as an audit among the others."""
    unsteady = [each for steadiness in found.contenders for each in steadiness.unsteady]
    worst = max((size(each) for each in unsteady), default=0.0)
    deviating = tuple(AuditTrial(u.trial_id, u.contender, u.load_step, u.block, (u,)) for u in unsteady)
    judged = sum(steadiness.judged for steadiness in found.contenders)
    rule = SteadyRule(FEWEST_SECONDS, LEAST_SHARE)
    return Audit(STEADY_STATE, rule, judged, found.too_short, worst, deviating)


def steady_advice(run: RunRecord, found: SteadyState | None) -> list[Fact]:
    """Whose trials were not steady: one note of all of whom the same is to be done."""
    by_mix: dict[int | None, list[UnsteadyTrials]] = {}
    for steadiness in found.contenders if found is not None else ():
        if (each := steadiness.unsteady_trials) is not None:
            by_mix.setdefault(_ramp_up_s(run, steadiness), []).append(each)
    return [NotSteady(tuple(contenders), ramp_up_s) for ramp_up_s, contenders in by_mix.items()]


def _ramp_up_s(run: RunRecord, steadiness: ContenderSteadiness) -> int | None:
    """How long a warm-up would be that leaves out what most of them were unsteady by; None where that is no warm-up."""
    warm = [each.settled_s for each in steadiness.unsteady if each.settled_s]
    if 2 * len(warm) < len(steadiness.unsteady):
        return None
    return math.ceil(run.planned.settings.clock.ramp_up_s + max(warm))
