"""Single operations at single mixes: exploratory."""

from __future__ import annotations

from bakeoff.compare import wording
from bakeoff.compare.model import PairComparison
from bakeoff.report.blocks import Block, Column, Section, Table, Text
from bakeoff.report.context import Context

SHOWN = 24


def section(context: Context) -> Section | None:
    """The cells that stand out under Benjamini–Hochberg, largest first."""
    pairs = [pair for pair in context.comparison.pairs if pair.exploratory.tested]
    if not pairs:
        return None
    blocks: list[Block] = [
        Text(
            "Exploratory: mean and p99 of every operation at every mix. Of the cells found, "
            "about one in twenty is "
            "expected to be chance (Benjamini–Hochberg, q = 0.05); the intervals allow for the picking."
        )
    ]
    for pair in pairs:
        blocks += _pair(pair)
    return Section("operations", "Single operations (exploratory)", tuple(blocks))


def _pair(pair: PairComparison) -> list[Block]:
    found, tested = pair.exploratory.found, pair.exploratory.tested
    text = Text(f"{pair.contender} ÷ {pair.baseline}: {len(found)} of {tested} cells differ.")
    if not found:
        return [text]
    columns = (
        Column("Operation", numeric=False),
        Column("Clients"),
        Column("Figure", numeric=False),
        Column("Ratio"),
        Column("Interval"),
        Column("Blocks"),
        Column("q"),
    )
    rows = tuple(
        (
            cell.operation,
            f"{cell.clients}",
            f"{cell.metric} response time",
            wording.ratio(cell.ratio, cell.low, cell.high),
            wording.interval(cell.low, cell.high),
            f"{cell.blocks}",
            wording.probability(cell.q),
        )
        for cell in found[:SHOWN]
    )
    rest = (
        f"The {SHOWN} largest of {len(found)}; all are in the data embedded in this page." if len(found) > SHOWN else ""
    )
    return [
        text,
        Table(f"Largest differences, {pair.contender} ÷ {pair.baseline}", columns, rows, rest, folded=True),
    ]
