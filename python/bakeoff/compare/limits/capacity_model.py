"""What searches for capacities found: immutable values, ready to be written as JSON. NaN means "not available"."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.store.records.trial_parts import TermRecord

# Key of what decides.
CAPACITY = "capacity"


@dataclass(frozen=True)
class SearchOutcome:
    """How a search ended. `met` is the highest load that met the objective, `missed` the lowest above it that did not,
    both NaN where there is none; `missed_terms` are those that the latter missed.
    """

    block: int
    outcome: str
    reason: str
    met: float
    missed: float
    probes: int
    missed_terms: tuple[str, ...]


@dataclass(frozen=True)
class LeastLoad:
    """The least load of a search that no load met, and what its terms came to: times in ns, and shares."""

    block: int
    load: str
    state: str
    reason: str
    terms: tuple[TermRecord, ...]


@dataclass(frozen=True)
class ShareMet:
    """How many of the trials at this share of what was found met the objective."""

    share: float
    met: int
    trials: int


@dataclass(frozen=True)
class ContenderCapacity:
    """The capacity of one contender: the geometric mean of the `blocks` that found one, and its interval, NaN under
    six. In `at_least` blocks something else was the limit; in `none` no load met the objective, in `died` it died, and
    in `unsettled` the probes were too few.
    """

    name: str
    blocks: int
    capacity: float
    low: float
    high: float
    at_least: int
    none: int
    died: int
    unsettled: int
    searches: tuple[SearchOutcome, ...]
    least: LeastLoad | None
    # Up to the capacity itself; trials that were voided, or whose generator was the limit, are not among them.
    shares: tuple[ShareMet, ...] = ()

    @property
    def unconfirmed(self) -> ShareMet | None:
        """The lowest share at which the objective was missed, though all that was found should have met it."""
        return next((each for each in self.shares if each.met < each.trials), None)


@dataclass(frozen=True)
class CapacityComparison:
    """What searches found. `unit` is that of all loads."""

    objective: str
    by: str
    unit: str
    width: float
    searches_planned: int
    contenders: tuple[ContenderCapacity, ...]
