"""A search for capacities: the highest load under an objective decides, loads at shares of it explain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.estimate.factors import Design, compare_factors
from bakeoff.compare.estimate.interim import LEVEL
from bakeoff.compare.limits.capacity import (
    capacity_judge,
    capacity_metric,
    capacity_pairs,
    compare_capacities,
    joined,
    missed_loads,
    probes_view,
    unpaired,
    view_of,
)
from bakeoff.compare.limits.capacity_model import CAPACITY
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.comparison import Audit
from bakeoff.compare.model.factor import FactorComparison
from bakeoff.compare.model.pair import PairComparison
from bakeoff.compare.shapes.loop import Shape
from bakeoff.compare.validity.audits import LittlesLaw, audit_all
from bakeoff.compare.validity.gates import Judge
from bakeoff.store.records.run_records import RunRecord

if TYPE_CHECKING:
    from bakeoff.compare.model.subject import Subject


# The one audit that holds trials against each other.
BETWEEN_TRIALS = "Same content"


class Search(Shape):
    """Each contender is measured at loads of its own: no ratio of rates at them says anything."""

    goes_on = False

    @classmethod
    def fits(cls, run: RunRecord) -> bool:
        return "search" in run.planned.shape.names

    def view(self, run: RunRecord) -> RunRecord:
        return view_of(run)

    def cube(self, whole: RunRecord, view: RunRecord, baseline: str) -> Cube:
        cube = super().cube(whole, view, baseline)
        return replace(cube, left_out=(*cube.left_out, *unpaired(whole, baseline, cube.left_out)))

    def audits(self, whole: RunRecord, view: RunRecord, cube: Cube, little: LittlesLaw) -> tuple[Audit, ...]:
        """Over all probes, but for that between trials."""
        alone = [audit for audit in audit_all(whole, probes_view(whole), little) if audit.name != BETWEEN_TRIALS]
        return (*alone, *(audit for audit in audit_all(view, cube, little) if audit.name == BETWEEN_TRIALS))

    def metrics(self, subject: Subject) -> tuple[Metric, ...]:
        return (capacity_metric(_unit(subject), missed_loads(subject.whole)), *subject.metrics)

    def verdicts(self, subject: Subject, pairs: tuple[PairComparison, ...]) -> tuple[PairComparison, ...]:
        whole, judge = subject.whole, subject.judge
        return joined(capacity_pairs(whole, subject.cube.contenders[0], judge, _unit(subject)), pairs)

    def judge(self, subject: Subject, metric: Metric) -> Judge:
        """Of capacities one of its own: each search is a trial."""
        if metric.key != CAPACITY:
            return super().judge(subject, metric)
        return capacity_judge(subject.whole, subject.cube.contenders[0], subject.judge)

    def factors(self, subject: Subject, design: Design) -> FactorComparison:
        capacity = self.metrics(subject)[0]
        judge = self.judge(subject, capacity)
        return compare_factors(design, judge.cube, (capacity,), judge)

    def levels(self, subject: Subject) -> None:
        return None

    def findings(self, subject: Subject) -> Mapping[str, Any]:
        found = compare_capacities(subject.whole, subject.cube.contenders, _unit(subject), LEVEL)
        return {**super().findings(subject), "capacity": found}


def _unit(subject: Subject) -> str:
    plan = subject.whole.planned.capacity
    kind = subject.cube.kind
    return "clients" if plan is not None and plan.by == "clients" else f"{kind.iterations or kind.work}/s"


PART = Search
