"""Operations that never ended: a request that a server swallows must not make it look fast."""

from __future__ import annotations

from bakeoff.compare.cube.cube import blamed
from bakeoff.compare.failures.hung_model import Hung
from bakeoff.store.records.marks import STUCK_OPERATIONS
from bakeoff.store.records.run_records import TrialRecord

UNFINISHED = "unfinished"


def hung(trials: list[TrialRecord]) -> Hung:
    """Operations that never ended in `trials`; voided and interrupted trials say nothing about it."""
    counted = blamed(trials)
    touched = [trial for trial in counted if trial.errors.get(UNFINISHED, 0) > 0 or STUCK_OPERATIONS in trial.marks]
    return Hung(sum(trial.errors.get(UNFINISHED, 0) for trial in touched), len(touched), len(counted))
