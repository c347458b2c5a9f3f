"""Transfers a second and their times against how many are in flight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts.axes import amount_axis, amount_scale, log_axis, log_range
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.theme import Row, contender_channels, contender_keys, finish, heading, rows_of

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

# Neighbours at one depth stand apart by this factor, so that their bars can be told.
APART = 1.03


def _across(depths: Sequence[int]) -> alt.X:
    """Queue depths, each with a tick: they are doubled more often than added to."""
    ends = [depths[0] / 1.15, depths[-1] * 1.15]
    axis = alt.Axis(values=list(depths), title="requests in flight, log scale", format="d", labelOverlap="greedy")
    return alt.X("at:Q", axis=axis, scale=alt.Scale(type="log", base=2, domain=ends, nice=False))


def _apart(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """`rows` with `at`, their places on the axis."""
    middle = (len(names) - 1) / 2.0
    return [{**row, "at": round(row["depth"] * APART ** (names.index(row["contender"]) - middle), 4)} for row in rows]


@drawn
def transfers_over_depth(
    rows: list[Row], names: Sequence[str], depths: Sequence[int], titles: tuple[str, str]
) -> dict[str, Any]:
    """Rows: contender, depth, value, low, high: a second, with its interval, or the least and the most of blocks."""
    colour, shape, dash = contender_channels(names)
    base = alt.Chart(rows_of("rows")).encode(x=_across(depths))
    top = max((row["high"] for row in rows), default=0.0)
    y = alt.Y("value:Q", axis=amount_axis("I/O per second", top), scale=amount_scale(top))
    layers = [
        base.mark_rule(strokeWidth=1.4, opacity=0.75).encode(y=alt.Y("low:Q"), y2="high:Q", color=colour),
        base.mark_line(strokeWidth=2).encode(y=y, color=colour, strokeDash=dash),
        base.mark_point(size=46, filled=True, opacity=1).encode(y=y, color=colour, shape=shape),
    ]
    return finish(alt.layer(*layers, title=heading(*titles)), {"rows": _apart(rows, names)}, contender_keys(names))


@drawn
def times_over_depth(
    rows: list[Row], names: Sequence[str], depths: Sequence[int], titles: tuple[str, str]
) -> dict[str, Any]:
    """Rows: contender, depth, value, low and high in ms, time (`p99`, drawn bold, or `p50`, drawn thin)."""
    colour, shape, dash = contender_channels(names)
    values = [row[end] for row in rows for end in ("low", "value", "high")]
    y = alt.Y("value:Q", axis=log_axis("ms", values), scale=log_range(values))
    base = alt.Chart(rows_of("rows")).encode(x=_across(depths), y=y, color=colour)
    bars = alt.Chart(rows_of("rows")).encode(
        x=_across(depths), y=alt.Y("low:Q", scale=log_range(values)), y2="high:Q", color=colour
    )
    p99, p50 = (base.transform_filter(f"datum.time == '{time}'") for time in ("p99", "p50"))
    layers = [
        bars.mark_rule(strokeWidth=1.2, opacity=0.6),
        p99.mark_line(strokeWidth=2).encode(strokeDash=dash),
        p50.mark_line(strokeWidth=1, opacity=0.6).encode(strokeDash=dash),
        p99.mark_point(size=46, filled=True, opacity=1).encode(shape=shape),
        p50.mark_point(size=14, filled=True, opacity=1).encode(shape=shape),
    ]
    return finish(alt.layer(*layers, title=heading(*titles)), {"rows": _apart(rows, names)}, contender_keys(names))
