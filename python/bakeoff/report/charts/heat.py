"""Heat maps: cells with their numbers, in colours on a logarithmic scale: of ratios that of the one who is ahead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.theme import WIDTH, Row, heading, rows_of, themed

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

LEVEL_COLOUR = "#f3f3ef"
# Not the ink of the theme: the colours of cells are the same on dark paper.
CELL_INK, CELL_LIGHT, VOID = "#1d2127", "#ffffff", "#9aa3ae"
# Colours of ratios saturate at this ratio at the latest, and at the earliest at the other.
WIDEST, NARROWEST = 4.0, 1.25
MARGIN, ROW_HEIGHT = 74, 21
# A map of so many columns at most can be as narrow as a telephone.
FEW_COLUMNS = 4
# Space between neighbours, as a share of the distance between their edges.
COLUMN_GAP, ROW_GAP = 0.03, 0.05


@dataclass(frozen=True)
class Cell:
    """One cell of a map. `text` is shown; without a `value`, which is above 0, it is marked with a ×."""

    column: str
    row: str
    text: str
    value: float | None
    hatched: bool = False
    cached: bool = False
    outlier: bool = False


@dataclass(frozen=True)
class Tints:
    """`colours` at the logarithms of values `at`; the text is light where `dark`, a test of `datum.v`, holds."""

    at: tuple[float, ...]
    colours: tuple[str, ...]
    dark: str


def of_ratios(pair: tuple[str, str], limit: float) -> Tints:
    """Around 1.00; `pair` are the colours of baseline and contender, `limit` the logarithm at which they saturate."""
    return Tints((-limit, 0.0, limit), (pair[0], LEVEL_COLOUR, pair[1]), f"abs(datum.v) > {0.8 * limit:.4f}")


def of_levels(deepest: str, least: float, most: float) -> Tints:
    """From `least` to `most`, deeper in one colour the higher it is."""
    low, high = math.log(least), math.log(max(most, 1.01 * least))
    return Tints((low, high), (LEVEL_COLOUR, deepest), f"datum.v > {low + 0.62 * (high - low):.4f}")


def ratio_range(ratios: Sequence[float]) -> float:
    """The natural logarithm at which colours saturate: the 95th percentile of the distances from 1, bounded."""
    distances = sorted(abs(math.log(ratio)) for ratio in ratios if ratio > 0.0 and math.isfinite(ratio))
    if not distances:
        return math.log(NARROWEST)
    far = distances[min(len(distances) - 1, int(0.95 * len(distances)))]
    return min(max(far, math.log(NARROWEST)), math.log(WIDEST))


@drawn
def heat_map(
    cells: Sequence[Cell],
    columns: Sequence[str],
    rows: Sequence[str],
    tints: Tints,
    titles: tuple[str, str, str, str],
    wide: bool = False,
    margin: int = MARGIN,
) -> dict[str, Any]:
    """A Vega-Lite specification. `titles` are those of the chart, the line under it, the columns and the rows."""
    width, height = (2 * WIDTH + 20 if wide else WIDTH) - margin, ROW_HEIGHT * len(rows)
    size = (_band(width, len(columns), COLUMN_GAP), _band(height, len(rows), ROW_GAP))
    x = alt.X("c:O", sort=list(columns), axis=alt.Axis(title=titles[2], labelAngle=0, labelOverlap=False, domain=False))
    y = alt.Y("r:O", sort=list(rows), axis=alt.Axis(title=titles[3], domain=False, ticks=False, minExtent=margin - 24))
    x = x.scale(domain=list(columns), paddingInner=COLUMN_GAP, paddingOuter=0)
    y = y.scale(domain=list(rows), paddingInner=ROW_GAP, paddingOuter=0)
    scale = alt.Scale(domain=tints.at, range=tints.colours, clamp=True, type="linear", interpolate="lab")
    data: dict[str, list[Row]] = {"cells": [], "hatched": [], "marks": [], "void": []}
    for cell in cells:
        place = {"c": cell.column, "r": cell.row}
        if cell.value is None:
            data["void"].append(place)
            continue
        data["cells"].append({**place, "v": round(math.log(cell.value), 4), "t": cell.text})
        data["hatched"] += [place] if cell.hatched else []
        data["marks"] += [{**place, "m": name} for name in ("cached", "outlier") if getattr(cell, name)]
    base = alt.Chart(rows_of("cells")).encode(x=x, y=y)
    ink = alt.condition(tints.dark, alt.value(CELL_LIGHT), alt.value(CELL_INK))
    layers: list[Any] = [base.mark_rect().encode(color=alt.Color("v:Q", scale=scale, legend=None))]
    if data["hatched"]:
        layers.append(_shape(x, y, "hatched", _hatch(*size), CELL_INK, 0.75, 0.33))
    layers.append(base.mark_text(fontSize=10.5 if size[0] >= 34 else 9).encode(text="t:N", color=ink))
    if data["void"]:
        cross = alt.Chart(rows_of("void")).mark_text(text="×", fontSize=12, color=VOID)
        layers.append(cross.encode(x=x, y=y))
    if data["marks"]:
        layers += [
            _shape(x, y, "marks", _corner(*size), CELL_INK, 0.0, 0.8, "datum.m == 'cached'"),
            _shape(x, y, "marks", _frame(*size), "#000000", 1.6, 1.0, "datum.m == 'outlier'"),
        ]
    chart = alt.layer(*layers).properties(width=width, height=height, title=heading(titles[0], titles[1]))
    shown = {name: rows_ for name, rows_ in data.items() if rows_}
    return themed(chart, shown, fixed="few" if len(columns) <= FEW_COLUMNS and not wide else "wide")


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
