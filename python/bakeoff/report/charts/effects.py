"""Effects of factors as drawings: all of them with their intervals, and two factors against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts.axes import ratio_axis
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import LIGHT_PAPER, MUTED, PALETTE, SHAPES, ZONE
from bakeoff.report.charts.svg import LETTER
from bakeoff.report.charts.theme import Key, Row, contender_channels, contender_keys, finish, heading, known, rows_of

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

MAIN, JOINT = "main effect", "interaction"
ROW_PX, LABELS_PX = 24, 210


def _range(rows: Sequence[Row], delta: float) -> tuple[float, float]:
    ends = [row[key] for row in rows for key in ("low", "high", "ratio") if row[key]]
    low = min([*ends, 1.0 / (1.0 + 1.6 * delta)]) * 0.97
    return low, max([*ends, 1.0 + 1.6 * delta]) * 1.03


@drawn
def effects_with_intervals(rows: list[Row], delta: float, title: str, subtitle: str, unit: str) -> dict[str, Any]:
    """A row for each effect on a logarithmic axis. Rows: effect, sort (`main effect` or `interaction`), ratio, low,
    high (null where unknown), shown (whether it is certain and matters).
    """
    low, high = _range(rows, delta)
    scale = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    axis = ratio_axis(f"ratio of {unit}, log scale", low, high)
    axis.grid = True
    kinds = [MAIN, JOINT]
    colour = alt.Color("sort:N", scale=alt.Scale(domain=kinds, range=list(PALETTE[:2])), legend=None)
    shape = alt.Shape("sort:N", scale=alt.Scale(domain=kinds, range=list(SHAPES[:2])), legend=None)
    # Drawn by one typeface and shown in another, which may be wider.
    room = min(LETTER * max(len(row["effect"]) for row in rows), LABELS_PX * 1.15)
    names = alt.Axis(title=None, labelLimit=LABELS_PX, minExtent=room, domain=False, ticks=False, grid=False)
    y = alt.Y("effect:N", sort=[row["effect"] for row in rows], axis=names, scale=alt.Scale(padding=0.5))
    x = alt.X("ratio:Q", scale=scale, axis=axis)
    base = alt.Chart(rows_of("rows")).encode(y=y)
    chart = alt.layer(
        alt.Chart(rows_of("zone")).mark_rect(color=ZONE).encode(x=alt.X("a:Q", scale=scale, axis=axis), x2="b:Q"),
        alt.Chart(rows_of("one")).mark_rule(color=MUTED, strokeWidth=1).encode(x=x),
        base.mark_rule(strokeWidth=1.8).encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colour),
        base.mark_point(size=60, opacity=1, filled=False, strokeWidth=1.8).encode(
            x=x, color=colour, shape=shape, fill=alt.condition("datum.shown", colour, alt.value(LIGHT_PAPER))
        ),
    ).properties(title=heading(title, subtitle))
    zone = [{"a": known(1.0 / (1.0 + delta)), "b": 1.0 + delta}]
    keys = [Key(kind, PALETTE[place], SHAPES[place]) for place, kind in enumerate(kinds)]
    keys = [key for key in keys if any(row["sort"] == key.label for row in rows)]
    datasets = {"rows": rows, "zone": zone, "one": [{"ratio": 1.0}]}
    return finish(chart, datasets, keys, height=110 + ROW_PX * len(rows))


@drawn
def two_factors(
    rows: list[Row], lines: Sequence[str], across: Sequence[str], title: str, subtitle: str, axis_title: str, unit: str
) -> dict[str, Any]:
    """A line for each level of one factor over the levels of another: parallel where neither changes what the other
    does. Rows: contender (the level that the line is of), level, ratio, low, high (null where unknown).
    """
    low, high = _range(rows, 0.0)
    scale = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    axis = ratio_axis(f"{unit}, log scale", low, high)
    colour, shape, dash = contender_channels(lines)
    x = alt.X("level:N", sort=list(across), axis=alt.Axis(title=axis_title, labelAngle=0), scale=alt.Scale(padding=0.5))
    y = alt.Y("ratio:Q", scale=scale, axis=axis)
    base = alt.Chart(rows_of("rows")).encode(x=x, color=colour)
    chart = alt.layer(
        base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dash),
        base.mark_rule(strokeWidth=1.4).encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q"),
        base.mark_point(size=56, opacity=1, filled=True).encode(y=y, shape=shape),
    ).properties(title=heading(title, subtitle))
    return finish(chart, {"rows": rows}, contender_keys(lines))
