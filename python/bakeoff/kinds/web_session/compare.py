"""What comparisons know of sessions: where they broke, and how long each step took."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from bakeoff.compare.cube.cube import why_unusable
from bakeoff.compare.kind import ComparePart
from bakeoff.compare.model.comparison import KindSummary
from bakeoff.kinds.web_session.file import Step
from bakeoff.kinds.web_session.plan import session_settings
from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import Summary

# Before the names of steps, as the engine tells them.
SESSION_PREFIX = "session/"


@dataclass(frozen=True)
class StepRow:
    """A step in all trials of a contender at a load step. `answered` requests had the status that was expected,
    `broken` sessions ended here, each for one of the `faults`; p50 and p99 are geometric means over the blocks of
    usable trials.
    """

    step: str
    answered: int
    p50_ns: float
    p99_ns: float
    broken: int
    faults: dict[str, int]


@dataclass(frozen=True)
class StepTable:
    """The steps of a contender at a load step, in their order; `completed` sessions came to their end, `broken` did
    not.
    """

    contender: str
    load_step: LoadStep
    completed: int
    broken: int
    steps: tuple[StepRow, ...]


@dataclass(frozen=True)
class SessionSummary(KindSummary):
    """The tables of steps."""

    key: ClassVar[str] = "sessions"

    tables: tuple[StepTable, ...]

    def at(self, contender: str, load_step: LoadStep) -> StepTable | None:
        """The table of a contender at a load step."""
        return next(
            (table for table in self.tables if (table.contender, table.load_step) == (contender, load_step)), None
        )


def steps_of(run: RunRecord) -> tuple[Step, ...]:
    """The steps of a run's session, as its plan has them."""
    session = session_settings(run.planned.settings).session
    return () if session is None else session.steps


class Sessions(ComparePart):
    """See ComparePart. One operation is a whole session: one that breaks has failed, however many of its requests were
    answered before.
    """

    work = "sessions"

    def moved_bytes(self, trial: TrialRecord) -> int:
        """Those received: what is sent is mostly questions."""
        return trial.bytes_in

    def summary(self, run: RunRecord) -> SessionSummary:
        names = [step.name for step in steps_of(run)]
        return SessionSummary(
            tuple(
                _table(contender.name, load_step, _trials(run, contender.name, load_step), names)
                for load_step in sorted(run.load_steps)
                for contender in run.contenders
            )
        )


def _trials(run: RunRecord, contender: str, load_step: LoadStep) -> list[TrialRecord]:
    return [trial for trial in run.trials if (trial.contender, trial.load_step) == (contender, load_step)]


def _table(contender: str, load_step: LoadStep, trials: Sequence[TrialRecord], names: Sequence[str]) -> StepTable:
    usable = [trial for trial in trials if why_unusable(trial) is None]
    rows = [_row(name, trials, usable) for name in names]
    completed = sum(trial.operations for trial in trials)
    return StepTable(contender, load_step, completed, sum(row.broken for row in rows), tuple(rows))


def _row(name: str, trials: Sequence[TrialRecord], usable: Sequence[TrialRecord]) -> StepRow:
    faults: Counter[str] = Counter()
    for trial in trials:
        faults.update(trial.figures(Figures).failed.requests.get(name, {}))
    times = [_times(trial, name) for trial in usable]
    return StepRow(
        step=name,
        answered=sum(one.count for trial in trials if (one := _times(trial, name))),
        p50_ns=_geometric_mean([one.p50_ns for one in times if one]),
        p99_ns=_geometric_mean([one.p99_ns for one in times if one]),
        broken=sum(faults.values()),
        faults=dict(faults.most_common()),
    )


def _times(trial: TrialRecord, step: str) -> Summary | None:
    return next((one.summary for one in trial.steps if one.name == SESSION_PREFIX + step), None)


def _geometric_mean(values: Sequence[float | None]) -> float:
    logs = [math.log(value) for value in values if value]
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.nan


PART = Sessions()
