"""The ratio against record size and file size, with its crossings of 1.00 in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bakeoff.compare.cell_form import CellForm
from bakeoff.compare.cell_model import CellPair, SizeCurve
from bakeoff.report.blocks import Block, Chart, Column, Section, Table
from bakeoff.report.charts.axes import ratio_axis
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import INK, MUTED
from bakeoff.report.charts.theme import Key, Row, contender_channels, contender_keys, finish, heading, known, rows_of
from bakeoff.report.context import Context
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.cells import crossing_words, title
from bakeoff.report.report_section import report_section
from bakeoff.report.sections.heat_map import against, capital, in_fold, label

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

# So many tests are told apart in one drawing, beside all of them together.
MOST_NAMED = 7


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
    tests = [title(curve.test) for curve in curves if curve.test]
    spec = _lines(rows, tests, capital(name), chart_title, f"thin: single tests; {crossed}")
    return Chart(id_, chart_title, f"{chart_title}; {crossed}.", spec, _table(curves, chart_title))


@drawn
def _lines(rows: list[Row], tests: list[str], across: str, chart_title: str, subtitle: str) -> dict[str, Any]:
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
    colour, shape, dash = contender_channels(tests)
    single = alt.Chart(rows_of("single")).encode(x=x, y=y, color=colour)
    one = alt.Chart(rows_of("one")).mark_rule(color=MUTED, strokeWidth=1)
    every = alt.Chart(rows_of("every"))
    chart = alt.layer(
        one.encode(y=y),
        single.mark_line(strokeWidth=1.2).encode(strokeDash=dash),
        single.mark_point(size=24, filled=True, opacity=1).encode(shape=shape),
        every.mark_rule(strokeWidth=1.6, color=INK, opacity=0.75).encode(
            x=x, y=alt.Y("low:Q", scale=scale, axis=down), y2="high:Q"
        ),
        every.mark_line(strokeWidth=2.8, color=INK).encode(x=x, y=y),
        every.mark_point(size=46, filled=True, opacity=1, color=INK).encode(x=x, y=y),
    ).properties(title=heading(chart_title, subtitle))
    datasets = {
        "single": [
            {"contender": row["test"], "size": row["size"], "ratio": row["ratio"]}
            for row in rows
            if row["test"] != "all tests"
        ],
        "every": [row for row in rows if row["test"] == "all tests"],
        "one": [{"ratio": 1.0}],
    }
    every_key = [Key("all tests", INK, "circle", ())] if datasets["every"] else []
    return finish(chart, datasets, [*every_key, *contender_keys(tests)])


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
