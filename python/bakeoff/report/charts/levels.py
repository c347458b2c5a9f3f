"""Maps of absolute figures: one contender's cells, each with its number, deeper in colour the higher it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.heat import CELL_INK, CELL_LIGHT, COLUMN_GAP, LEVEL_COLOUR, MARGIN, ROW_GAP, ROW_HEIGHT
from bakeoff.report.charts.theme import WIDTH, Row, heading, rows_of, themed

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")


@dataclass(frozen=True)
class LevelCell:
    """One cell of a map; without a `value` it is marked with a ×."""

    column: str
    row: str
    text: str
    value: float | None
    cached: bool = False


@drawn
def level_map(
    cells: Sequence[LevelCell],
    columns: Sequence[str],
    rows: Sequence[str],
    colour: str,
    ends: tuple[float, float],
    titles: tuple[str, str, str, str],
    wide: bool = False,
    margin: int = MARGIN,
) -> dict[str, Any]:
    """A Vega-Lite specification. `ends` are the least and the most value of all maps of a figure, between which the
    colour goes on a logarithmic scale; `titles` those of the chart, the line under it, the columns and the rows.
    """
    width, height = (2 * WIDTH + 20 if wide else WIDTH) - margin, ROW_HEIGHT * len(rows)
    x = alt.X("c:O", sort=list(columns), axis=alt.Axis(title=titles[2], labelAngle=0, labelOverlap=False, domain=False))
    y = alt.Y("r:O", sort=list(rows), axis=alt.Axis(title=titles[3], domain=False, ticks=False, minExtent=margin - 24))
    x = x.scale(domain=list(columns), paddingInner=COLUMN_GAP, paddingOuter=0)
    y = y.scale(domain=list(rows), paddingInner=ROW_GAP, paddingOuter=0)
    low, high = math.log(ends[0]), math.log(max(ends[1], 1.01 * ends[0]))
    data: dict[str, list[Row]] = {"cells": [], "cached": [], "void": []}
    for cell in cells:
        place: Row = {"c": cell.column, "r": cell.row}
        if cell.value is None:
            data["void"].append(place)
            continue
        data["cells"].append({**place, "v": round((math.log(cell.value) - low) / (high - low), 3), "t": cell.text})
        if cell.cached:
            data["cached"].append(place)
    scale = alt.Scale(domain=[0.0, 1.0], range=[LEVEL_COLOUR, colour], clamp=True, type="linear", interpolate="lab")
    base = alt.Chart(rows_of("cells")).encode(x=x, y=y)
    ink = alt.condition("datum.v > 0.62", alt.value(CELL_LIGHT), alt.value(CELL_INK))
    layers: list[Any] = [base.mark_rect().encode(color=alt.Color("v:Q", scale=scale, legend=None))]
    layers.append(
        base.mark_text(fontSize=10.5 if width / max(1, len(columns)) >= 34 else 9).encode(text="t:N", color=ink)
    )
    if data["void"]:
        cross = alt.Chart(rows_of("void")).mark_text(text="×", fontSize=12, color="#9aa3ae")
        layers.append(cross.encode(x=x, y=y))
    if data["cached"]:
        # The corner of the maps of ratios: only a cache explains the rate.
        w, h = width / len(columns) / 2 - 2, ROW_HEIGHT / 2 - 2
        path = f"M{w - 6:.1f},{-h:.1f}L{w:.1f},{-h:.1f}L{w:.1f},{-h + 6:.1f}Z"
        corner = alt.Chart(rows_of("cached")).mark_point(shape=path, size=4, color=CELL_INK, opacity=0.8, filled=True)
        layers.append(corner.encode(x=x, y=y))
    chart = alt.layer(*layers).properties(width=width, height=height, title=heading(titles[0], titles[1]))
    return themed(chart, {name: rows_ for name, rows_ in data.items() if rows_})
