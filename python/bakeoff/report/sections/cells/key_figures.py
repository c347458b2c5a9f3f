"""The key figures of a contender whose trials are made of cells at one number of clients."""

from __future__ import annotations

from bakeoff.compare.model.cell import Average, CellPair
from bakeoff.compare.model.comparison import ContenderSummary
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.facts import failures
from bakeoff.report.blocks.tree import Card
from bakeoff.report.layout.context import Context
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import title
from bakeoff.report.narrate.figures.file_weights import weighted


def cell_card(context: Context, c: ContenderSummary, series: int) -> Card:
    """The mean of its cells, and against the baseline the ratio, which way round it says, and the cells won. A peak or
    a saturation has no meaning without a curve over clients, nor one percentile over records of all sizes.
    """
    comparison = context.comparison
    assert comparison.cells is not None
    measured = c.peak_load_step is not None
    interval = f" (95 % {wording.figures(c.peak_low)} – {wording.figures(c.peak_high)})"
    weights = comparison.cells.weights
    by_files = f", {weighted(weights)}" if weights else ""
    several = len(comparison.run.load_steps) > 1
    at = f" at {c.peak_load_step.words}, the highest of all load steps" if several and c.peak_load_step else ""
    differ = "; blocks differ" if c.peak_is_bimodal else interval if c.peak_low == c.peak_low else ""
    caption = f"geometric mean of the cells{by_files}{at}{differ}"
    lines: list[tuple[str, str]] = []
    for pair in comparison.cells.pairs:
        if c.name in (pair.baseline, pair.contender) and comparison.run.baseline in (pair.baseline, pair.contender):
            lines += _against(pair, c.name, comparison.run.load_steps)
    cached = _cached(context, c.name)
    if cached:
        lines.append(("Cached cells", cached))
    lines += [
        ("Failed", failures(c)),
        ("Address", c.address),
    ]
    return Card(
        title=c.name,
        figure=f"{_mean(c)} {comparison.run.rate_unit}",
        caption=caption if measured else "no usable trial",
        lines=tuple(lines),
        series=series,
        severity="good" if comparison.winner == c.name else "plain",
    )


def _mean(c: ContenderSummary) -> str:
    """Of blocks that differ by more than a factor of 2 no mean is anybody's: both ends."""
    if c.peak_is_bimodal:
        return f"{wording.figures(c.peak_lowest)} – {wording.figures(c.peak_highest)}"
    return wording.figures(c.peak)


def _against(pair: CellPair, name: str, load_steps: tuple[LoadStep, ...]) -> list[tuple[str, str]]:
    other = pair.baseline if name == pair.contender else pair.contender
    if len(load_steps) > 1:  # a line for each; the rest is below
        return [(f"{pair.contender} ÷ {pair.baseline}, {pair.load_step.words}", _ratio(pair.overall))]
    rows = [(f"{pair.contender} ÷ {pair.baseline}", _ratio(pair.overall))]
    if pair.overall.open < pair.overall.cells:
        won = pair.overall.behind if name == pair.baseline else pair.overall.ahead
        share = wording.percent(won / pair.overall.cells)
        rows.append(("Cells won", f"{won:,} of {pair.overall.cells:,} ({share}) against {other}"))
    apart = [region.average for region in pair.regions if region.average.cells < pair.overall.cells]
    rows += [(title(average.name), _ratio(average)) for average in apart]
    return rows


def _ratio(average: Average) -> str:
    ends = (average.ratio, average.low, average.high)
    interval = f" ({wording.interval(*ends[1:])})" if ends[1] == ends[1] else ""
    return f"{wording.ratio(*ends)}{interval}"


def _cached(context: Context, name: str) -> str:
    """Of the cells that this contender has a rate in; empty when none is cached."""
    assert context.comparison.cells is not None
    measured = [level for level in context.comparison.cells.measured if level.contender == name and level.blocks]
    cached = sum(level.cached for level in measured)
    return f"{cached:,} of {len(measured):,}" if cached else ""
