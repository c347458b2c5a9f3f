"""A run that another tool measured: its files state figures, and no counts behind them."""

from __future__ import annotations

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.metrics.stated import stated_metrics
from bakeoff.compare.shapes.loop import Shape
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import RunRecord


class StatedRun(Shape):
    """The figures that the files state are what is compared, where each trial has some."""

    goes_on = False

    @classmethod
    def fits(cls, run: RunRecord) -> bool:
        return run.imported_from is not None and any(trial.figures(Figures).stated for trial in run.trials)

    def endpoints(self, run: RunRecord, cube: Cube) -> tuple[Metric, ...]:
        return stated_metrics(tuple(cube.usable.values())) or super().endpoints(run, cube)


PART = StatedRun
