"""The ratio against record size and file size, with its crossings of 1.00 in words."""

from __future__ import annotations

import math

from bakeoff.compare.cube.cell_form import CellForm
from bakeoff.compare.model.cell import CellPair, SizeCurve
from bakeoff.report.blocks.tree import Block, Chart, Column, Section, Table
from bakeoff.report.charts.axes import Doublings, Ratios
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import crossing_words, title
from bakeoff.report.sections.cells.heat_map import against, capital, in_fold, label

# So many tests are told apart in one drawing, beside all of them together.
MOST_NAMED = 7
ALL = "all tests"


@report_section("sizes")
def section(context: Context) -> Section | None:
    """Two charts for each pair that is drawn, and the crossings of each test."""
    compared = context.comparison.cells
    if compared is None:
        return None
    blocks: list[Block] = []
    for number, (pair, folded) in enumerate(context.drawn(compared.pairs, len(compared.measured))):
        for axis in compared.form.axes:
            curves = [curve for curve in pair.curves if curve.axis == axis.key]
            for place, group in enumerate(_groups(curves)):
                chart = _chart(pair, group, axis.name, f"chart-sizes-{number}-{axis.key}{f'-{place}' if place else ''}")
                blocks.append(in_fold(chart, against(pair), folded))
        if pair.curves:
            blocks.append(in_fold(_crossings(pair, compared.form), against(pair), folded))
    return Section("Ratio against size", tuple(blocks)) if blocks else None


def _groups(curves: list[SizeCurve]) -> list[list[SizeCurve]]:
    """So many tests for each drawing as can be told apart, all tests together in each."""
    over, single = [c for c in curves if not c.test], [c for c in curves if c.test]
    if not single:
        return [over] if over else []
    each = math.ceil(len(single) / math.ceil(len(single) / MOST_NAMED))
    return [over + single[start : start + each] for start in range(0, len(single), each)]


def _chart(pair: CellPair, curves: list[SizeCurve], name: str, id_: str) -> Chart:
    chart_title = f"{against(pair)} against {name}"
    over = next((curve for curve in curves if not curve.test), None)
    crossed = f"{ALL}: crossing of 1.00: {crossing_words(over)}" if over else ""
    # Intervals are those of all tests together.
    rows: list[Row] = [
        {
            "contender": title(curve.test) if curve.test else ALL,
            "size": point.size_kib,
            "ratio": known(point.ratio),
            "low": None if curve.test else known(point.low),
            "high": None if curve.test else known(point.high),
        }
        for curve in curves
        for point in curve.points
    ]
    spec = lines(
        rows,
        [title(curve.test) for curve in curves if curve.test],
        Doublings(capital(name), "size", label),
        Ratios("ratio, log scale", even=True),
        (chart_title, f"thin: single tests; {crossed}"),
        over=ALL if over else "",
        guides={"one": [{"ratio": 1.0}]},
    )
    return Chart(id_, chart_title, f"{chart_title}; {crossed}.", spec, _table(curves, chart_title))


def _table(curves: list[SizeCurve], chart_title: str) -> Table:
    sizes = sorted({point.size_kib for curve in curves for point in curve.points})
    rows = []
    for curve in curves:
        at = {point.size_kib: wording.ratio(point.ratio) for point in curve.points}
        rows.append((title(curve.test) or ALL, *(at.get(kib, "") for kib in sizes)))
    columns = (Column("Test", numeric=False), *(Column(label(kib)) for kib in sizes))
    return Table(chart_title, columns, tuple(rows))


def _crossings(pair: CellPair, form: CellForm) -> Table:
    """Where each test crosses 1.00, on each axis."""
    columns = [Column(capital(form.test), numeric=False)]
    columns += [Column(f"Over {axis.name}s", numeric=False) for axis in form.axes]
    rows = []
    for test in ("", *(average.name for average in pair.tests)):
        curves = [pair.curve(test, axis.key) for axis in form.axes]
        words = tuple(crossing_words(curve) if curve else wording.MISSING for curve in curves)
        rows.append((title(test) or ALL, *words))
    note = (
        "A side of 1.00 counts when the interval of the average at a size excludes 1 (with under six "
        "blocks: when it is off by 5 %). The size of a crossing is read off straight lines on logarithmic axes."
    )
    if len(form.axes) > 1:
        note += (
            " Small files have no large records, and large files may have no small ones. A difference by record size "
            "therefore shows against file size too; the heat maps separate the two."
        )
    return Table(f"Crossings of 1.00, {against(pair)}", tuple(columns), tuple(rows), note)
