"""The rates of cells as the old white papers drew them: a surface over file and record size for each test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bakeoff.compare.cube.cell_form import CellForm
from bakeoff.compare.model.cell import CellComparison, CellLevel, CellPair
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Block, Chart, Column, Section, Table, Text
from bakeoff.report.charts.palette import colour_of
from bakeoff.report.charts.surface import Relief, reliefs
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import title
from bakeoff.report.sections.cells.heat_map import against, capital, in_fold, label
from bakeoff.report.sections.cells.record_lines import record_lines

Rates = tuple[tuple[float | None, ...], ...]


@report_section("surfaces")
def section(context: Context) -> Section | None:
    """Both contenders of a pair side by side, on one scale, a single one by itself. Only when asked for: the maps say
    it in numbers.
    """
    compared = context.comparison.cells
    if compared is None or not context.surfaces:
        return None
    groups: list[tuple[LoadStep, tuple[str, ...], CellPair | None, bool]]
    drawn = context.drawn(compared.pairs, len(compared.measured))
    groups = [(pair.load_step, (pair.baseline, pair.contender), pair, folded) for pair, folded in drawn]
    groups = groups or [
        (load_step, (name,), None, False) for load_step in context.comparison.run.load_steps for name in context.names
    ]
    blocks: list[Block] = []
    for number, (load_step, names, pair, folded) in enumerate(groups):
        for test in compared.tests:
            id_ = f"chart-surface-{number}-{test.replace('_', '-')}"
            levels = {name: [one for one in compared.at(name, load_step) if one.test == test] for name in names}
            charts = [_chart(context, compared, load_step, levels, test, id_)]
            charts += [] if pair is None else [_of_ratios(context, pair, test, f"{id_}-ratio")]
            charts += record_lines(pair, levels, context.names, compared.form, id_, test)
            blocks += [in_fold(chart, " and ".join(names), folded) for chart in charts if chart is not None]
    if not blocks:
        return None
    words = (
        "Rates are geometric means over blocks, in MB/s (10^6 bytes). All surfaces of a picture have one scale; small "
        "files and large records stand at the back. Lines have 95 % intervals. The heat maps have the numbers with "
        "intervals: judge by those."
    )
    return Section("Surfaces", (Text(words), *blocks))


def _chart(
    context: Context,
    compared: CellComparison,
    load_step: LoadStep,
    levels: Mapping[str, Sequence[CellLevel]],
    test: str,
    id_: str,
) -> Chart | None:
    """None when there are not two file sizes and two record sizes, or nothing was measured."""
    names = tuple(levels)
    every = [level for of_one in levels.values() for level in of_one]
    files = sorted({level.file_kib for level in every if level.file_kib is not None})
    records = sorted({level.record_kib for level in every if level.record_kib is not None})
    grids = [_rates(of_one, files, records, compared.form) for of_one in levels.values()]
    if len(files) < 2 or len(records) < 2 or not any(rate for grid in grids for row in grid for rate in row):
        return None
    surfaces = [Relief(name, colour_of(name, context.names), grid) for name, grid in zip(names, grids, strict=True)]
    at = "" if load_step.is_one else f", {load_step.words}"
    chart_title = f"{capital(title(test))}{at}"
    unit = compared.form.rate_unit
    across, down = [label(kib) for kib in records], [label(kib) for kib in files]
    spec = reliefs(surfaces, across, down, _tick, (chart_title, f"{unit} by file size and record size"))
    text = f"{chart_title}: {unit} of {wording.names(list(names))} by file size and record size, as surfaces."
    return Chart(id_, chart_title, text, spec, _table(f"{chart_title}, {unit}", names, across, down, grids), wide=True)


def _of_ratios(context: Context, pair: CellPair, test: str, id_: str) -> Chart | None:
    """The ratio as a surface; None as above."""
    at = {(cell.file_kib, cell.record_kib): cell.ratio for cell in pair.ratios_of(test)}
    files = sorted({file for file, _ in at if file is not None})
    records = sorted({record for _, record in at if record is not None})
    if len(files) < 2 or len(records) < 2:
        return None
    grid = tuple(tuple(at.get((file, record)) for record in records) for file in files)
    across, down = [label(kib) for kib in records], [label(kib) for kib in files]
    chart_title = f"{capital(title(test))}: {against(pair)}"
    under = f"ratio by file size and record size; above 1 {pair.contender} is faster"
    surface = Relief(against(pair), colour_of(pair.contender, context.names), grid)
    drawing = reliefs([surface], across, down, wording.ratio, (chart_title, under))
    rows = tuple(
        (file, *("" if ratio is None else wording.ratio(ratio) for ratio in row))
        for file, row in zip(down, grid, strict=True)
    )
    table = Table(chart_title, (Column("File size", numeric=False), *map(Column, across)), rows)
    return Chart(id_, chart_title, f"{chart_title} by file size and record size, as a surface.", drawing, table)


def _tick(rate: float) -> str:
    return f"{rate:,.4g}" if rate < 1e4 else wording.count(rate)


def _rates(levels: Sequence[CellLevel], files: list[float], records: list[float], form: CellForm) -> Rates:
    at = {(level.file_kib, level.record_kib): level.kib_s.centre * form.rate_scale for level in levels}

    def rate(file: float, record: float) -> float | None:
        speed = at.get((file, record), math.nan)
        return speed if math.isfinite(speed) and speed > 0.0 else None

    return tuple(tuple(rate(file, record) for record in records) for file in files)


def _table(caption: str, names: tuple[str, ...], across: list[str], down: list[str], grids: list[Rates]) -> Table:
    rows = [
        (f"{name}, {file}", *("" if rate is None else wording.figures(rate) for rate in row))
        for name, grid in zip(names, grids, strict=True)
        for file, row in zip(down, grid, strict=True)
    ]
    columns = (Column("Contender, file size", numeric=False), *(Column(record) for record in across))
    return Table(caption, columns, tuple(rows))
