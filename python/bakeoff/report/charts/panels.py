"""Charts with a panel for each contender, all on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.mix import Mix
from bakeoff.report.charts.axes import amount_axis, named_mix_axis, round_top
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import DASHES, LIGHT_PAPER, MUTED, PARTS, ZONE, place_of
from bakeoff.report.charts.theme import Key, Row, colour_of, contender_keys, heading, panels, rows_of

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

# Room for the numbers of an axis, the same in every panel, so that panels are level.
MARGIN = 38


@drawn
def shares_by_mix(
    rows: list[Row],
    names: Sequence[str],
    steps: Sequence[str],
    mixes: Sequence[Mix],
    unit: str,
    title: str,
    subtitle: str,
) -> dict[str, Any]:
    """Stacked shares. Rows: contender, mix (text), step, share, order."""
    tones = [PARTS[place % len(PARTS)] for place in range(len(steps))]
    scale = alt.Scale(domain=list(steps), range=tones)
    y = alt.Y("share:Q", axis=alt.Axis(title=unit, format=".0%", minExtent=MARGIN), scale=alt.Scale(domain=[0, 1]))
    x = named_mix_axis(mixes, alt.Scale(paddingInner=0.15, paddingOuter=max(0.1, 1.5 - 0.5 * len(mixes))))
    charts, datasets = [], dict[str, list[Row]]()
    for place, name in enumerate(names):
        datasets[f"rows{place}"] = [row for row in rows if row["contender"] == name]
        bars = alt.Chart(rows_of(f"rows{place}")).mark_bar(stroke=LIGHT_PAPER, strokeWidth=0.6)
        colour = alt.Color("step:N", sort=list(steps), scale=scale)
        charts.append(bars.encode(x=x, y=y, color=colour, order=alt.Order("order:Q")))
    keys = [Key(step, tone, "patch") for step, tone in zip(steps, tones, strict=True)]
    return panels(charts, contender_keys(names, lines=False), datasets, heading(title, subtitle), keys)


@drawn
def over_seconds(
    rows: list[Row],
    mean: list[Row],
    names: Sequence[str],
    window: tuple[float, float, float],
    unit: str,
    title: str,
    subtitle: str,
) -> dict[str, Any]:
    """A thin line for each trial and a bold one for their mean. Rows: contender, trial, second, value, and `series`
    where a contender has several. `window`: its begin, its end and the end of the trial, s.
    """
    begin, end, last = window
    top = max((row["value"] for row in rows), default=0.0)
    axis = amount_axis(unit, top)
    axis.minExtent = MARGIN
    y = alt.Y("value:Q", axis=axis, scale=alt.Scale(domain=[0, round_top(top)], nice=False))
    seconds = alt.Axis(title="seconds since the start", tickMinStep=1)
    span = alt.Scale(domain=[0, last], nice=False)
    x = alt.X("second:Q", axis=seconds, scale=span)
    series = list(dict.fromkeys(row["series"] for row in rows if "series" in row))
    # The legend of Vega would be a second one.
    dash = alt.StrokeDash("series:N", scale=alt.Scale(domain=series, range=list(DASHES[:2])), legend=None)
    shown = [name for name in names if any(row["contender"] == name for row in rows)]
    ramps = [{"a": a, "b": b} for a, b in ((0.0, begin), (min(end, last), last)) if b > a]
    charts, datasets = [], {"ramps": ramps}
    for name in shown:
        place = place_of(name, names)
        datasets[f"rows{place}"] = [row for row in rows if row["contender"] == name]
        datasets[f"mean{place}"] = [row for row in mean if row["contender"] == name]
        colour = colour_of(place)
        shade = alt.Chart(rows_of("ramps")).mark_rect(color=ZONE)
        each_row = alt.Chart(rows_of(f"rows{place}"))
        thin = each_row.mark_line(strokeWidth=0.9, opacity=0.5 if mean else 0.85, color=colour)
        bold = alt.Chart(rows_of(f"mean{place}")).mark_line(strokeWidth=2.2, color=colour)
        each = ["trial:N", "series:N"] if series else ["trial:N"]
        marks = {"strokeDash": dash} if series else {}
        layers = [shade.encode(x=alt.X("a:Q", axis=seconds, scale=span), x2="b:Q")]
        layers.append(thin.encode(x=x, y=y, detail=each, **marks))
        layers += [bold.encode(x=x, y=y, **marks)] if mean else []
        charts.append(alt.layer(*layers))
    keys = [Key(one, MUTED, "", tuple(line)) for one, line in zip(series, DASHES, strict=False)]
    subtitle += "; grey: ramps" if ramps else ""
    owners = contender_keys(names, shown, lines=False)
    return panels(charts, owners, datasets, heading(title, subtitle), keys)
