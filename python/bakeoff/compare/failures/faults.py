"""What a contender did wrong to the data in its care: mail, records, files and pages that are not what they should be.

A refusal, a time-out or a reset is seen by the client, which can try again: an error. Wrong content and wrong books are
taken for right, and are found only because the generator knows what is right. One is enough: there is no rate of losing
mail at which a server is the better one, and a share of the checked work says nothing of the data that nobody checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bakeoff.compare.cube.cells import cells_of
from bakeoff.compare.cube.cube import blamed
from bakeoff.compare.failures.faults_model import Fault
from bakeoff.store.records.run_records import RunRecord, TrialRecord


@dataclass(frozen=True)
class FaultSource:
    """Where faults of one sort are found, `key` is its name. `classes` are those that count, in the order of printing;
    `counts` gives the classes of a trial, `of` the number of things that were looked at.
    """

    key: str
    classes: tuple[str, ...]
    counts: Callable[[TrialRecord], dict[str, int]]
    of: Callable[[TrialRecord], int]


def _damaged_records(trial: TrialRecord) -> dict[str, int]:
    cells = cells_of(trial)
    # A cell that the damage has broken off tells none.
    in_all = trial.errors.get("wrong_content", 0) if cells else 0
    return {"damaged": max(in_all, sum(cell.damaged or 0 for cell in cells))}


def _records(trial: TrialRecord) -> int:
    return sum(cell.operations or 0 for cell in cells_of(trial)) or _answered(trial)


def _content(trial: TrialRecord) -> dict[str, int]:
    # Damaged records of cells are told as such.
    return {} if cells_of(trial) else trial.errors


def _answered(trial: TrialRecord) -> int:
    return trial.operations + trial.errors_total


RECORDS = FaultSource("records", ("damaged",), _damaged_records, _records)
ANSWERS = FaultSource("answers", ("wrong_content", "short_body"), _content, _answered)


def faults(trials: Iterable[TrialRecord], sources: Iterable[FaultSource]) -> tuple[Fault, ...]:
    """What is wrong in `trials` of one contender; voided and interrupted trials are not held against it."""
    counted = blamed(list(trials))
    listed = []
    for source in sources:
        sums: Counter[str] = Counter()
        touched = 0
        for trial in counted:
            items = source.counts(trial).items()
            counts = {name: count for name, count in items if name in source.classes and count > 0}
            sums.update(counts)
            touched += bool(counts)
        if touched:
            found = {name: sums[name] for name in source.classes if sums[name]}
            listed.append(Fault(source.key, found, sum(source.of(trial) for trial in counted), touched))
    return tuple(listed)


def faults_of(run: RunRecord, sources: Sequence[FaultSource]) -> dict[str, tuple[Fault, ...]]:
    """The faults of each contender that has any."""
    by_contender = {c.name: faults((t for t in run.trials if t.contender == c.name), sources) for c in run.contenders}
    return {name: listed for name, listed in by_contender.items() if listed}
