"""The words of an open loop: overload points in place of peaks."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.model.comparison import Comparison, OverloadPoint
from bakeoff.compare.model.pair import PairComparison
from bakeoff.load.load_step import Rate
from bakeoff.report.narrate.figures.overload import overload_text
from bakeoff.report.narrate.shapes.loop import ShapeWords
from bakeoff.report.narrate.verdict.clear_percentiles import clear_at_rates


class RatesWords(ShapeWords):
    def beside(self, found: Comparison, pairs: Sequence[PairComparison]) -> list[str]:
        points = found.overload_points
        clear = [text for pair in pairs for text in clear_at_rates(pair, found.measures, found.run.load_steps)]
        return [*clear, *([_overload_points(points)] if found.ranking else map(_overload_sentence, points))]

    def most(self, found: Comparison) -> list[str]:
        """The overload points say it."""
        return []

    def rates(self, found: Comparison) -> list[float]:
        return [load_step.per_s for load_step in found.run.load_steps if isinstance(load_step, Rate)]


def _overload_points(points: tuple[OverloadPoint, ...]) -> str:
    """Of three and more in one sentence."""
    parts = [f"{point.contender} {overload_text(point)}" for point in points]
    return f"Overload: {'; '.join(parts)}."


def _overload_sentence(point: OverloadPoint) -> str:
    if not point.blocks:
        return f"The overload point of {point.contender} is {overload_text(point)}."
    return f"{point.contender} is {overload_text(point)}."


PART = RatesWords
