"""The words of a search: the capacities that were found."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.model.pair import PairComparison
from bakeoff.report.narrate.figures.capacity import capacity_sentences
from bakeoff.report.narrate.shapes.loop import ShapeWords


class SearchWords(ShapeWords):
    # Capacities have none.
    has_floor = False

    def beside(self, found: Comparison, pairs: Sequence[PairComparison]) -> list[str]:
        """Response times at shares of each one's own capacity are in a table: one of them is no result."""
        return [] if found.capacity is None else capacity_sentences(found.capacity)

    def most(self, found: Comparison) -> list[str]:
        """The capacities say it."""
        return []

    def rates(self, found: Comparison) -> list[float]:
        if found.capacity is None or found.capacity.by != "rate":
            return []
        return sorted(c.capacity for c in found.capacity.contenders if c.blocks)


PART = SearchWords
