"""Lines over loads, sizes, time or levels, one for each contender, with intervals.

Colour, mark and dash all tell the contenders apart. Every axis has its unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts.axes import Across, Amounts, Elapsed, Loads, Named, Values
from bakeoff.report.charts.bars import bars_of
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import INK, MUTED
from bakeoff.report.charts.theme import (
    Key,
    Row,
    contender_channels,
    contender_keys,
    filled,
    finish,
    heading,
    rows_of,
)

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

BAR = 1.4
Look = tuple[float, float, int]
# How wide a line is and how opaque, and the size of its marks.
THICK, THIN, ALL, TIMED = (2.0, 1.0, 52), (1.1, 0.7, 18), (2.8, 1.0, 52), (1.8, 1.0, 26)
# Of more points in time than this, only their lines are drawn.
MOST_POINTS = 200


@drawn
def lines(
    rows: list[Row],
    names: Sequence[str],
    across: Across,
    down: Values,
    titles: tuple[str, str],
    bold: str = "",
    over: str = "",
    guides: Mapping[str, list[Row]] | None = None,
) -> dict[str, Any]:
    """A line for each contender. Rows: contender, what `across` and `down` ask for (null where unknown) and, where
    there are any, low and high, `whole` (False: some trials are left out; drawn hollow), `segment` (parts that are not
    joined).

    Of rows with a `time` the `bold` ones have thick lines and the others thin ones; or those `over` all have, which
    are no contender's. `guides` are grey: lines of `at` and a value, or rules at one of them. At one load there is no
    curve: marks stand in rows.
    """
    if isinstance(down, Amounts):
        # No amount is less than nothing, whatever an interval around its mean says.
        rows = [{**row, "low": max(0.0, row["low"])} if row.get("low") is not None else row for row in rows]
    titles = (titles[0], _subtitle(titles[1], rows)) if isinstance(across, Loads) else titles
    if isinstance(across, Loads) and len(across.load_steps) == 1 and not (bold or guides):
        return bars_of(rows, names, Named("contender", names, None), down, titles, flat=True)
    rows = across.placed(rows, names)
    x, scaled = across.x(rows), down.scaled(rows)
    channels: tuple[Any, Any, Any] = contender_channels(names)
    base = alt.Chart(rows_of("rows")).encode(x=x)
    datasets, layers = {"rows": rows}, []
    for name, of in (guides or {}).items():
        datasets[name] = of
        layers.append(_guide(name, of, x, scaled.y(down.field), down.field))
    y, thick = scaled.y(down.field), base
    if bold or over:
        key, value = ("time", bold) if bold else ("contender", over)
        thin, thick = (base.transform_filter(f"datum.{key} {how} '{value}'") for how in ("!=", "=="))
        layers += _curves(thin, y, channels, rows, THIN)
    if over:
        base, channels = thick, (alt.ColorValue(INK), alt.ShapeValue("circle"), alt.StrokeDashValue([1, 0]))
    if any(row.get("high") is not None for row in rows):
        ends = base.mark_rule(strokeWidth=BAR, opacity=0.8)
        layers.append(ends.encode(y=scaled.y("low"), y2=alt.Y2("high:Q"), color=channels[0]))
    look = ALL if over else TIMED if isinstance(across, Elapsed) else THICK
    layers += _curves(thick, y, channels, rows, look)
    if isinstance(across, Loads) and (missing := [row for row in rows if _is_missing(row, bold)]):
        # A contender that broke at a load step is a result: it is marked on the axis, and the line stops.
        kept = ("contender", "load_step", "at")
        datasets["missing"] = [{**{key: row[key] for key in kept}, "value": scaled.floor} for row in missing]
        cross = alt.Chart(rows_of("missing")).mark_text(text="✕", fontSize=15, fontWeight="bold", dy=-7)
        layers.append(cross.encode(x=x, y=y, color=channels[0]))
    keys = [*([Key(over, INK, "circle", ())] if over else []), *contender_keys(names)]
    return finish(alt.layer(*layers, title=heading(*titles)), datasets, keys)


def _curves(base: Any, y: Any, channels: Sequence[Any], rows: Sequence[Row], look: Look) -> list[Any]:
    """A line and marks for each contender."""
    colour, shape, dash = channels
    width, opacity, size = look
    parts = {"detail": alt.Detail("segment:N")} if any("segment" in row for row in rows) else {}
    line = base.mark_line(strokeWidth=width, opacity=opacity).encode(y=y, color=colour, strokeDash=dash, **parts)
    if look == TIMED and len(rows) > MOST_POINTS:
        return [line]
    points = base.mark_point(size=size, opacity=1, strokeWidth=0.8 * width)
    return [line, points.encode(y=y, color=colour, shape=shape, fill=filled(colour))]


def _guide(name: str, rows: Sequence[Row], x: Any, y: Any, field: str) -> Any:
    base = alt.Chart(rows_of(name))
    if "at" not in rows[0]:
        return base.mark_rule(color=MUTED, strokeWidth=1).encode(y=y)
    if field not in rows[0]:
        return base.mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x=x)
    return base.mark_line(color=MUTED, strokeWidth=1).encode(x=x, y=y)


def _is_missing(row: Row, bold: str) -> bool:
    return row["value"] is None and row.get("time", bold) == bold


def _subtitle(subtitle: str, rows: Sequence[Row]) -> str:
    """The line under a title, with what hollow marks and crosses mean where there are any."""
    if any(row.get("whole") is False and row["value"] is not None for row in rows):
        subtitle += "; hollow: some trials are left out"
    return f"{subtitle}; ✕: no usable trial" if any(row["value"] is None for row in rows) else subtitle
