"""An open loop: operations begin at a rate, whether or not a server keeps up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.metrics.metrics import metrics
from bakeoff.compare.metrics.overload import open_loop_metrics, overload_points
from bakeoff.compare.metrics.units import unit_of
from bakeoff.compare.shapes.loop import Shape
from bakeoff.load.load_step import Rate
from bakeoff.store.records.run_records import RunRecord

if TYPE_CHECKING:
    from bakeoff.compare.model.subject import Subject


class Rates(Shape):
    """Response times decide, and each contender has an overload point."""

    @classmethod
    def fits(cls, run: RunRecord) -> bool:
        return bool(run.load_steps) and isinstance(run.load_steps[0], Rate)

    def endpoints(self, run: RunRecord, cube: Cube) -> tuple[Metric, ...]:
        return open_loop_metrics(run, cube, metrics(cube.kind, run.planned))

    def findings(self, subject: Subject) -> Mapping[str, Any]:
        return {**super().findings(subject), "overload_points": overload_points(subject.cube, unit_of(subject.whole))}


PART = Rates
