"""Whether trials were steady: who warmed up inside of the measured window, changed its pace, or drifted.

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
from bakeoff.compare.validity.steadiness_model import NotSteady, Pace, SteadyState, Unsteady, UnsteadyTrials, size
from bakeoff.load.steadiness import FEWEST_SECONDS, pace_of
from bakeoff.stats.series.stationarity import LEAST_SHARE, Steadiness
from bakeoff.store.records.run_records import RunRecord, TrialRecord

STEADY_STATE = "Steady state"


def steady_state(cube: Cube) -> SteadyState | None:
    """Of the usable trials; None where seconds say nothing of it: at rates the load sets the pace, and cells differ."""
    trials = [t for t in sorted(cube.usable.values(), key=lambda t: t.order) if t.starts is None and not cells_of(t)]
    trials = [trial for trial in trials if trial.per_second]
    if not trials:
        return None
    found = {trial.id: pace_of(trial.per_second) for trial in trials}
    contenders = []
    for name in cube.contenders:
        judged = [(t, pace) for t in trials if t.contender == name and (pace := found[t.id]) is not None]
        shares = [pace.effective / (pace.rows - pace.settled) for _, pace in judged]
        unsteady = tuple(_unsteady(trial, pace) for trial, pace in judged if not pace.is_steady)
        contenders.append(Pace(name, len(judged), median(shares) if shares else math.nan, unsteady))
    return SteadyState(FEWEST_SECONDS, sum(pace is None for pace in found.values()), tuple(contenders))


def _unsteady(trial: TrialRecord, pace: Steadiness) -> Unsteady:
    row_s = max(second.width_s for second in trial.per_second)
    changes = tuple((place * row_s, factor) for place, factor in pace.changes)
    settled_s = pace.settled * row_s
    where = trial.id, trial.contender, trial.load_step, trial.block
    return Unsteady(*where, settled_s, pace.early, changes, pace.growth)


def steady_audit(found: SteadyState) -> Audit:
    """It as an audit among the others."""
    unsteady = [each for pace in found.contenders for each in pace.unsteady]
    worst = max((size(each) for each in unsteady), default=0.0)
    deviating = tuple(AuditTrial(u.trial_id, u.contender, u.load_step, u.block, (u,)) for u in unsteady)
    judged = sum(pace.judged for pace in found.contenders)
    rule = SteadyRule(FEWEST_SECONDS, LEAST_SHARE)
    return Audit(STEADY_STATE, rule, judged, found.too_short, worst, deviating)


def steady_advice(run: RunRecord, found: SteadyState | None) -> list[Fact]:
    """Whose trials were not steady: one note of all of whom the same is to be done."""
    told: dict[int | None, list[UnsteadyTrials]] = {}
    for pace in found.contenders if found is not None else ():
        if (each := pace.told) is not None:
            told.setdefault(_ramp_up_s(run, pace), []).append(each)
    return [NotSteady(tuple(contenders), ramp_up_s) for ramp_up_s, contenders in told.items()]


def _ramp_up_s(run: RunRecord, pace: Pace) -> int | None:
    """How long a warm-up would be that leaves out what most of them were unsteady by; None where that is no warm-up."""
    warm = [each.settled_s for each in pace.unsteady if each.settled_s]
    if 2 * len(warm) < len(pace.unsteady):
        return None
    return math.ceil(run.planned.settings.clock.ramp_up_s + max(warm))
