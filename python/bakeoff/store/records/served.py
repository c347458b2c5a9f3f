"""The parts of a trial's work, each with what succeeded and what failed: an error budget that holds for all of the work
together lets a server drop one page, one client or one mailbox for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import TrialRecord

CLASS, STEP, CLIENT, LOAD = "class", "step", "client", "load"
# So many failures without one success are no chance in a trial; so many in all trials at one load.
NEVER_IN_TRIAL, NEVER_IN_ALL = 10, 3


@dataclass(frozen=True)
class WorkPart:
    """A part of the work: its `sort` and `name`, how many of its operations succeeded (`good`), and how many failed."""

    sort: str
    name: str
    good: int
    failed: int

    @property
    def key(self) -> tuple[str, str]:
        """What it is known by in every trial."""
        return self.sort, self.name

    @property
    def words(self) -> str:
        """`class /index.html`."""
        return f"{self.sort} {self.name}"


def parts_of(trial: TrialRecord) -> Iterator[WorkPart]:
    """Classes of operations, single requests and steps of which failures are told by name, and clients of a closed
    loop: connections that carry a rate stand in for each other.
    """
    if len(trial.per_operation) > 1:
        for one in trial.per_operation:
            yield WorkPart(CLASS, one.name, one.operations, sum(one.errors.values()))
    yield from _named(trial)
    if trial.starts is None and len(trial.per_client) > 1:
        for each in trial.per_client:
            yield WorkPart(CLIENT, str(each.client), each.operations, each.errors)


def _named(trial: TrialRecord) -> Iterator[WorkPart]:
    """What is told of by name when it fails, and answered how often: requests, and steps of sessions."""
    failures = trial.figures(Figures).failed
    steps = {step.name.rpartition("/")[2]: step.summary.count for step in trial.steps}
    classes = {one.name for one in trial.per_operation}
    for name, faults in failures.requests.items():
        good = failures.answered.get(name, steps.get(name))
        if good is not None and name not in classes:
            yield WorkPart(STEP if name in steps else "request", name, good, sum(faults.values()))


def added_up(trials: Iterable[Iterable[WorkPart]]) -> list[WorkPart]:
    """The parts of several trials, those of one name as one."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for parts in trials:
        for part in parts:
            good, failed = sums.get(part.key, (0, 0))
            sums[part.key] = good + part.good, failed + part.failed
    return [WorkPart(*key, *counts) for key, counts in sums.items()]


def never_served(parts: Iterable[WorkPart], least: int = NEVER_IN_TRIAL) -> list[WorkPart]:
    """Those that were tried so often and never succeeded; of clients that is starvation, which is told apart."""
    return [part for part in parts if part.sort != CLIENT and part.good == 0 and part.failed >= least]
