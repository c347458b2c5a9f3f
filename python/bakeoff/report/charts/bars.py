"""Intervals beside or below each other: ratios, ranges and effects, by contender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts.axes import Named, Ratios, Shares, Values
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import MUTED, ZONE
from bakeoff.report.charts.theme import (
    HEIGHT,
    Row,
    contender_channels,
    contender_keys,
    filled,
    finish,
    heading,
    known,
    rows_of,
)

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

BAR, POINT, ROW_PX = 1.8, 56, 25


def bars_of(
    rows: list[Row],
    names: Sequence[str],
    places: Named,
    values: Values,
    titles: tuple[str, str],
    delta: float | None = None,
    flat: bool = False,
) -> dict[str, Any]:
    """A bar from `low` to `high` (null where unknown) at each place, for each contender there, with a mark at its
    value; at both ends of a share. A mark is hollow where `whole` or `shown` is False. Shaded is ±`delta` around a
    ratio of 1. `flat` bars lie in rows of paper, one for each place.
    """
    shown = [name for name in names if any(row["contender"] == name for row in rows)]
    colour, shape, _ = contender_channels(names, shown)
    scaled = values.scaled(rows)
    scaled.axis.grid = True
    at, one, other, end_of = (scaled.x, "x", "x2", alt.X2) if flat else (scaled.y, "y", "y2", alt.Y2)
    along = {"y": places.y()} if flat else {"x": places.x(rows), "xOffset": alt.XOffset("contender:N", sort=shown)}
    datasets, layers = {"rows": rows}, []
    if delta is not None:
        datasets["zone"] = [{"a": known(1.0 / (1.0 + delta)), "b": 1.0 + delta}]
        layers.append(alt.Chart(rows_of("zone")).mark_rect(color=ZONE).encode(**{one: at("a"), other: end_of("b:Q")}))
    if isinstance(values, Ratios | Shares):
        datasets["one"] = [{values.field: 1.0}]
        rule = alt.Chart(rows_of("one")).mark_rule(color=MUTED, strokeWidth=1)
        layers.append(rule.encode(**{one: at(values.field)}))
    base = alt.Chart(rows_of("rows")).encode(**along)
    layers.append(base.mark_rule(strokeWidth=BAR).encode(**{one: at("low"), other: end_of("high:Q")}, color=colour))
    for end in ("low", "high") if isinstance(values, Shares) else (values.field,):
        points = base.mark_point(size=POINT, opacity=1, filled=False, strokeWidth=BAR)
        layers.append(points.encode(**{one: at(end)}, color=colour, shape=shape, fill=filled(colour)))
    if missing := [{**row, values.field: 0} for row in rows if row.get(values.field, 0) is None]:
        datasets["missing"] = missing
        cross = alt.Chart(rows_of("missing")).mark_text(text="✕", fontSize=15, fontWeight="bold", dx=7)
        layers.append(cross.encode(**along, **{one: at(values.field)}, color=colour))
    height = 90 + ROW_PX * len(places.names) if flat else HEIGHT
    chart = alt.layer(*layers, title=heading(*titles))
    return finish(chart, datasets, contender_keys(names, shown, lines=False), height)


bars = drawn(bars_of)
