"""What comparisons know of the mix of file operations: bytes decide, and clients may work in iterations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.failures.faults import FaultSource
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.metrics.metrics import megabytes_per_s, operations_rate
from bakeoff.compare.model.comparison import Audit
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.validity.audit_model import Edges
from bakeoff.compare.validity.audits import LITTLE_RED, LITTLE_TOLERANCE, LittlesLaw, same_content
from bakeoff.core.times import s_of
from bakeoff.kinds.file_mix.figures import MixFigures
from bakeoff.kinds.files.compare import FileWork
from bakeoff.plan.model import Plan
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY, Summary

# The step that a client tells of each iteration.
ITERATION = "iteration"


@dataclass(frozen=True)
class NotOnceThrough(Fact):
    """By contender in how many of its trials some client did not come through the mix once."""

    trials: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class LeftOut(Fact):
    """By contender the operations, by name, that its protocol has no words for and that were left out, counted."""

    operations: Mapping[str, Mapping[str, int]]


def _lost_writes(trial: TrialRecord) -> dict[str, int]:
    return {"lost": trial.figures(MixFigures).lost_writes or 0}


def _read_back(trial: TrialRecord) -> int:
    return trial.figures(MixFigures).read_back or 0


WRITES = FaultSource("written", ("lost",), _lost_writes, _read_back)


class Mix(FileWork):
    faults = (*FileWork.faults, WRITES)

    law_allows: Edges = "longest"

    def response(self, trial: TrialRecord) -> Summary:
        """Of iterations where clients worked in iterations, of single operations otherwise."""
        if not has_iterations(trial):
            return trial.service
        return next((step.summary for step in trial.steps if step.name == ITERATION), EMPTY_SUMMARY)

    def rates(self, plan: Plan) -> tuple[Metric, ...]:
        """Mbit/s, and operations beside."""
        decisive = Metric(
            "rate",
            title="Throughput of the mix",
            unit="Mbit/s",
            higher_is_better=True,
            scale="log",
            extract=mbit_per_s,
            short="Mbit/s",
        )
        return (decisive, operations_rate(self.work, "operations"))

    def endpoints(self, run: RunRecord, cube: Cube, general: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Response times are named after iterations where they are those of iterations."""
        in_iterations = any(has_iterations(trial) for trial in cube.usable.values())
        return tuple(_of_iterations(metric) for metric in general) if in_iterations else general

    def same_work(self, run: RunRecord, cube: Cube) -> Sequence[Audit]:
        """See ComparePart. Its calls have an order, so that a part of a cycle has other sizes than the whole."""
        return (same_content(cube, comparable=lambda trial: not cut_short(trial)),)

    def advice(self, run: RunRecord) -> list[Fact]:
        usable = [trial for trial in run.trials if trial.state == "ok"]
        every = Counter(trial.contender for trial in usable)
        found: list[Fact] = []
        if cut := Counter(trial.contender for trial in usable if cut_short(trial)):
            found.append(NotOnceThrough({name: (number, every[name]) for name, number in cut.items()}))
        left_out: dict[str, Counter[str]] = {name: Counter() for name in every}
        for trial in usable:
            left_out[trial.contender].update(trial.figures(MixFigures).not_expressible)
        if any(left_out.values()):
            found.append(LeftOut({name: dict(counts) for name, counts in left_out.items() if counts}))
        return found

    def implied_sessions(self, trial: TrialRecord, law: LittlesLaw) -> float | None:
        """X · (R + Z) over iterations: their rate, their mean time and the mean rest before them."""
        iterations = trial.figures(MixFigures).iterations
        return super().implied_sessions(trial, law) if iterations is None else iterations.implied_sessions

    def law_tolerance(self, trial: TrialRecord, law: LittlesLaw) -> float:
        """A call, or an iteration with its rest, counts whole where it ends: both edges of the window cut one, of any
        length.

        Calls last from microseconds in a cache to a good part of a short window on a disk that writes back, so that
        one mean call says nothing of those that are cut. Single calls are never let off more than `LITTLE_RED`.
        """
        if has_iterations(trial):
            return LITTLE_TOLERANCE + s_of(sum(step.summary.max_ns or 0 for step in trial.steps)) / trial.window_s
        cut = s_of(trial.service.max_ns or 0) / trial.window_s
        return min(LITTLE_RED, max(super().law_tolerance(trial, law), LITTLE_TOLERANCE + cut))


def cut_short(trial: TrialRecord) -> bool:
    """Whether some client of the office mix did not come through all applications once."""
    return trial.figures(MixFigures).cycles == 0


def has_iterations(trial: TrialRecord) -> bool:
    """Whether the clients of a trial worked in iterations with rests between them."""
    return trial.figures(MixFigures).iterations is not None


def mbit_per_s(trial: TrialRecord) -> float:
    """Bytes read and written in the window, as 10⁶ bits a second."""
    return 8 * megabytes_per_s(trial.bytes_in + trial.bytes_out, trial)


def _of_iterations(metric: Metric) -> Metric:
    plain = "response time"
    title = f"{plain} of an iteration"
    return replace(metric, title=metric.title.replace(plain, title), short=metric.short.replace(plain, title))


PART = Mix()
