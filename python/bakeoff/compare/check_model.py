"""What a check found: whether a run keeps to the regression that is allowed, by contender and endpoint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["pass", "worse", "inconclusive", "void", "missed", "undecided"]
# What decides over several: an objective that is missed, as in a run, then what could not be judged, then what was.
PRECEDENCE: tuple[Outcome, ...] = ("missed", "void", "worse", "undecided", "inconclusive", "pass")
EXIT_CODES: dict[Outcome, int] = {"pass": 0, "worse": 1, "inconclusive": 3, "void": 4, "undecided": 5, "missed": 99}


@dataclass(frozen=True)
class Checked:
    """One endpoint of one contender against the baseline. `most` is the regression that is allowed, a share; `limit`
    the ratio that this is: the least of what is good when it is much, the most of other things. `low` and `high` are
    the interval that decides, at `level`, NaN under six blocks. `text` is all of it in one sentence. `floor` is by what
    equals differ at most in so many blocks of this set-up, NaN where that was not measured; it decides nothing.
    """

    contender: str
    metric: str
    title: str
    outcome: Outcome
    text: str
    ratio: float
    low: float
    high: float
    level: float
    blocks: int
    most: float
    limit: float
    higher_is_better: bool
    more_blocks: int | None = None
    floor: float = math.nan


@dataclass(frozen=True)
class CheckedObjective:
    """A contender held to the objective of the plan; `text` says in one sentence whether it is met."""

    contender: str
    objective: str
    outcome: Outcome
    text: str


@dataclass(frozen=True)
class Check:
    """All that was checked of a run: `held` where its plan has an objective, `checked` where it has a second contender.
    `notes` are what must be known besides.
    """

    run: str
    suite: str
    baseline: str
    checked: tuple[Checked, ...]
    notes: tuple[str, ...]
    held: tuple[CheckedObjective, ...] = ()

    @property
    def all(self) -> tuple[Checked | CheckedObjective, ...]:
        """Objectives first."""
        return (*self.held, *self.checked)

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
    def sentences(self) -> tuple[str, ...]:
        """One for each endpoint and objective, the outcome first: what decides over all comes first."""
        ordered = sorted(self.all, key=lambda each: PRECEDENCE.index(each.outcome))
        return tuple(dict.fromkeys(f"{each.outcome}: {each.text}" for each in ordered))
