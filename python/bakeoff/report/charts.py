"""Charts as Vega-Lite specifications, made with Altair.

Colour, marker and dash all tell the contenders apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.mix import Mix
from bakeoff.report.drawing import drawn, later
from bakeoff.report.palette import DASHES, GRID, INK, MUTED, PALETTE, SHAPES, STEP_COLOURS, ZONE

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

WIDTH, HEIGHT = 500, 300
FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"

Row = dict[str, Any]


def known(value: float) -> float | None:
    """A number for the specification: NaN and infinity are null; six figures are more than a pixel can
    show.
    """
    return float(f"{value:.6g}") if math.isfinite(value) else None


def rows_of(name: str) -> alt.NamedData:
    """Data by name. Altair copies and checks inline data several times over; the rows are put in at
    the end.
    """
    return alt.NamedData(name=name)


def finish(chart: Any, datasets: dict[str, list[Row]], wide: bool = False) -> dict[str, Any]:
    """Size, data and theme of a single or layered chart, as a plain specification."""
    sized = chart.properties(
        width=2 * WIDTH + 20 if wide else WIDTH,
        height=240 if wide else HEIGHT,
        autosize=alt.AutoSizeParams(type="fit", contains="padding"),
    )
    return themed(sized, datasets)


def themed(chart: Any, datasets: dict[str, list[Row]]) -> dict[str, Any]:
    """The specification of `chart` with its data and the theme of all charts."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec["datasets"] = datasets
    spec["config"] = _CONFIG
    return spec


_CONFIG: dict[str, Any] = {
    "aria": False,
    "font": FONT,
    "background": "transparent",
    "padding": 4,
    "view": {"stroke": None},
    "mark": {"invalid": "break-paths-filter-domains"},
    "title": {
        "anchor": "start",
        "fontSize": 14,
        "fontWeight": "bold",
        "color": INK,
        "offset": 10,
        "subtitleFontSize": 11,
        "subtitleColor": MUTED,
        "subtitlePadding": 4,
    },
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "gridColor": GRID,
        "domainColor": "#9aa3ae",
        "tickColor": "#9aa3ae",
        "tickSize": 4,
    },
    "axisX": {"grid": False},
    "axisY": {"domain": False, "ticks": False, "tickCount": 5},
    "legend": {
        "orient": "top",
        "title": None,
        "labelColor": INK,
        "labelFontSize": 12,
        "symbolSize": 90,
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
        "padding": 0,
        "offset": 6,
        "labelLimit": 320,
    },
    "header": {"labelColor": INK, "labelFontSize": 12, "labelFontWeight": "bold"},
}


def heading(title: str, subtitle: str) -> alt.TitleParams:
    """Title with a line in smaller type under it."""
    return alt.TitleParams(text=title, subtitle=subtitle)


def contender_channels(
    names: Sequence[str], shown: Sequence[str] | None = None
) -> tuple[alt.Color, alt.Shape, alt.StrokeDash]:
    """Colour, marker and dash by contender, sharing one legend of those `shown` (default: all
    `names`).
    """
    domain = [name for name in names if shown is None or name in shown]
    index = [names.index(name) % len(PALETTE) for name in domain]
    colour = alt.Color("contender:N", scale=alt.Scale(domain=domain, range=[PALETTE[i] for i in index]))
    shape = alt.Shape("contender:N", scale=alt.Scale(domain=domain, range=[SHAPES[i] for i in index]))
    dash = alt.StrokeDash("contender:N", scale=alt.Scale(domain=domain, range=[DASHES[i] for i in index]))
    return colour, shape, dash


def mix_axis(mixes: Sequence[Mix]) -> alt.X:
    """The load, with a tick at each mix."""
    axis = alt.Axis(values=[mix.x for mix in mixes], title=mixes[0].axis, labelOverlap="greedy")
    return alt.X("mix:Q", axis=axis, scale=alt.Scale(domain=[0, max(mix.x for mix in mixes) * 1.03], nice=False))


