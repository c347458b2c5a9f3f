"""The ratio against record size and file size, with its crossings of 1.00 in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bakeoff.compare import wording
from bakeoff.compare.cell_form import CellForm
from bakeoff.compare.cell_model import CellPair, SizeCurve
from bakeoff.compare.cell_words import crossing_words, title
from bakeoff.report.axes import ratio_axis
from bakeoff.report.blocks import Block, Chart, Column, Section, Table
from bakeoff.report.context import Context
from bakeoff.report.drawing import drawn, later
from bakeoff.report.palette import MUTED, PALETTE
from bakeoff.report.sections.heat_map import against, capital, label
from bakeoff.report.theme import Row, finish, heading, known, rows_of

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

THIN = "#9aa3ae"


def section(context: Context) -> Section | None:
    """Two charts for each contender against the baseline, and the crossings of each test."""
    compared = context.comparison.cells
    if compared is None:
        return None
    blocks: list[Block] = []
    for number, pair in enumerate(compared.pairs):
        if pair.baseline != context.comparison.run.baseline:
            continue
        for axis in compared.form.axes:
            curves = [curve for curve in pair.curves if curve.axis == axis.key]
            if curves:
                colour = PALETTE[context.names.index(pair.contender) % len(PALETTE)]
                blocks.append(_chart(pair, curves, axis.name, colour, f"chart-sizes-{number}-{axis.key}"))
        if pair.curves:
            blocks.append(_crossings(pair, compared.form))
    return Section("sizes", "Ratio against size", tuple(blocks)) if blocks else None


def _chart(pair: CellPair, curves: list[SizeCurve], name: str, colour: str, id_: str) -> Chart:
    chart_title = f"{against(pair)} against {name}"
    over = next((curve for curve in curves if not curve.test), None)
    crossed = f"all tests: crossing of 1.00: {crossing_words(over)}" if over else ""
    rows: list[Row] = [
        {
            "test": title(curve.test) if curve.test else "all tests",
            "size": point.size_kib,
            "ratio": known(point.ratio),
            "low": known(point.low),
            "high": known(point.high),
        }
        for curve in curves
        for point in curve.points
    ]
    spec = _lines(rows, colour, capital(name), chart_title, f"thin: single tests; {crossed}")
    return Chart(id_, chart_title, f"{chart_title}; {crossed}.", spec, _table(curves, chart_title))


@drawn
def _lines(rows: list[Row], colour: str, across: str, chart_title: str, subtitle: str) -> dict[str, Any]:
    sizes = sorted({row["size"] for row in rows})
    shown = sizes[:: 1 + len(sizes) // 9]
    names = " : ".join(f"datum.value == {kib:g} ? '{label(kib)}'" for kib in shown)
    axis = alt.Axis(title=across, values=shown, labelExpr=f"{names} : ''")
    x = alt.X("size:Q", scale=alt.Scale(type="log", base=2, domain=[sizes[0], sizes[-1]], nice=False), axis=axis)
    values = [v for row in rows for v in (row["ratio"], row["low"], row["high"]) if v]
    bound = max([abs(math.log(v)) for v in values] + [math.log(1.06)]) * 1.05
    scale = alt.Scale(type="log", domain=[math.exp(-bound), math.exp(bound)], nice=False, clamp=True)
    down = ratio_axis("ratio, log scale", math.exp(-bound), math.exp(bound))
    y = alt.Y("ratio:Q", scale=scale, axis=down)
    single = alt.Chart(rows_of("single")).mark_line(strokeWidth=1, color=THIN, opacity=0.7)
    one = alt.Chart(rows_of("one")).mark_rule(color=MUTED, strokeWidth=1)
    every = alt.Chart(rows_of("every"))
    chart = alt.layer(
        one.encode(y=y),
        single.encode(x=x, y=y, detail="test:N"),
        every.mark_rule(strokeWidth=1.6, color=colour, opacity=0.75).encode(
            x=x, y=alt.Y("low:Q", scale=scale, axis=down), y2="high:Q"
        ),
        every.mark_line(strokeWidth=2.4, color=colour).encode(x=x, y=y),
        every.mark_point(size=46, filled=True, opacity=1, color=colour).encode(x=x, y=y),
    ).properties(title=heading(chart_title, subtitle))
    datasets = {
        "single": [{k: row[k] for k in ("test", "size", "ratio")} for row in rows if row["test"] != "all tests"],
        "every": [row for row in rows if row["test"] == "all tests"],
        "one": [{"ratio": 1.0}],
    }
    return finish(chart, datasets, ())


def _table(curves: list[SizeCurve], chart_title: str) -> Table:
    sizes = sorted({point.size_kib for curve in curves for point in curve.points})
    rows = []
    for curve in curves:
        at = {point.size_kib: wording.ratio(point.ratio) for point in curve.points}
        rows.append((title(curve.test) or "all tests", *(at.get(kib, "") for kib in sizes)))
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
        rows.append((title(test) or "all tests", *words))
    note = (
        "A side of 1.00 counts when the interval of the average at a size excludes 1 (with under six "
        "blocks: when it is off by 5 %). The size of a crossing is read off straight lines on logarithmic axes."
    )
    if len(form.axes) > 1:
        note += (
            " Small files have no large records, and large files may have no small ones: what differs by record size "
            "shows against file size too. The heat maps tell the two apart."
        )
    return Table(f"Crossings of 1.00, {against(pair)}", tuple(columns), tuple(rows), note)
