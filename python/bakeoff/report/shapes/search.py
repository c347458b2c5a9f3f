"""Searches for capacities in reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.compare.model.comparison import ContenderSummary
from bakeoff.report.blocks.tree import Card
from bakeoff.report.sections.load.capacity import card
from bakeoff.report.shapes.loop import ShapeReport

if TYPE_CHECKING:
    from bakeoff.report.layout.context import Context

AT_SHARES = (
    "Response time of successful operations at shares of the capacity that each search found: it counts from the "
    "planned start. Percentiles are taken from the full histogram of each trial; the point is the geometric mean "
    "of the blocks."
)


class SearchReport(ShapeReport):
    def hides(self, context: Context) -> frozenset[str]:
        """Each contender has loads of its own, at which no two are held against each other."""
        return super().hides(context) | {"rates", "ratios", *(("fairness",) if context.searched_by_rate else ())}

    def load(self, context: Context, each: str) -> str:
        return "a search for the highest load that meets the objective"

    def response(self, context: Context) -> str:
        return AT_SHARES if context.searched_by_rate else super().response(context)

    def card(self, context: Context, c: ContenderSummary, series: int) -> Card:
        found = context.comparison.capacity
        return super().card(context, c, series) if found is None else card(context, found, c, series)


PART = SearchReport
