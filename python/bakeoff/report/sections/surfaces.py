"""The rates of cells as the old white papers drew them: a surface over file and record size for each test."""

from __future__ import annotations

import math

from bakeoff.compare import wording
from bakeoff.compare.cell_model import CellPair, CellRatio
from bakeoff.compare.cell_words import title
from bakeoff.report.blocks import Block, Chart, Column, Section, Table, Text
from bakeoff.report.context import Context
from bakeoff.report.palette import PALETTE
from bakeoff.report.relief import Relief, reliefs
from bakeoff.report.sections.heat_map import against, label

Rates = tuple[tuple[float | None, ...], ...]


def section(context: Context) -> Section | None:
    """Both contenders of a pair side by side, on one scale. Only when asked for: the heat maps say it in numbers."""
    compared = context.comparison.cells
    if compared is None or not context.surfaces:
        return None
    blocks: list[Block] = []
    for number, pair in enumerate(compared.pairs):
        if pair.baseline != context.comparison.run.baseline:
            continue
        tests = dict.fromkeys(cell.test for cell in pair.cells)
        charts = [_chart(context, pair, test, f"chart-surface-{number}-{test.replace('_', '-')}") for test in tests]
        blocks += [chart for chart in charts if chart is not None]
    if not blocks:
        return None
    words = (
        "Rates are geometric means over blocks, in MB/s (10^6 bytes). Both surfaces of a picture have one scale; small "
        "files and small records stand at the back. What one sees at a glance here is in the heat maps in numbers, "
        "with intervals: judge by those."
    )
    return Section("surfaces", "Surfaces", (Text(words), *blocks))


def _chart(context: Context, pair: CellPair, test: str, id_: str) -> Chart | None:
    """None when there are not two file sizes and two record sizes, or nothing was measured."""
    cells = [cell for cell in pair.cells if cell.test == test]
    files = sorted({cell.file_kib for cell in cells if cell.file_kib is not None})
    records = sorted({cell.record_kib for cell in cells if cell.record_kib is not None})
    sides = (pair.baseline, pair.contender)
    grids = [_rates(cells, files, records, side) for side in (0, 1)]
    if len(files) < 2 or len(records) < 2 or not any(rate for grid in grids for row in grid for rate in row):
        return None
    surfaces = [
        Relief(name, PALETTE[context.names.index(name) % len(PALETTE)], grid)
        for name, grid in zip(sides, grids, strict=True)
    ]
    name = title(test)
    at = "" if pair.mix.is_one else f", {pair.mix} {pair.mix.unit}"
    chart_title = f"{name[0].upper()}{name[1:]}{at}"
    across, down = [label(kib) for kib in records], [label(kib) for kib in files]
    spec = reliefs(surfaces, across, down, _tick, (chart_title, "MB/s by file size and record size"))
    text = f"{chart_title}: MB/s of {sides[0]} and of {sides[1]} by file size and record size, as two surfaces."
    return Chart(id_, chart_title, text, spec, _table(chart_title, pair, across, down, grids), wide=True)


def _tick(rate: float) -> str:
    return f"{rate:,.4g}" if rate < 1e4 else wording.count(rate)


def _rates(cells: list[CellRatio], files: list[float], records: list[float], side: int) -> Rates:
    at = {(cell.file_kib, cell.record_kib): (cell.baseline_kib_s, cell.contender_kib_s)[side] for cell in cells}

    def rate(file: float, record: float) -> float | None:
        speed = at.get((file, record), math.nan) * 1024.0 / 1e6
        return speed if math.isfinite(speed) and speed > 0.0 else None

    return tuple(tuple(rate(file, record) for record in records) for file in files)


def _table(chart_title: str, pair: CellPair, across: list[str], down: list[str], grids: list[Rates]) -> Table:
    rows = [
        (f"{name}, {file}", *("" if rate is None else wording.figures(rate) for rate in row))
        for name, grid in zip((pair.baseline, pair.contender), grids, strict=True)
        for file, row in zip(down, grid, strict=True)
    ]
    columns = (Column("Contender, file size", numeric=False), *(Column(record) for record in across))
    return Table(f"{chart_title}, MB/s: {against(pair)}", columns, tuple(rows))
