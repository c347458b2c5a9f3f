"""Charts as Vega-Lite specifications, made with Altair.

Colour, mark and dash all tell the contenders apart. Every axis has its unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.mix import Mix
from bakeoff.report.charts.axes import (
    LEAST,
    amount_axis,
    amount_scale,
    far_apart,
    log_axis,
    log_range,
    mix_axis,
    named_mix_axis,
    ratio_axis,
    stepped_aside,
)
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import LIGHT_PAPER, MUTED, ZONE
from bakeoff.report.charts.theme import (
    Row,
    contender_channels,
    contender_keys,
    finish,
    heading,
    known,
    rows_of,
)

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

BAR, LINE, POINT = 1.4, 2.0, 52


def _top(rows: Sequence[Row]) -> float:
    return max((row.get("high") or row["value"] or 0.0 for row in rows), default=0.0)


def _above_0(rows: Sequence[Row]) -> list[Row]:
    """No amount is less than nothing, whatever an interval around its mean says."""
    return [{**row, "low": None if row.get("low") is None else max(0.0, row["low"])} for row in rows]


def _filled(colour: alt.Color) -> Any:
    """Hollow where trials are left out."""
    return alt.condition("datum.whole !== false", colour, alt.value(LIGHT_PAPER))


def _curves(base: Any, y: Any, channels: tuple[Any, Any, Any], intervals: bool = True) -> list[Any]:
    """Intervals, a line and marks for each contender, in the order in which they are drawn."""
    colour, shape, dash = channels
    ends = base.mark_rule(strokeWidth=BAR, opacity=0.8)
    return [
        *([ends.encode(y=alt.Y("low:Q"), y2="high:Q", color=colour)] if intervals else []),
        base.mark_line(strokeWidth=LINE).encode(y=y, color=colour, strokeDash=dash),
        base.mark_point(size=POINT, opacity=1, strokeWidth=1.6).encode(
            y=y, color=colour, shape=shape, fill=_filled(colour)
        ),
    ]


def _amounts(rows: list[Row], unit: str) -> tuple[alt.Y, float]:
    """The axis of amounts, from 0 or on logarithms, and what stands at its ground."""
    top = _top(rows)
    if not far_apart(rows):
        return alt.Y("value:Q", axis=amount_axis(unit, top), scale=amount_scale(top)), 0
    ends = [row[key] for row in rows for key in ("value", "low", "high") if row.get(key)]
    axis = log_axis(unit, ends)
    return alt.Y("value:Q", axis=axis, scale=log_range(ends)), LEAST * min(ends)


def _told(subtitle: str, rows: Sequence[Row]) -> str:
    """The line under a title, with what hollow marks and crosses mean where there are any."""
    if any(row.get("whole") is False and row["value"] is not None for row in rows):
        subtitle += "; hollow: some trials are left out"
    return f"{subtitle}; ✕: no usable trial" if any(row["value"] is None for row in rows) else subtitle


@drawn
def lines_with_intervals(
    rows: list[Row], names: Sequence[str], mixes: Sequence[Mix], unit: str, title: str, subtitle: str
) -> dict[str, Any]:
    """Curves over mixes, or marks in a row where there is one mix. Rows: contender, mix, value, low, high (null where
    unknown), whole (False where trials are left out).
    """
    if len(mixes) == 1:
        return _one_mix(_above_0(rows), names, unit, heading(title, _told(subtitle, rows)))
    rows = stepped_aside(_above_0(rows), names, mixes)
    channels = contender_channels(names)
    base = alt.Chart(rows_of("rows")).encode(x=mix_axis(mixes))
    y, ground = _amounts(rows, unit)
    layers = _curves(base, y, channels)
    datasets = {"rows": rows}
    if missing := [{**row, "value": ground} for row in rows if row["value"] is None]:
        # A contender that broke at a mix is a result: it is marked on the axis, and the line stops.
        datasets["missing"] = [{key: row[key] for key in ("contender", "mix", "at", "value")} for row in missing]
        cross = alt.Chart(rows_of("missing")).mark_text(text="✕", fontSize=15, fontWeight="bold", dy=-7)
        layers.append(cross.encode(x=mix_axis(mixes), y=y, color=channels[0]))
    return finish(alt.layer(*layers, title=heading(title, _told(subtitle, rows))), datasets, contender_keys(names))


def _one_mix(rows: list[Row], names: Sequence[str], unit: str, title: alt.TitleParams) -> dict[str, Any]:
    """One row of paper for each contender, amounts to the right: there is no curve over one mix."""
    colour, shape, _ = contender_channels(names)
    top = _top(rows)
    axis = amount_axis(unit, top)
    axis.grid = True
    scale = amount_scale(top)
    x = alt.X("value:Q", axis=axis, scale=scale)
    lines = alt.Axis(labels=False, title=None, domain=True)
    y = alt.Y("contender:N", sort=list(names), axis=lines, scale=alt.Scale(padding=1))
    base = alt.Chart(rows_of("rows")).encode(y=y)
    layers = [
        base.mark_rule(strokeWidth=BAR).encode(x=alt.X("low:Q", axis=axis, scale=scale), x2="high:Q", color=colour),
        base.mark_point(size=2 * POINT, opacity=1, strokeWidth=1.6).encode(
            x=x, color=colour, shape=shape, fill=_filled(colour)
        ),
    ]
    datasets = {"rows": rows}
    if missing := [row for row in rows if row["value"] is None]:
        datasets["missing"] = [{"contender": row["contender"], "mix": row["mix"], "value": 0} for row in missing]
        cross = alt.Chart(rows_of("missing")).mark_text(text="✕", fontSize=15, fontWeight="bold", dx=7)
        layers.append(cross.encode(x=x, y=y, color=colour))
    keys = contender_keys(names, lines=False)
    return finish(alt.layer(*layers, title=title), datasets, keys, height=70 + 26 * len(names))


@drawn
def answered_over_offered(
    rows: list[Row], names: Sequence[str], mixes: Sequence[Mix], title: str, subtitle: str
) -> dict[str, Any]:
    """What was answered against what was offered. Rows: contender, mix, value, low, high (null where unknown)."""
    most = max([mix.x for mix in mixes] + [row["mix"] for row in rows])
    rows = stepped_aside(rows, names, mixes)
    x = mix_axis(mixes)
    all_of_it = alt.Chart(rows_of("all")).mark_line(color=MUTED, strokeWidth=1).encode(x=x, y="value:Q")
    base = alt.Chart(rows_of("rows")).encode(x=x)
    y = alt.Y("value:Q", axis=amount_axis("answered a second", most), scale=amount_scale(most))
    layers = [all_of_it, *_curves(base, y, contender_channels(names))]
    offered = [{"at": at, "value": at} for at in (0.0, most)]
    layered = alt.layer(*layers, title=heading(title, _told(f"{subtitle}; grey: all that is offered", rows)))
    return finish(layered, {"rows": rows, "all": offered}, contender_keys(names))


@drawn
def times_over_rates(
    rows: list[Row], names: Sequence[str], mixes: Sequence[Mix], title: str, subtitle: str
) -> dict[str, Any]:
    """Response time with marks, service time as a thin line with small ones. Rows: contender, mix, value, time
    (`response` or `service`).
    """
    channels = contender_channels(names)
    colour, shape, dash = channels
    rows = stepped_aside(rows, names, mixes)
    times = [row["value"] or 0.0 for row in rows]
    y = alt.Y("value:Q", axis=log_axis("ms", times), scale=log_range(times))
    base = alt.Chart(rows_of("rows")).encode(x=mix_axis(mixes))
    response, service = (base.transform_filter(f"datum.time == '{time}'") for time in ("response", "service"))
    layers = [
        service.mark_line(strokeWidth=1, opacity=0.7).encode(y=y, color=colour, strokeDash=dash),
        service.mark_point(size=14, filled=True, opacity=1).encode(y=y, color=colour, shape=shape),
        *_curves(response, y, channels, intervals=False),
    ]
    return finish(
        alt.layer(*layers, title=heading(title, _told(subtitle, rows))), {"rows": rows}, contender_keys(names)
    )


@drawn
def ratio_over_mixes(
    rows: list[Row],
    names: Sequence[str],
    mixes: Sequence[Mix],
    delta: float,
    title: str,
    subtitle: str,
    better: str,
) -> dict[str, Any]:
    """Ratios with bands on a log axis. Rows: contender, mix (text), ratio, low, high, shown (bool)."""
    shown = [name for name in names if any(row["contender"] == name for row in rows)]
    colour, shape, _ = contender_channels(names, shown)
    bounds = [v for row in rows for v in (row["low"], row["high"], row["ratio"]) if v]
    low = min([*bounds, 1.0 / (1.0 + 1.6 * delta)]) * 0.97
    high = max([*bounds, 1.0 + 1.6 * delta]) * 1.03
    scale = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    axis = ratio_axis(f"ratio, log scale ({better})", low, high)
    zone = alt.Chart(rows_of("zone")).mark_rect(color=ZONE)
    one = alt.Chart(rows_of("one")).mark_rule(color=MUTED, strokeWidth=1)
    base = alt.Chart(rows_of("rows")).encode(x=named_mix_axis(mixes), xOffset=alt.XOffset("contender:N", sort=shown))
    y = alt.Y("ratio:Q", scale=scale, axis=axis)
    fill = alt.condition("datum.shown", colour, alt.value(LIGHT_PAPER))
    chart = alt.layer(
        zone.encode(y=alt.Y("a:Q", scale=scale, axis=axis), y2="b:Q"),
        one.encode(y=y),
        base.mark_rule(strokeWidth=1.8).encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q", color=colour),
        base.mark_point(size=56, opacity=1, filled=False, strokeWidth=1.8).encode(
            y=y, color=colour, shape=shape, fill=fill
        ),
    ).properties(title=heading(title, subtitle))
    zone_rows = [{"a": known(1.0 / (1.0 + delta)), "b": 1.0 + delta}]
    datasets = {"rows": rows, "zone": zone_rows, "one": [{"ratio": 1.0}]}
    return finish(chart, datasets, contender_keys(names, shown, lines=False))


@drawn
def ranges_by_mix(
    rows: list[Row], names: Sequence[str], mixes: Sequence[Mix], unit: str, title: str, subtitle: str
) -> dict[str, Any]:
    """Lowest to highest, relative to the mean. Rows: contender, mix (text), low, high."""
    colour, shape, _ = contender_channels(names)
    top = max((row["high"] for row in rows), default=1.0)
    scale = alt.Scale(domain=[0, max(1.25, top * 1.05)], nice=False)
    y = alt.Y("low:Q", axis=alt.Axis(title=unit, format=".0%"), scale=scale)
    one = alt.Chart(rows_of("one")).mark_rule(color=MUTED).encode(y=y)
    x, aside = named_mix_axis(mixes), alt.XOffset("contender:N", sort=list(names))
    base = alt.Chart(rows_of("rows")).encode(x=x, xOffset=aside, color=colour)
    chart = alt.layer(
        one,
        base.mark_rule(strokeWidth=2).encode(y=y, y2="high:Q"),
        base.mark_point(size=40, filled=True, opacity=1).encode(y=y, shape=shape),
        base.mark_point(size=40, filled=True, opacity=1).encode(y=alt.Y("high:Q"), shape=shape),
    ).properties(title=heading(title, subtitle))
    return finish(chart, {"rows": rows, "one": [{"low": 1.0}]}, contender_keys(names, lines=False))
