"""What a gate found, as data: its words are made in `report/narrate/verdict/gates.py`."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.compare.cube.spread import RateSpread
from bakeoff.compare.failures.error_replies import ErrorReplies
from bakeoff.compare.failures.faults_model import Fault
from bakeoff.compare.failures.hung_model import Hung
from bakeoff.compare.resources.fleet_model import BusyThreads, FullLink
from bakeoff.compare.validity.client_options_model import ClientOption
from bakeoff.compare.validity.steadiness_model import UnsteadyTrials


@dataclass(frozen=True)
class GateDetail:
    """What a gate found; each check has its own."""


@dataclass(frozen=True)
class StoredWords(GateDetail):
    """What is known in these words alone, as the checks of a run store it."""

    stated: str


@dataclass(frozen=True)
class FilesDiffer(GateDetail):
    """Run files by label, each with its ratio and interval: they speak against each other."""

    files: tuple[tuple[str, float, float, float], ...]


@dataclass(frozen=True)
class DifferentPages(StoredWords):
    """What two answered differently before timing; empty where that is all that is known."""


@dataclass(frozen=True)
class OtherContent(GateDetail):
    """Two contenders that did not send the same."""

    leader: str
    follower: str


@dataclass(frozen=True)
class ClientOptionsDifferGate(GateDetail):
    """Settings of clients that differ between contenders, of a `kind` of suite."""

    kind: str
    client_options: tuple[ClientOption, ...]
    between: tuple[str, str]


@dataclass(frozen=True)
class MoreErrorReplies(GateDetail):
    """Replies that say no, and those of the `other`, which has fewer."""

    own: ErrorReplies
    other: str
    theirs: ErrorReplies


@dataclass(frozen=True)
class Stopped(GateDetail):
    """In how many trials the generator was stopped, the share of its time that this took, and that with the other."""

    trials: int
    lost_share: float
    other: str
    other_lost_share: float


@dataclass(frozen=True)
class Faulty(GateDetail):
    """What a contender did wrong to the data in its care."""

    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class InTrials(GateDetail):
    """In so many of how many trials."""

    trials: int
    of: int


@dataclass(frozen=True)
class FailedTrials(InTrials):
    """Trials that failed."""


@dataclass(frozen=True)
class Repetitions(GateDetail):
    """Trials that had failed and were repeated."""

    trials: int


@dataclass(frozen=True)
class Starving(InTrials):
    """Trials in which clients got nothing."""


@dataclass(frozen=True)
class WrongAnswers(GateDetail):
    """The share of the work that was answered wrongly."""

    share: float
    work: str


@dataclass(frozen=True)
class ErrorsOver(GateDetail):
    """The share of the work, or of a part of it, that failed."""

    share: float
    of: str


@dataclass(frozen=True)
class Flattering(ErrorsOver):
    """Failures that are the whole of a lead: as slow as the slowest answer they would leave none."""


@dataclass(frozen=True)
class GeneratorLimit(InTrials):
    """The load threads that had no pause were the limit. A lead `is_bound`: it is at least the one shown."""

    threads: BusyThreads
    is_bound: bool


@dataclass(frozen=True)
class LinkLimit(InTrials):
    """Which link was full. A lead `is_bound`: it is at least the one shown."""

    link: FullLink
    is_bound: bool


@dataclass(frozen=True)
class NearGeneratorCapacity(InTrials):
    """The largest share of what the generator could ask at most; `is_floor` where that is a lower bound."""

    share: float
    is_floor: bool


@dataclass(frozen=True)
class LateStarts(InTrials):
    """Trials in which the generator itself began late."""


@dataclass(frozen=True)
class Waits(InTrials):
    """The largest share of its time that the generator waited for a processor."""

    share: float


@dataclass(frozen=True)
class Uneven(GateDetail):
    """Blocks whose rates of `work` disagree."""

    spread: RateSpread
    work: str


@dataclass(frozen=True)
class NotSteady(GateDetail):
    """Trials that were not steady."""

    trials: UnsteadyTrials


@dataclass(frozen=True)
class LeftOpen(GateDetail):
    """Operations that never ended."""

    hung: Hung


@dataclass(frozen=True)
class StaleConnections(GateDetail):
    """The share of the work whose kept connection was ended before it was answered."""

    share: float
    work: str


@dataclass(frozen=True)
class LawOff(InTrials):
    """Trials in which Little's law is off by more than a share."""

    by: float


@dataclass(frozen=True)
class NotConfirmed(GateDetail):
    """At a `share` of the capacity so many trials of how many `missed` the objective; 0 of 0 where none followed."""

    share: float
    missed: int
    of: int


@dataclass(frozen=True)
class WorseInPrimary(GateDetail):
    """Who is certainly behind in what decides is not called better in anything else."""

    decides: str


@dataclass(frozen=True)
class CutOff(GateDetail):
    """Searches that ended at what was no limit of the contender, for a reason. A lead `is_bound`."""

    searches: int
    of: int
    reason: str
    is_bound: bool
