"""The words of cells: their means, and how those of a pair ended."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.model.cell import CellPair
from bakeoff.compare.model.comparison import Comparison, RunInfo
from bakeoff.compare.model.pair import PairComparison
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import opening, pair_summary
from bakeoff.report.narrate.shapes.loop import ShapeWords, peak_text


class CellsWords(ShapeWords):
    def beside(self, found: Comparison, pairs: Sequence[PairComparison]) -> list[str]:
        """Response times of cells from 4 KiB to 16 MiB records in one percentile would say nothing."""
        if found.cells is None:
            return super().beside(found, pairs)
        shown = {(pair.baseline, pair.contender) for pair in pairs}
        of_cells = (pair for pair in found.cells.pairs if (pair.baseline, pair.contender) in shown)
        return [text for pair in of_cells for text in _cells(pair, found.run)]

    def most(self, found: Comparison) -> list[str]:
        return super().most(found) if found.cells is None else _means(found)


def _cells(pair: CellPair, info: RunInfo) -> list[str]:
    if len(info.load_steps) == 1:
        return list(pair_summary(pair))
    # Of several load steps how its cells ended: the report has the other sentences.
    return [f"At {pair.load_step.words}: {opening(pair)}"]


def _means(found: Comparison) -> list[str]:
    """Over cells there is no peak, which would be nobody's: their mean, at each load step."""
    info, contenders, decides = found.run, found.contenders, found.measures[0]
    measured = [c for c in contenders if c.peak_load_step is not None]
    if not measured:
        return ["No trial can be used."]
    weights = f", weighted by the file sizes of {decides.weighted_by}" if decides.weighted_by else ""
    what = f"eometric mean of the cells{weights}"
    if len(info.load_steps) == 1:
        return [f"G{what}: {'; '.join(f'{c.name} {peak_text(c, info)}' for c in measured)}."]
    rates = {curve.contender: curve.points for curve in found.curves if curve.metric == decides.metric}
    texts = []
    for index, load_step in enumerate(info.load_steps):
        known = [(name, points[index].centre) for name, points in rates.items() if points[index].blocks]
        parts = [f"{name} {wording.rate(rate)} {info.rate_unit}" for name, rate in known]
        texts += [f"At {load_step.words}: g{what}: {'; '.join(parts)}."] if parts else []
    return texts


PART = CellsWords