def plain_or_thousands(top: float) -> str:
    """The format of an axis up to `top`: 0.4 must not become 400m on an axis of milliseconds."""
    return "~s" if top >= 10_000 else ",~f"


@drawn
def lines_with_intervals(
    rows: list[Row], names: Sequence[str], mixes: Sequence[Mix], title: str, subtitle: str, wide: bool = False
) -> dict[str, Any]:
    """Curves over mixes. Rows: contender, mix, value, low, high (null where unknown)."""
    colour, shape, dash = contender_channels(names)
    base = alt.Chart(rows_of("rows"), title=heading(title, subtitle)).encode(x=mix_axis(mixes))
    top = max((row["high"] or row["value"] or 0.0 for row in rows), default=0.0)
    scale = alt.Scale(zero=True, nice=True) if top > 0.0 else alt.Scale(domain=[0, 1])
    y = alt.Y("value:Q", axis=alt.Axis(title=None, format=plain_or_thousands(top)), scale=scale)
    layers = [
        base.mark_rule(strokeWidth=1.4, opacity=0.75).encode(y=alt.Y("low:Q"), y2="high:Q", color=colour),
        base.mark_line(strokeWidth=2).encode(y=y, color=colour, strokeDash=dash),
        base.mark_point(size=46, filled=True, opacity=1).encode(y=y, color=colour, shape=shape),
    ]
    missing = [{"contender": row["contender"], "mix": row["mix"], "value": 0} for row in rows if row["value"] is None]
    if missing:
        # A contender that broke at a mix is a result: it is marked on the axis, and the line stops.
        cross = alt.Chart(rows_of("missing")).mark_text(text="✕", fontSize=15, fontWeight="bold", dy=-7)
        layers.append(cross.encode(x=mix_axis(mixes), y=y, color=colour))
    return finish(alt.layer(*layers), {"rows": rows, "missing": missing} if missing else {"rows": rows}, wide)


@drawn
def answered_over_offered(
    rows: list[Row], names: Sequence[str], mixes: Sequence[Mix], title: str, subtitle: str
) -> dict[str, Any]:
    """What was answered against what was offered. Rows: contender, mix, value, low, high (null where unknown)."""
    colour, shape, dash = contender_channels(names)
    most = max([mix.x for mix in mixes] + [row["mix"] for row in rows])
    all_of_it = alt.Chart(rows_of("all")).mark_line(color=MUTED, strokeWidth=1).encode(x=mix_axis(mixes), y="value:Q")
    base = alt.Chart(rows_of("rows"), title=heading(title, subtitle)).encode(x=mix_axis(mixes))
    y = alt.Y("value:Q", axis=alt.Axis(title=None, format=plain_or_thousands(most)), scale=alt.Scale(zero=True))
    layers = [
        all_of_it,
        base.mark_rule(strokeWidth=1.4, opacity=0.75).encode(y=alt.Y("low:Q"), y2="high:Q", color=colour),
        base.mark_line(strokeWidth=2).encode(y=y, color=colour, strokeDash=dash),
        base.mark_point(size=46, filled=True, opacity=1).encode(y=y, color=colour, shape=shape),
    ]
    return finish(alt.layer(*layers), {"rows": rows, "all": [{"mix": x, "value": x} for x in (0.0, most)]})


