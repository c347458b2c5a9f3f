"""What others than the contenders did to the trials of a run, and what is left of a verdict then.

A trial is disturbed when the generator waited for a processor, or others took the processors. Where most trials of
one of two are, a difference of processors can pass for one of servers: how large it may be is computed, and a lead
that is no larger is none (docs/explanation/statistics.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.compare.model.gate import GateDetail
from bakeoff.compare.model.pair import Gate
from bakeoff.stats import Decision
from bakeoff.store.records.figures import Figures, OtherLoad
from bakeoff.store.records.marks import GENERATOR_WAITED, OTHER_LOAD
from bakeoff.store.records.run_records import TrialRecord

# Beside load that comes and goes blocks differ by several times, and equals agree in six of them once in 32: a
# direction is certain when equals would show it once in a thousand runs, by the t test and by sign flips (11 blocks).
CERTAIN = 0.001
# Under this share of the processors nothing is left to compute with.
LEAST_LEFT = 0.05


def lost_share(trial: TrialRecord) -> float:
    """The share of the window in which the generator was stopped, of several machines that which lost most."""
    shares = [share.disturbances.get("lost_share", 0.0) for share in trial.per_agent]
    return max([trial.figures(Figures).lost_share, *(float(each) for each in shares if isinstance(each, int | float))])


def others_of(trial: TrialRecord) -> OtherLoad | None:
    """What others took of the machine that sent load, of several of the one of which they took most; None where nobody
    could tell.
    """
    loads = [trial.figures(Figures).others]
    loads += [OtherLoad.model_validate(one) for share in trial.per_agent if (one := share.disturbances.get("others"))]
    return max((each for each in loads if each is not None), key=lambda each: each.share, default=None)


@dataclass(frozen=True)
class Crowd:
    """How crowded the machine was while one contender was measured: of `trials`, how many were disturbed, and of the
    mean trial the share of processors that others took and of the time that the generator waited for one, each None
    where nobody measured it.
    """

    trials: int
    disturbed: int
    others: float | None
    waited: float | None
    names: tuple[str, ...]

    @property
    def in_most(self) -> bool:
        """Whether most trials were disturbed."""
        return 2 * self.disturbed > self.trials

    @property
    def left(self) -> float:
        """The share of a machine of its own that the trial had."""
        return max(LEAST_LEFT, (1.0 - (self.others or 0.0)) * (1.0 - (self.waited or 0.0)))


@dataclass(frozen=True)
class Crowded(GateDetail):
    """What met trials of two; processors alone could make `leader` so many times as fast, 1 where they explain none."""

    crowds: dict[str, Crowd]
    leader: str
    explained: float


def crowd(usable: Sequence[TrialRecord]) -> Crowd:
    """Of all trials that count."""
    loads = [others_of(trial) for trial in usable]
    waits = [share for trial in usable if (share := trial.generator_run_delay_share) is not None]
    taken: dict[str, float] = {}
    for each in loads:
        for process in () if each is None else each.processes:
            taken[process.name] = taken.get(process.name, 0.0) + process.taken
    known = [each.share for each in loads if each is not None]
    return Crowd(
        trials=len(usable),
        disturbed=sum(GENERATOR_WAITED in trial.marks or OTHER_LOAD in trial.marks for trial in usable),
        others=min(1.0, math.fsum(known) / len(known)) if known else None,
        waited=math.fsum(waits) / len(waits) if waits else None,
        names=tuple(sorted(taken, key=lambda name: -taken[name])[:2]),
    )


def crowd_gate(
    decision: Decision, leader: str, follower: str, crowds: dict[str, Crowd], delta: float, least: float, p: float
) -> Gate | None:
    """What disturbed trials leave of a decision; None where not most trials of one of the two were. `least` is the
    factor by which the leader is ahead at the least, `p` the larger one of the t test and the sign-flip test; NaN where
    they are not known.

    Amber: the direction stands, its size does not. Red: nothing does, as the lead is not above what the processors that
    the two had can explain, with the smallest difference that matters on top, or could be chance once in a thousand
    runs; or there was none, which noise hides.
    """
    if not any(each.in_most for each in crowds.values()):
        return None
    explained = max(1.0, crowds[leader].left / crowds[follower].left)
    both = {name: crowds[name] for name in (follower, leader)}
    if decision.outcome in ("higher", "lower") and least > explained * (1.0 + delta) and p <= CERTAIN:
        return Gate("other load", "amber", follower, Crowded(both, leader, 1.0))
    alone = explained > 1.0 + delta and decision.outcome in ("higher", "lower")
    return Gate("other load", "red", follower, Crowded(both, leader, explained if alone else 1.0))
