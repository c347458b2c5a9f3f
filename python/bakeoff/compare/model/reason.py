"""Why a trial or a cell has no figures, or counts as forfeited."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from bakeoff.compare.model.fact import Fact
from bakeoff.store.records.run_records import TrialRecord


@dataclass(frozen=True)
class Recorded(Fact):
    """The reason that the run file has, or none that it should have."""

    reason: str


@dataclass(frozen=True)
class NoneSucceeded(Fact):
    """No operation of a trial succeeded."""


@dataclass(frozen=True)
class NoneInWindow(Fact):
    """No operation succeeded in the window; those that failed there, by class."""

    errors: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class NoRate(Fact):
    """No rate was recorded."""


@dataclass(frozen=True)
class NoneOfUnit(Fact):
    """Nothing of what decides, in this `unit`, in the window, though operations succeeded."""

    unit: str
    operations: int


@dataclass(frozen=True)
class OtherMachines(Fact):
    """These machines sent a trial, and others sent what it would be compared with."""

    own: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class OtherProbeMachines(Fact):
    """These machines sent most probes of a search, and others the rest, set by set."""

    usual: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class NoCapacity(Fact):
    """A search found no capacity."""


@dataclass(frozen=True)
class ClientsUnserved(Fact):
    """These of so many clients got (next to) nothing."""

    clients: tuple[int, ...]
    of: int


@dataclass(frozen=True)
class NeverServed(Fact):
    """Parts of the work that never succeeded, and how often each failed."""

    parts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class NoTransfer(Fact):
    """No transfer of a cell ended."""


@dataclass(frozen=True)
class GeneratorIdle(Fact):
    """The generator did not run for these of so many clients, for a `share` of the time of a cell."""

    clients: tuple[int, ...]
    of: int
    share: float


@dataclass(frozen=True)
class DamagedRecords(Fact):
    """Records of a cell that a contender gave back damaged."""

    contender: str
    records: int


@dataclass(frozen=True)
class NoCommonBlock(Fact):
    """Two contenders have a rate of a cell in no block together."""


@dataclass(frozen=True)
class MovedNothing(Fact):
    """In how many blocks contenders moved nothing in a cell, for a client at least."""

    blocks: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class SeveralReasons(Fact):
    """More than one."""

    reasons: tuple[Fact, ...]


@dataclass(frozen=True)
class StandIn(TrialRecord):
    """A trial that stands for a search, and why that has no figures."""

    why: Fact | None = None


def stand_in(trial: TrialRecord, why: Fact, **changes: Any) -> StandIn:
    """`trial` with these changes for a search without figures."""
    own = {field.name: getattr(trial, field.name) for field in fields(TrialRecord) if field.init}
    return StandIn(**{**own, **changes}, why=why)


def reason_of(trial: TrialRecord) -> Fact | None:
    """Why a trial has no figures, as far as somebody said so."""
    if isinstance(trial, StandIn):
        return trial.why
    return Recorded(trial.reason) if trial.reason else None