@drawn
def times_over_rates(
    rows: list[Row], names: Sequence[str], mixes: Sequence[Mix], title: str, subtitle: str
) -> dict[str, Any]:
    """Response time filled, service time hollow. Rows: contender, mix, value, time (`response` or `service`)."""
    colour, shape, dash = contender_channels(names)
    y = alt.Y("value:Q", axis=alt.Axis(title=None, format="~g"), scale=alt.Scale(type="log"))
    base = alt.Chart(rows_of("rows"), title=heading(title, subtitle)).encode(x=mix_axis(mixes), y=y, color=colour)
    response, service = (base.transform_filter(f"datum.time == '{time}'") for time in ("response", "service"))
    layers = [
        response.mark_line(strokeWidth=2).encode(strokeDash=dash),
        service.mark_line(strokeWidth=1, opacity=0.6).encode(strokeDash=dash),
        response.mark_point(size=46, filled=True, opacity=1).encode(shape=shape),
        service.mark_point(size=46, filled=False, opacity=1, fill="white").encode(shape=shape),
    ]
    return finish(alt.layer(*layers), {"rows": rows})


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
    low = min([*bounds, 1.0 / (1.0 + 1.6 * delta)]) * 0.98
    high = max([*bounds, 1.0 + 1.6 * delta]) * 1.02
    scale = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    axis = alt.Axis(title=f"Ratio, log scale ({better})", values=log_ticks(low, high), format="~f")
    order = [str(mix) for mix in mixes]
    x = alt.X(
        "mix:O",
        sort=order,
        axis=alt.Axis(title=mixes[0].axis, labelAngle=0),
        scale=alt.Scale(padding=0.5),
    )
    zone = alt.Chart(rows_of("zone")).mark_rect(color=ZONE)
    one = alt.Chart(rows_of("one")).mark_rule(color=MUTED, strokeWidth=1)
    base = alt.Chart(rows_of("rows")).encode(x=x, xOffset=alt.XOffset("contender:N", sort=shown))
    y = alt.Y("ratio:Q", scale=scale, axis=axis)
    fill = alt.condition("datum.shown", colour, alt.value("white"))
    chart = alt.layer(
        zone.encode(y=alt.Y("a:Q", scale=scale, axis=axis), y2="b:Q"),
        one.encode(y=y),
        base.mark_rule(strokeWidth=1.8).encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q", color=colour),
        base.mark_point(size=56, opacity=1, filled=False, strokeWidth=1.8).encode(
            y=y, color=colour, shape=shape, fill=fill
        ),
    ).properties(title=heading(title, subtitle))
    zone_rows = [{"a": known(1.0 / (1.0 + delta)), "b": 1.0 + delta}]
    return finish(chart, {"rows": rows, "zone": zone_rows, "one": [{"ratio": 1.0}]})


def log_ticks(low: float, high: float) -> list[float]:
    """Six or so round ratios between the bounds, 1 always among them."""
    fine = (
        0.01,
        0.02,
        0.05,
        0.1,
        0.2,
        0.3,
        0.5,
        0.7,
        0.8,
        0.9,
        0.95,
        1.0,
        1.05,
        1.1,
        1.2,
        1.3,
        1.5,
        2.0,
        3.0,
        5.0,
        10.0,
        20.0,
        50.0,
        100.0,
    )
    inside = [tick for tick in fine if low <= tick <= high]
    gap = math.log(high / low) / 9.0
    kept = [1.0]
    for tick in sorted(inside, key=lambda t: abs(math.log(t))):
        if all(abs(math.log(tick / other)) >= gap for other in kept):
            kept.append(tick)
    return sorted(kept)


@drawn
def over_seconds(
    rows: list[Row],
    mean: list[Row],
    names: Sequence[str],
    window: tuple[float, float],
    title: str,
    subtitle: str,
) -> dict[str, Any]:
    """One thin line for each trial and a bold one for their mean. Rows: contender, trial, second, value."""
    colour, _, dash = contender_channels(names)
    end = max((row["second"] for row in rows), default=1) + 1
    x = alt.X(
        "second:Q",
        axis=alt.Axis(title="Seconds since the start of the trial"),
        scale=alt.Scale(domain=[0, end], nice=False),
    )
    top = max((row["value"] for row in rows), default=0.0)
    y = alt.Y("value:Q", axis=alt.Axis(title=None, format=plain_or_thousands(top)), scale=alt.Scale(zero=True))
    end_of_ramp, start_of_ramp = window
    ramps = [(0.0, end_of_ramp), (start_of_ramp, float(end))]
    shade = alt.Chart(rows_of("ramps")).mark_rect(color=ZONE)
    thin = alt.Chart(rows_of("rows")).mark_line(strokeWidth=0.8, opacity=0.35)
    layers = [
        shade.encode(x=alt.X("a:Q", axis=alt.Axis(title="Seconds since the start of the trial")), x2="b:Q"),
        thin.encode(x=x, y=y, color=colour, detail="trial:N"),
    ]
    if mean:
        bold = alt.Chart(rows_of("mean")).mark_line(strokeWidth=2.2)
        layers.append(bold.encode(x=x, y=y, color=colour, strokeDash=dash))
    shown = [{"a": known(a), "b": known(b)} for a, b in ramps if b > a]
    datasets = {"rows": rows, "mean": mean, "ramps": shown}
    return finish(alt.layer(*layers).properties(title=heading(title, subtitle)), datasets)


