"""Figures that files of other tools state, in reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.compare.model.comparison import ContenderSummary
from bakeoff.report.shapes.loop import ShapeReport

if TYPE_CHECKING:
    from bakeoff.report.layout.context import Context


class StatedReport(ShapeReport):
    def hides(self, context: Context) -> frozenset[str]:
        """A section of its own has all figures."""
        return super().hides(context) | {"rates", "response", "numbers"}

    def course(self, context: Context, c: ContenderSummary) -> tuple[tuple[str, str], ...]:
        course = super().course(context, c)
        return course[:-1] if math.isnan(c.peak_p99_ms) else course


PART = StatedReport
