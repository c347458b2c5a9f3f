"""A closed loop: so many clients, each of which waits for its reply. Other shapes say what differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from bakeoff.compare.cube.cube import Cube, build_cube
from bakeoff.compare.cube.levels import levels_of
from bakeoff.compare.estimate.factors import Design, compare_factors
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.metrics.metrics import metrics
from bakeoff.compare.model.comparison import Audit
from bakeoff.compare.model.factor import FactorComparison
from bakeoff.compare.model.level import Levels
from bakeoff.compare.model.pair import PairComparison
from bakeoff.compare.validity.audits import LittlesLaw, audit_all
from bakeoff.compare.validity.gates import Judge
from bakeoff.store.records.run_records import RunRecord

if TYPE_CHECKING:
    from bakeoff.compare.model.subject import Subject


class Shape:
    """What a comparison does as the load of its run was laid out: derive from it, and override what differs.

    `names` are those of `SHAPES` that a run has. A run that `goes_on` can repeat failed trials in its own file.
    """

    names: ClassVar[tuple[str, ...]] = ()
    goes_on: ClassVar[bool] = True

    @classmethod
    def fits(cls, run: RunRecord) -> bool:
        """Whether a run has this shape; any can be a closed loop."""
        return True

    def view(self, run: RunRecord) -> RunRecord:
        """The run as the statistics take it."""
        return run

    def cube(self, whole: RunRecord, view: RunRecord, baseline: str) -> Cube:
        """The trials of the view."""
        return build_cube(view, baseline)

    def audits(self, whole: RunRecord, view: RunRecord, cube: Cube, little: LittlesLaw) -> tuple[Audit, ...]:
        """Every audit of its trials."""
        return audit_all(view, cube, little)

    def endpoints(self, run: RunRecord, cube: Cube) -> tuple[Metric, ...]:
        """What is read out of each trial of the view, what decides first, but in a search."""
        return cube.kind.endpoints(run, cube, metrics(cube.kind, run.planned))

    def metrics(self, subject: Subject) -> tuple[Metric, ...]:
        """The metrics of the run, that of the primary endpoint first."""
        return subject.metrics

    def verdicts(self, subject: Subject, pairs: tuple[PairComparison, ...]) -> tuple[PairComparison, ...]:
        """The pairs with the verdict on the primary endpoint, out of those of the view."""
        return pairs

    def judge(self, subject: Subject, metric: Metric) -> Judge:
        """What a verdict on this metric is judged by, with the cube that it is read from."""
        return subject.judge

    def factors(self, subject: Subject, design: Design) -> FactorComparison:
        """The effects of the factors on all metrics."""
        return compare_factors(design, subject.cube, subject.metrics, subject.judge)

    def levels(self, subject: Subject) -> Levels | None:
        """What each contender reached at each load."""
        return levels_of(subject.cube, subject.metrics[0])

    def findings(self, subject: Subject) -> Mapping[str, Any]:
        """What a comparison of this shape has alone, by its field of `Comparison`."""
        return {}
