"""Whether contenders meet the objective of a plan, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bakeoff.compare.failures.faults_model import Fault
from bakeoff.compare.model.fact import Fact
from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.trial_parts import TermRecord

ObjectiveVerdict = Literal["met", "missed", "undecided"]
# The kinds of their sentences in a headline.
KINDS: Mapping[ObjectiveVerdict, str] = {
    "met": "objective_met",
    "missed": "objective_missed",
    "undecided": "objective_undecided",
}


@dataclass(frozen=True)
class Missed(Fact):
    """In `trials` of `of`, by these `terms`, or as a trial failed for a `reason`; empty where nobody knows one."""

    terms: tuple[TermRecord, ...]
    reason: str
    trials: int
    of: int


@dataclass(frozen=True)
class FewUsable(Fact):
    """So many trials of so many blocks can be used."""

    usable: int
    blocks: int


@dataclass(frozen=True)
class FewAsked(Fact):
    """So many operations show nothing, so many would."""

    operations: int
    needed: int


@dataclass(frozen=True)
class AtLoad(Fact):
    """At this load, and why."""

    load_step: LoadStep
    why: Fact


@dataclass(frozen=True)
class WrongAnswers(Fact):
    """Faults in its answers."""

    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class NoTrial(Fact):
    """No trial was done."""


@dataclass(frozen=True)
class ObjectiveAtStep:
    """A contender at one load: in how many trials the objective was met, missed, or neither could be told. `worst` has
    each term as the trial came to it that lost most by it; `why` it is not met, None where it is.
    """

    load_step: LoadStep
    verdict: ObjectiveVerdict
    met: int
    missed: int
    undecided: int
    worst: tuple[TermRecord, ...]
    why: Fact | None


@dataclass(frozen=True)
class ContenderObjective:
    """A contender at all loads; `why` is that of the first load that decides, or of faults in its answers."""

    name: str
    verdict: ObjectiveVerdict
    why: Fact | None
    loads: tuple[ObjectiveAtStep, ...]


@dataclass(frozen=True)
class ObjectiveOutcome:
    """An objective and who meets it. The verdict is missed when one contender misses it, met when all meet it."""

    objective: str
    verdict: ObjectiveVerdict
    contenders: tuple[ContenderObjective, ...]