@drawn
def shares_by_mix(
    rows: list[Row],
    names: Sequence[str],
    steps: Sequence[str],
    mixes: Sequence[Mix],
    title: str,
    subtitle: str,
) -> dict[str, Any]:
    """Stacked shares, one panel for each contender. Rows: contender, mix (text), step, share, order."""
    colours = [STEP_COLOURS[i % len(STEP_COLOURS)] for i in range(len(steps))]
    panels = []
    datasets: dict[str, list[Row]] = {}
    for index, name in enumerate(names):
        datasets[f"rows{index}"] = [row for row in rows if row["contender"] == name]
        axis = alt.Axis(title=None, format=".0%", labels=index == 0)
        panels.append(
            alt.Chart(
                rows_of(f"rows{index}"),
                title=alt.TitleParams(text=name, fontSize=12, anchor="middle", offset=4),
            )
            .mark_bar(stroke="white", strokeWidth=0.4)
            .encode(
                x=alt.X(
                    "mix:O",
                    sort=[str(m) for m in mixes],
                    axis=alt.Axis(title=mixes[0].axis, labelAngle=0),
                    scale=alt.Scale(paddingInner=0.15),
                ),
                y=alt.Y("share:Q", axis=axis, scale=alt.Scale(domain=[0, 1])),
                color=alt.Color("step:N", sort=list(steps), scale=alt.Scale(domain=list(steps), range=colours)),
                order=alt.Order("order:Q"),
            )
            .properties(width=(2 * WIDTH - 60) / len(names) - 20, height=200)
        )
    return themed(alt.hconcat(*panels, spacing=20, title=heading(title, subtitle)), datasets)


@drawn
def ranges_by_mix(
    rows: list[Row], names: Sequence[str], mixes: Sequence[Mix], title: str, subtitle: str
) -> dict[str, Any]:
    """Lowest to highest client relative to the mean. Rows: contender, mix (text), low, high."""
    colour, shape, _ = contender_channels(names)
    x = alt.X("mix:O", sort=[str(m) for m in mixes], axis=alt.Axis(title=mixes[0].axis, labelAngle=0))
    top = max((row["high"] for row in rows), default=1.0)
    y = alt.Y(
        "low:Q",
        axis=alt.Axis(title=None, format=".0%"),
        scale=alt.Scale(domain=[0, max(1.25, top * 1.05)], nice=False),
    )
    one = alt.Chart(rows_of("one")).mark_rule(color=MUTED).encode(y=y)
    base = alt.Chart(rows_of("rows")).encode(x=x, xOffset=alt.XOffset("contender:N", sort=list(names)), color=colour)
    chart = alt.layer(
        one,
        base.mark_rule(strokeWidth=2).encode(y=y, y2="high:Q"),
        base.mark_point(size=40, filled=True, opacity=1).encode(y=y, shape=shape),
        base.mark_point(size=40, filled=True, opacity=1).encode(y=alt.Y("high:Q"), shape=shape),
    ).properties(title=heading(title, subtitle))
    return finish(chart, {"rows": rows, "one": [{"low": 1.0}]}, wide=True)
