"""Open loops in reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.compare.metrics.units import unit_of
from bakeoff.compare.model.comparison import ContenderSummary
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.shapes.loop import ShapeReport

if TYPE_CHECKING:
    from bakeoff.report.layout.context import Context

OPEN_LOOP = (
    "Response time of successful operations, from the planned start, so that time in the server's queue counts. "
    "Service time, from the sending on, is in the table above. Percentiles are taken from the full histogram of each "
    "trial; the point is the geometric mean of the blocks."
)


class RatesReport(ShapeReport):
    is_open_loop = True

    def hides(self, context: Context) -> frozenset[str]:
        """What was offered stands for the curves. Connections that carry a rate stand in for each other."""
        return super().hides(context) | {"rates", "fairness"}

    def response(self, context: Context) -> str:
        return OPEN_LOOP

    def figure(self, context: Context, c: ContenderSummary) -> tuple[str, str]:
        """At rates there is no peak: a queue that drains answers more than is offered."""
        (each,) = [each for each in context.comparison.overload_points if each.contender == c.name]
        sustained = (
            each.sustained_load_step if each.overload_load_step is not None else context.comparison.run.load_steps[-1]
        )
        if not each.blocks:
            return wording.MISSING, "the sustained rate is not known: trials are missing"
        if sustained is None:
            return "none", "it sustains none of the rates"
        return unit_of(context.whole).load(sustained), "the highest sustained rate of the measured ones"

    def course(self, context: Context, c: ContenderSummary) -> tuple[tuple[str, str], ...]:
        """Its overload point."""
        points = [sentence(one) for one in context.comparison.overload_points if one.contender == c.name]
        return (("Overload", points[0]),)


PART = RatesReport
