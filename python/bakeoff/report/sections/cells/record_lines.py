"""One test as lines over file sizes: the ratio of a pair, a line for each record size, and the rates of one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bakeoff.compare.cube.cell_form import CellForm
from bakeoff.compare.model.cell import CellLevel, CellPair, CellRatio
from bakeoff.report.blocks.tree import Chart, Column, Table
from bakeoff.report.charts.axes import Amounts, Doublings, Ratios
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.palette import Placed
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.layout.rates import reach
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import title
from bakeoff.report.sections.cells.heat_map import against, capital, label

# So many lines are told apart in one drawing.
MOST_LINES = 8
# The record size of published lines, KiB.
PUBLISHED = 4.0
ACROSS = Doublings("File size", "size", label)


def record_lines(
    pair: CellPair | None, levels: dict[str, list[CellLevel]], names: Placed, form: CellForm, id_: str, test: str
) -> list[Chart]:
    """The lines of a pair where there is one, and the rates of each contender in `levels`; none of a single file
    size.
    """
    made = [] if pair is None else _ratios(pair, id_, test)
    return [*made, *_rates(levels, names, form, id_, test)]


def _ratios(pair: CellPair, id_: str, test: str) -> list[Chart]:
    cells = [cell for cell in pair.ratios_of(test) if cell.file_kib and cell.record_kib]
    by_record = {record: [c for c in cells if c.record_kib == record] for record in _sizes(cells)}
    records = _some([record for record, of in by_record.items() if len(of) > 1])
    if not records:
        return []
    rows: list[Row] = [
        {"contender": _line(record), "size": cell.file_kib, **_ends(cell.ratio, cell.low, cell.high, "ratio")}
        for record in records
        for cell in by_record[record]
    ]
    chart_title = f"{capital(title(test))}: {against(pair)} against file size"
    drawing = lines(
        rows,
        [_line(record) for record in records],
        ACROSS,
        Ratios("ratio, log scale", even=True),
        (chart_title, "a line for each record size"),
        guides={"one": [{"ratio": 1.0}]},
    )
    found = {(c.record_kib, c.file_kib): reach(c.ratio, c.low, c.high) for c in cells}
    table = _table(chart_title, "Records", [(_line(record), record) for record in records], found)
    return [Chart(f"{id_}-lines", chart_title, f"{chart_title}, a line for each record size.", drawing, table)]


def _rates(levels: dict[str, list[CellLevel]], names: Placed, form: CellForm, id_: str, test: str) -> list[Chart]:
    known_levels = [
        one
        for of in levels.values()
        for one in of
        if one.file_kib and one.record_kib and math.isfinite(one.kib_s.centre)
    ]
    records = _sizes(known_levels)
    if not records:
        return []
    record = PUBLISHED if PUBLISHED in records else records[0]
    shown = [one for one in known_levels if one.record_kib == record]
    if len({one.file_kib for one in shown}) < 2:
        return []
    rows: list[Row] = []
    for one in shown:
        rate = one.kib_s
        low, high = (rate.low, rate.high) if math.isfinite(rate.low) else (rate.least, rate.most)
        value, low, high = (end * form.rate_scale for end in (rate.centre, low, high))
        rows.append({"contender": one.contender, "size": one.file_kib, **_ends(value, low, high, "value")})
    chart_title = f"{capital(title(test))}: {form.rate_unit} of {_line(record)}"
    drawing = lines(rows, names.only(levels), ACROSS, Amounts(form.rate_unit), (chart_title, "against file size"))
    found = {(one.contender, one.file_kib): wording.figures(one.kib_s.centre * form.rate_scale) for one in shown}
    table = _table(chart_title, "Contender", [(name, name) for name in levels], found)
    text = f"{chart_title} of {wording.names(list(levels))} against file size."
    return [Chart(f"{id_}-rates", chart_title, text, drawing, table)]


def _sizes(cells: Sequence[CellRatio | CellLevel]) -> list[float]:
    return sorted({cell.record_kib for cell in cells if cell.record_kib is not None})


def _some(records: list[float]) -> list[float]:
    """As many as can be told apart, from the smallest to the largest, the published one among them."""
    if len(records) <= MOST_LINES:
        return records
    step = (len(records) - 1) / (MOST_LINES - 1)
    kept = {records[round(place * step)] for place in range(MOST_LINES)}
    if PUBLISHED in records and PUBLISHED not in kept:
        kept = kept - {min(kept - {records[0]})} | {PUBLISHED}
    return sorted(kept)


def _line(record: float) -> str:
    """The name of a line, as papers have it."""
    return f"{label(record)} records"


def _ends(value: float, low: float, high: float, field: str) -> Row:
    return {field: known(value), "low": known(low), "high": known(high)}


def _table(
    caption: str, first: str, names: Sequence[tuple[str, object]], found: Mapping[tuple[Any, float | None], str]
) -> Table:
    files = sorted({file for _, file in found if file is not None})
    rows = tuple((name, *(found.get((key, file), "") for file in files)) for name, key in names)
    return Table(caption, (Column(first, numeric=False), *(Column(label(file)) for file in files)), rows)
