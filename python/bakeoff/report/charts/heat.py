"""Heat maps of ratios: the colour is that of the one who is ahead, on a logarithmic scale centred on 1.00."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import PALETTE
from bakeoff.report.charts.theme import WIDTH, Row, heading, rows_of, themed

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

LEVEL_COLOUR = "#f3f3ef"
# Not the ink of the theme: the colours of cells are the same on dark paper.
CELL_INK, CELL_LIGHT = "#1d2127", "#ffffff"
# Colours saturate at this ratio at the latest, and at the earliest at the other.
WIDEST, NARROWEST = 4.0, 1.25
MARGIN, ROW_HEIGHT = 74, 21
# Space between neighbours, as a share of the distance between their edges.
COLUMN_GAP, ROW_GAP = 0.03, 0.05


@dataclass(frozen=True)
class HeatCell:
    """One cell of a map. `text` is shown; `ratio` None makes it empty, with a × when it has a text."""

    column: str
    row: str
    text: str
    ratio: float | None
    hatched: bool = False
    cached: bool = False
    outlier: bool = False


def ratio_range(ratios: Sequence[float]) -> float:
    """The natural logarithm at which colours saturate: the 95th percentile of the distances from 1, bounded."""
    distances = sorted(abs(math.log(ratio)) for ratio in ratios if ratio > 0.0 and math.isfinite(ratio))
    if not distances:
        return math.log(NARROWEST)
    far = distances[min(len(distances) - 1, int(0.95 * len(distances)))]
    return min(max(far, math.log(NARROWEST)), math.log(WIDEST))


@drawn
def heat_map(
    cells: Sequence[HeatCell],
    columns: Sequence[str],
    rows: Sequence[str],
    pair: tuple[int, int],
    limit: float,
    titles: tuple[str, str, str, str],
    wide: bool = False,
    margin: int = MARGIN,
) -> dict[str, Any]:
    """A Vega-Lite specification. `pair` are the places of baseline and contender, `limit` the logarithm at which
    colours saturate, `titles` those of the chart, the line under it, the columns and the rows.
    """
    width = (2 * WIDTH + 20 if wide else WIDTH) - margin
    height = ROW_HEIGHT * len(rows)
    size = (_band(width, len(columns), COLUMN_GAP), _band(height, len(rows), ROW_GAP))
    x = alt.X("c:O", sort=list(columns), axis=alt.Axis(title=titles[2], labelAngle=0, labelOverlap=False, domain=False))
    y = alt.Y("r:O", sort=list(rows), axis=alt.Axis(title=titles[3], domain=False, ticks=False, minExtent=margin - 24))
    x = x.scale(domain=list(columns), paddingInner=COLUMN_GAP, paddingOuter=0)
    y = y.scale(domain=list(rows), paddingInner=ROW_GAP, paddingOuter=0)
    colours = [PALETTE[pair[0] % len(PALETTE)], LEVEL_COLOUR, PALETTE[pair[1] % len(PALETTE)]]
    scale = alt.Scale(domain=[-limit, 0.0, limit], range=colours, clamp=True, type="linear", interpolate="lab")
    data: dict[str, list[Row]] = {"cells": [], "hatched": [], "marks": [], "void": []}
    for cell in cells:
        place = {"c": cell.column, "r": cell.row}
        if cell.ratio is None:
            data["void"].append(place)
            continue
        log = math.log(cell.ratio)
        data["cells"].append({**place, "v": round(log, 4), "t": cell.text})
        if cell.hatched:
            data["hatched"].append(place)
        data["marks"] += [{**place, "m": name} for name in ("cached", "outlier") if getattr(cell, name)]
    base = alt.Chart(rows_of("cells")).encode(x=x, y=y)
    ink = alt.condition(f"abs(datum.v) > {0.8 * limit:.4f}", alt.value(CELL_LIGHT), alt.value(CELL_INK))
    size_of_text = 10.5 if size[0] >= 34 else 9
    layers: list[Any] = [base.mark_rect().encode(color=alt.Color("v:Q", scale=scale, legend=None))]
    if data["hatched"]:
        layers.append(_shape(x, y, "hatched", _hatch(*size), CELL_INK, 0.75, 0.33))
    layers.append(base.mark_text(fontSize=size_of_text).encode(text="t:N", color=ink))
    if data["void"]:
        cross = alt.Chart(rows_of("void")).mark_text(text="×", fontSize=12, color="#9aa3ae")
        layers.append(cross.encode(x=x, y=y))
    if data["marks"]:
        layers += [
            _shape(x, y, "marks", _corner(*size), CELL_INK, 0.0, 0.8, "datum.m == 'cached'"),
            _shape(x, y, "marks", _frame(*size), "#000000", 1.6, 1.0, "datum.m == 'outlier'"),
        ]
    chart = alt.layer(*layers).properties(width=width, height=height, title=heading(titles[0], titles[1]))
    return themed(chart, {name: rows_ for name, rows_ in data.items() if rows_})


def _band(length: float, number: int, gap: float) -> float:
    """The size of one of `number` bands with gaps between them, and none outside."""
    return length * (1.0 - gap) / max(1.0 - gap, number - gap)


def _shape(x: Any, y: Any, data: str, path: str, colour: str, line: float, opacity: float, only: str = "") -> Any:
    """The same drawing in many cells. A symbol of size 4 is drawn in pixels as its path says."""
    source = alt.Chart(rows_of(data))
    if only:
        source = source.transform_filter(only)
    filled = line == 0.0
    mark = source.mark_point(
        shape=path, size=4, strokeWidth=line, color=colour, opacity=opacity, filled=filled, clip=True
    )
    return mark.encode(x=x, y=y)


def _hatch(width: float, height: float) -> str:
    """Lines rising to the right, at equal distances, from edge to edge of the cell."""
    w, h = int(width / 2), int(height / 2)
    step, parts, at = 8, [], 4 - w - h
    while at < w + h:
        left, right = max(-w, at - h), min(w, at + h)
        if right - left > 2:
            parts.append(f"M{left},{at - left}L{right},{at - right}")
        at += step
    return "".join(parts)


def _corner(width: float, height: float) -> str:
    w, h = width / 2 - 1, height / 2 - 1
    return f"M{w - 6:.1f},{-h:.1f}L{w:.1f},{-h:.1f}L{w:.1f},{-h + 6:.1f}Z"


def _frame(width: float, height: float) -> str:
    w, h = width / 2 - 1.5, height / 2 - 1.5
    return f"M{-w:.1f},{-h:.1f}L{w:.1f},{-h:.1f}L{w:.1f},{h:.1f}L{-w:.1f},{h:.1f}Z"
