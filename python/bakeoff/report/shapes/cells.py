"""Trials of cells in reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.compare.model.comparison import ContenderSummary
from bakeoff.report.blocks.tree import Card
from bakeoff.report.sections.cells.key_figures import cell_card
from bakeoff.report.shapes.loop import ShapeReport

if TYPE_CHECKING:
    from bakeoff.report.layout.context import Context


class CellsReport(ShapeReport):
    def hides(self, context: Context) -> frozenset[str]:
        """Pooled over cells a response time is nobody's, and no second is like the next; at one load there is no curve
        either.
        """
        if not context.of_cells:
            return super().hides(context)
        curves = ("rates", "errors", "ratios", "numbers") if context.cells_alone else ()
        return super().hides(context) | {"response", "seconds", *curves}

    def card(self, context: Context, c: ContenderSummary, series: int) -> Card:
        return cell_card(context, c, series) if context.of_cells else super().card(context, c, series)


PART = CellsReport
