"""What a check found: whether a run keeps to the regression that is allowed, by contender and endpoint."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bakeoff.compare.limits.objective_model import ContenderObjective
from bakeoff.compare.model.comparison import Advisory
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import Gate
from bakeoff.compare.planning.noise_model import NoiseQuote
from bakeoff.compare.verdict.blocks_needed import Needed
from bakeoff.load.load_step import LoadStep

Outcome = Literal["pass", "worse", "inconclusive", "void", "missed", "undecided"]
# What decides over several: an objective that is missed, as in a run, then what could not be judged, then what was.
PRECEDENCE: tuple[Outcome, ...] = ("missed", "void", "worse", "undecided", "inconclusive", "pass")
EXIT_CODES: dict[Outcome, int] = {"pass": 0, "worse": 1, "inconclusive": 3, "void": 4, "undecided": 5, "missed": 99}


@dataclass(frozen=True)
class LimitCheck:
    """One endpoint of one contender against the baseline. `most` is the regression that is allowed, a share; `limit`
    the ratio that this is: the least of what is good when it is much, the most of other things. `low` and `high` are
    the interval that decides, at `level`, NaN under six blocks; `load_steps_left_out` are in neither. `why` has what
    the outcome does not say. `floor` is by what equals differ at most in so many blocks of this set-up, NaN where that
    was not measured; it decides nothing, and `floor_hides` says whether that is as large as what decided.
    """

    contender: str
    metric: str
    title: str
    outcome: Outcome
    why: Fact | None
    ratio: float
    low: float
    high: float
    level: float
    blocks: int
    most: float
    limit: float
    higher_is_better: bool
    more_blocks: int | None = None
    load_steps_left_out: tuple[LoadStep, ...] = ()
    floor: float = math.nan
    floor_hides: bool = False


@dataclass(frozen=True)
class Resume(Fact):
    """What goes on with a run file, with so many `more_blocks`; no file: nothing does, it has to be measured again."""

    file: str | None
    more_blocks: int = 0


@dataclass(frozen=True)
class Void(Fact):
    """Nothing can be said of a pair."""

    reasons: tuple[Gate | NothingUsable | PairsForfeited | FewPairs, ...]


@dataclass(frozen=True)
class NothingUsable(Fact):
    """No block has usable trials of both for the endpoint of this title."""

    title: str


@dataclass(frozen=True)
class PairsForfeited(Fact):
    """A contender lost pairs."""

    contender: str
    forfeited: int
    pairs: int


@dataclass(frozen=True)
class FewPairs(Fact):
    """Too few pairs can be compared at these load steps."""

    load_steps: tuple[LoadStep, ...]


@dataclass(frozen=True)
class TrialsMissing(Fact):
    """Of the trials that were planned; 0: the run did not end."""

    missing: int
    planned: int
    rest: Resume


@dataclass(frozen=True)
class BlocksMissing(Fact):
    """To the fewest that there is a verdict of."""

    rest: Resume


@dataclass(frozen=True)
class NotSettled(Fact):
    """`needed` is how many blocks would settle it, or that none would."""

    needed: Needed
    rest: Resume | None


@dataclass(frozen=True)
class CheckedObjective:
    """A contender held to the objective of the plan. What is met in a part of a run, whose `rest` there is to do, is
    not met in all of it.
    """

    contender: str
    objective: str
    outcome: Outcome
    objectives: ContenderObjective
    rest: Resume | None = None


@dataclass(frozen=True)
class Check:
    """All that was checked of a run: `objectives` where its plan has one, `checked` where it has a second contender.
    `notes` are what must be known besides. It began at `created_at` (ISO 8601, UTC); `measured_s` is how long each
    contender was measured in all of its trials.
    """

    run: str
    suite: str
    baseline: str
    checked: tuple[LimitCheck, ...]
    notes: tuple[Gate | Advisory | NoiseQuote, ...]
    objectives: tuple[CheckedObjective, ...] = ()
    created_at: str = ""
    measured_s: Mapping[str, float] = field(default_factory=dict)

    @property
    def all(self) -> tuple[LimitCheck | CheckedObjective, ...]:
        """Objectives first."""
        return (*self.objectives, *self.checked)

    @property
    def outcome(self) -> Outcome:
        """Of the whole run: passed when all passed."""
        found = {each.outcome for each in self.all}
        return next(outcome for outcome in PRECEDENCE if outcome in found)

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        return EXIT_CODES[self.outcome]

    @property
    def ordered(self) -> tuple[LimitCheck | CheckedObjective, ...]:
        """What decides over all first."""
        return tuple(sorted(self.all, key=lambda each: PRECEDENCE.index(each.outcome)))
