"""Operations that never ended: a request that a server swallows must not make it look fast."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.compare.cube import blamed
from bakeoff.report.narrate import wording
from bakeoff.store.marks import STUCK_OPERATIONS
from bakeoff.store.records import TrialRecord

UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Hung:
    """`operations` never ended, in `trials` of `of` trials.

    A trial can be marked for an operation that began after its window, which is in no count: `operations` is
    then 0.
    """

    operations: int
    trials: int
    of: int

    def text(self, name: str) -> str:
        """One clause for a verdict or a warning."""
        where = f"{self.trials} of {wording.plural(self.of, 'trial')}"
        if self.operations:
            return f"{wording.plural(self.operations, 'operation')} of {name} never ended, in {where}"
        return f"{name} left operations hanging at the end of {where}"


def hung(trials: list[TrialRecord]) -> Hung:
    """Operations that never ended in `trials`; voided and interrupted trials say nothing about it."""
    counted = blamed(trials)
    touched = [trial for trial in counted if trial.errors.get(UNFINISHED, 0) > 0 or STUCK_OPERATIONS in trial.marks]
    return Hung(sum(trial.errors.get(UNFINISHED, 0) for trial in touched), len(touched), len(counted))
