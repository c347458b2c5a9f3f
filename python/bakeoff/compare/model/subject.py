"""What a comparison is of: a run as the statistics take it, with what it is judged by."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.repeated import repeated_trials
from bakeoff.compare.estimate.interim import interim_of
from bakeoff.compare.failures.content import differences
from bakeoff.compare.failures.faults import faults_of
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.cell import CellPair
from bakeoff.compare.model.comparison import Audit
from bakeoff.compare.model.pair import PairComparison
from bakeoff.compare.resources.telemetry_cost import cost_metrics
from bakeoff.compare.shapes import Shape, shape_of
from bakeoff.compare.validity.audits import different_content, littles_law
from bakeoff.compare.validity.client_options import client_options_of
from bakeoff.compare.validity.gates import Judge
from bakeoff.compare.validity.generator_capacity import generator_capacities
from bakeoff.compare.validity.steadiness import steady_audit, steady_state
from bakeoff.compare.verdict.blocks_needed import block_lengths_s
from bakeoff.core.errors import PlanError
from bakeoff.store.records.run_records import RunRecord


@dataclass(frozen=True)
class Asked:
    """What a comparison was asked for: see `compare_run`."""

    baseline: str
    delta: float
    both: bool
    block_s: float


@dataclass(frozen=True)
class Subject:
    """`whole` is the run as it is stored, `run` as the statistics take it, with its trials in `cube`. The first of
    `metrics` decides, but in a search.
    """

    whole: RunRecord
    run: RunRecord
    shape: Shape
    cube: Cube
    metrics: tuple[Metric, ...]
    audits: tuple[Audit, ...]
    judge: Judge

    def files_disagree(self, pair: PairComparison | CellPair) -> bool:
        """Whether files disagree about a pair: then no figure of all of them together is told of it."""
        gate = self.judge.files.get((self.metrics[0].key, frozenset((pair.baseline, pair.contender))))
        return gate is not None and gate.level == "red"


def asked_of(run: RunRecord, baseline: str | None, delta: float | None, both: bool, block_s: float | None) -> Asked:
    """The arguments of `compare_run` with its defaults. Raises PlanError as it does."""
    names = [contender.name for contender in run.contenders]
    first = names[0] if baseline is None else baseline
    if first not in names:
        raise PlanError(f"there is no contender {first!r} in this run: choose one of {', '.join(names)}")
    smallest = _planned_delta(run) if delta is None else delta
    if not 0.0 <= smallest < 1.0:
        raise PlanError(f"delta must lie between 0 % and 100 %, not {smallest:.0%}: give it as 5% or 0.05")
    return Asked(first, smallest, both, block_lengths_s({"": run})[""] if block_s is None else block_s)


def subject_of(whole: RunRecord, asked: Asked) -> Subject:
    """What of `whole` is compared, and its judge."""
    shape = shape_of(whole)
    run = shape.view(whole)
    cube = shape.cube(whole, run, asked.baseline)
    little, steady = littles_law(run, cube.kind), steady_state(cube)
    audits = shape.audits(whole, run, cube, little)
    audits += () if steady is None else (steady_audit(steady),)
    judge = Judge(
        cube=cube,
        little=little,
        delta=asked.delta,
        faults=faults_of(whole, cube.kind.faults),
        different=different_content(cube, audits),
        differences=differences(run),
        interim=interim_of(whole),
        repeated=repeated_trials(whole),
        capacities=generator_capacities(run),
        both=asked.both,
        steady=steady,
        kind=run.kind,
        client_options=client_options_of(whole),
        block_s=asked.block_s,
    )
    metrics = (*shape.endpoints(run, cube), *cost_metrics(run, cube))
    return Subject(whole, run, shape, cube, metrics, audits, judge)


def _planned_delta(run: RunRecord) -> float:
    """The smallest difference that matters, as planned. Raises PlanError where several files have several."""
    planned = sorted({file.run.delta for file in run.files})
    if len(planned) > 1:
        named = " and ".join(f"{each:.3g}" for each in planned)
        raise PlanError(f"the plans of these files name different smallest differences ({named}): give one by --delta")
    return planned[0]
