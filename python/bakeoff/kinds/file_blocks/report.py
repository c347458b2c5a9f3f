"""Block work over several loads: transfers a second and response times against how many are in flight."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from bakeoff.compare.model.cell import CellComparison, CellLevel, Level
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.kinds.file_blocks.figures import BlockFigures
from bakeoff.kinds.file_blocks.story import narrative
from bakeoff.load.load_step import InFlight, LoadStep
from bakeoff.report.blocks.tree import Block, Chart, Column, Section, Table, Text
from bakeoff.report.charts.axes import Amounts, Doublings, Logs
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.kind import ReportPart
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import longest_or_p99, size, title
from bakeoff.report.sections.cells.cell_tables import LONG
from bakeoff.report.sections.cells.heat_map import capital

# The size that storage is asked about first; where it was not measured, the smallest takes its place.
USUAL_KIB = 4.0

CellName = tuple[str, float | None]


@report_section("queue-depth", detail=Detail.COMPARISON, after="heat-map")
def section(context: Context) -> Section | None:
    """None with one load. Charts of one size of each pattern, then a table of all."""
    compared, load_steps = context.comparison.cells, context.comparison.run.load_steps
    if compared is None or len(load_steps) < 2:
        return None
    depths = {load_step: in_flight(context, load_step) for load_step in load_steps}
    cells = list(dict.fromkeys((level.test, level.record_kib) for level in compared.measured))
    charted = [_charted([cell for cell in cells if cell[0] == test]) for test in compared.tests]
    words = (
        "In flight: clients × virtual users × outstanding requests of each, at most; while a client checks what it "
        "read, it has fewer. A queue that does not raise the rate any more only raises the times. No cell is pooled "
        "with another."
    )
    blocks: list[Block] = [Text(words)]
    for place, cell in enumerate(charted):
        blocks += _charts(context, compared, cell, depths, place)
    first = [cell for cell in cells if cell in charted]
    blocks.append(_table(context, compared, first, depths, "Against requests in flight"))
    rest = [cell for cell in cells if cell not in charted]
    if rest:
        table = _table(context, compared, rest, depths, "The other block sizes against requests in flight")
        blocks.append(table)
    return Section("I/O per second and response time against queue depth", tuple(blocks))


def in_flight(context: Context, load_step: LoadStep) -> int:
    """How many requests a contender has at a time, from what its trials say; the least, where they differ."""
    outstanding = [
        cell.outstanding
        for name in context.names
        for trial in context.at(name, load_step)
        for cell in trial.figures(BlockFigures).cells or ()
    ]
    return load_step.clients * context.run.planned.settings.virtual_users * max(1, min(outstanding, default=1))


def _charted(cells: Sequence[CellName]) -> CellName:
    sizes = sorted(cells, key=lambda cell: cell[1] or 0.0)
    return next((cell for cell in sizes if cell[1] == USUAL_KIB), sizes[0])


def _charts(
    context: Context, compared: CellComparison, cell: CellName, depths: dict[LoadStep, int], place: int
) -> Iterator[Chart]:
    """Transfers a second, and p50 with p99, of one cell."""
    at = {(n, m): _find(compared, n, m, cell) for n in context.names for m in depths}
    rates: list[Row] = []
    times: list[Row] = []
    for (name, load_step), level in at.items():
        if level is None or not math.isfinite(level.transfers_s.centre):
            continue
        here: Row = {"contender": name, "depth": depths[load_step]}
        rates.append({**here, **_point(level.transfers_s)})
        picked = (("p50", level.p50_ms), ("p99", level.p99_ms))
        times += [{**here, "time": what, **_point(over)} for what, over in picked if math.isfinite(over.centre)]
    names, across, blocks = context.names, Doublings("requests in flight, log scale", "depth"), compared.blocks
    whose = f"{capital(title(cell[0]))}, {size(cell[1])}"
    bars = "; bars: 95 % intervals" if blocks >= MINIMUM_BLOCKS else "; bars: least and most block"
    bars = bars if blocks > 1 else ""
    over_blocks = f"geometric mean over {wording.plural(blocks, 'block')}"
    columns = partial(_one, context, depths, at)
    if rates:
        named = f"{whose}: I/O per second"
        drawing = lines(rates, names, across, Amounts("I/O per second"), (named, f"{over_blocks}{bars}"))
        table = columns(named, lambda level: (_rate(level),), ("I/O per second",))
        yield Chart(f"chart-queue-{place}-rate", named, f"{named} of {_names(context)}.", drawing, table)
    if times:
        named = f"{whose}: response time, ms"
        under = f"bold: p99, thin, with small marks: p50, {over_blocks}{bars}"
        drawing = lines(times, names, across, Logs("ms"), (named, under), bold="p99")
        table = columns(named, _times, ("p50 ms", "p99 ms"))
        yield Chart(f"chart-queue-{place}-time", named, f"{named}, p50 and p99, of {_names(context)}.", drawing, table)


def _point(over: Level) -> Row:
    """A figure with its interval; with too few blocks for one, with the least and the most of them."""
    shown = math.isfinite(over.low)
    low, high = (over.low, over.high) if shown else (over.least, over.most)
    return {"value": known(over.centre), "low": known(low), "high": known(high)}


def _rate(level: CellLevel) -> str:
    over = level.transfers_s
    return f"{wording.rate(over.centre)}{wording.plus_minus(over.centre, over.low, over.high)}"


def _deep(load_step: LoadStep, depth: int) -> str:
    """How many are in flight, and how they come about where the load steps have several depths: `32 (2 × 16)`."""
    return f"{depth:,} ({load_step})" if isinstance(load_step, InFlight) and load_step.n > 1 else f"{depth:,}"


def _names(context: Context) -> str:
    return f"{wording.names(list(context.names))} at each number of requests in flight"


def _times(level: CellLevel) -> tuple[str, ...]:
    return wording.figures(level.p50_ms.centre, 3), longest_or_p99(level)


def _one(
    context: Context,
    depths: dict[LoadStep, int],
    at: dict[tuple[str, LoadStep], CellLevel | None],
    caption: str,
    pick: Callable[[CellLevel], tuple[str, ...]],
    heads: tuple[str, ...],
) -> Table:
    """The numbers of a chart: a row for each depth."""
    columns = [Column("In flight"), *(Column(head, group=name) for name in context.names for head in heads)]
    rows = []
    for load_step, depth in depths.items():
        row = [_deep(load_step, depth)]
        for name in context.names:
            level = at[name, load_step]
            row += [wording.MISSING] * len(heads) if level is None else pick(level)
        rows.append(tuple(row))
    return Table(caption, tuple(columns), tuple(rows))


def _table(
    context: Context, compared: CellComparison, cells: Sequence[CellName], depths: dict[LoadStep, int], caption: str
) -> Table:
    """A row for each cell at each depth."""
    heads = ("I/O per second", "p50 ms", "p99 ms")
    columns = [Column("Pattern, block size, in flight", numeric=False)]
    columns += [Column(head, group=name) for name in context.names for head in heads]
    rows = []
    for cell in cells:
        for load_step, depth in depths.items():
            row = [f"{title(cell[0])}, {size(cell[1])}, {_deep(load_step, depth)}"]
            for name in context.names:
                row += _figures(_find(compared, name, load_step, cell))
            rows.append(tuple(row))
    folded = len(rows) > LONG
    note = (
        "Geometric means over blocks; ± is a 95 % interval, even on logarithms, from 6 blocks on; `max`: too few "
        "transfers for a p99, the longest of all."
    )
    return Table(
        caption, tuple(columns), tuple(rows), note, folded=folded, detail=Detail.PAGE if folded else Detail.COMPARISON
    )


def _figures(level: CellLevel | None) -> tuple[str, ...]:
    if level is None or not (level.blocks or level.forfeited):
        return (wording.MISSING,) * 3
    forfeited = wording.forfeits_of(level.forfeited, level.tried)
    return f"{_rate(level)}{forfeited}", *_times(level)


def _find(compared: CellComparison, name: str, load_step: LoadStep, cell: CellName) -> CellLevel | None:
    return next((level for level in compared.at(name, load_step) if (level.test, level.record_kib) == cell), None)


class FileBlocks(ReportPart):
    """See ReportPart. The limits of cells stand in the plan."""

    sections = (section,)
    figures_shown = frozenset({"cell_limit_s", "min_transfers", "outstanding", "region_bytes"})

    def narrative(self, context: Context) -> tuple[str, ...]:
        return narrative(context)


PART = FileBlocks()
