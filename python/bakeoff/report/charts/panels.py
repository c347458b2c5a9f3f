"""Panels side by side, one for each contender, all on one scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from bakeoff.load.load_step import LoadStep
from bakeoff.report.charts.axes import Amounts, Counted, Scaled, Shares, Values, by_load_step, round_top
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import DASHES, LIGHT_PAPER, MUTED, PARTS, ZONE, colour_of, place_of
from bakeoff.report.charts.theme import PAGE_WIDTH, WIDTH, Key, Row, contender_keys, heading, rows_of, themed

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

# Room for the numbers of an axis, the same in every panel, so that panels are level.
MARGIN = 46
PANEL_HEIGHT, MOST_COLUMNS = 220, 4
# What became of a probe, with a mark each in the contender's colour: filled, hollow, and a cross.
MET, MISSED, LIMITED = "met the objective", "missed it", "missed it, the generator was the limit"
MARKS = {MET: "circle", MISSED: "diamond", LIMITED: "cross"}

Data = Mapping[str, Sequence[Row]]


def _each(
    names: Sequence[str],
    own: Data,
    shared: Data,
    titles: tuple[str, str],
    keys: Sequence[Key],
    draw: Callable[[Callable[[str], Any], str], Any],
) -> dict[str, Any]:
    """A panel for each contender that has rows in `own`, by `draw`, which gets charts of its data by name, and its
    colour. All have what is `shared`.
    """
    shown = [name for name in names if any(row["contender"] == name for rows in own.values() for row in rows)] or names
    columns = min(len(shown), MOST_COLUMNS)
    width = min(WIDTH, PAGE_WIDTH // columns - 16)
    charts, datasets = [], {part: list(rows) for part, rows in shared.items()}
    for name in shown:
        place = place_of(name, names)
        datasets |= {f"{part}{place}": [row for row in rows if row["contender"] == name] for part, rows in own.items()}
        chart = draw(partial(_chart, shared, place), colour_of(name, names))
        title = alt.TitleParams(text=name, fontSize=13)
        charts.append(chart.properties(width=width, height=PANEL_HEIGHT, title=title))
    spec = themed(alt.concat(*charts, columns=columns, spacing=20, title=heading(*titles)), datasets, keys)
    owners = contender_keys(names, shown, lines=False)
    spec["usermeta"] = {**spec.get("usermeta", {}), "panels": [asdict(owner) for owner in owners]}
    return spec


def _chart(shared: Data, place: int, part: str) -> Any:
    return alt.Chart(rows_of(part if part in shared else f"{part}{place}"))


def _level(scaled: Scaled) -> Scaled:
    scaled.axis.minExtent = MARGIN
    return scaled


@drawn
def shares(
    rows: list[Row],
    names: Sequence[str],
    steps: Sequence[str],
    load_steps: Sequence[LoadStep],
    unit: str,
    titles: tuple[str, str],
) -> dict[str, Any]:
    """Bars of shares on each other. Rows: contender, load step (text), step, share, order."""
    hues = [PARTS[place % len(PARTS)] for place in range(len(steps))]
    hue = alt.Color("step:N", sort=list(steps), scale=alt.Scale(domain=list(steps), range=hues))
    outer = max(0.1, 1.5 - 0.5 * len(load_steps))
    x = by_load_step(load_steps).x(rows, alt.Scale(paddingInner=0.15, paddingOuter=outer))
    y = _level(Shares(unit, whole=True).scaled(rows)).y("share")

    def draw(chart: Callable[[str], Any], _: str) -> Any:
        bars = chart("rows").mark_bar(stroke=LIGHT_PAPER, strokeWidth=0.6)
        return bars.encode(x=x, y=y, color=hue, order=alt.Order("order:Q"))

    keys = [Key(step, hue, "patch") for step, hue in zip(steps, hues, strict=True)]
    return _each(names, {"rows": rows}, {}, titles, keys, draw)


@drawn
def courses(
    rows: list[Row],
    mean: list[Row],
    names: Sequence[str],
    window: tuple[float, float, float],
    unit: str,
    titles: tuple[str, str],
) -> dict[str, Any]:
    """A thin line for each trial and a bold one for their mean. Rows: contender, trial, second, value, and `series`
    where a contender has several. `window`: its begin, its end and the end of the trial, s.
    """
    begin, end, last = window
    across = Counted("seconds since the start", "second", 0, last, step=1).scaled(rows)
    top = round_top(max((row["value"] for row in rows), default=0.0))
    x, y = across.x("second"), _level(Amounts(unit, most=top).scaled(rows)).y("value")
    series = list(dict.fromkeys(row["series"] for row in rows if "series" in row))
    # The legend of Vega would be a second one.
    dash = alt.StrokeDash("series:N", scale=alt.Scale(domain=series, range=list(DASHES[:2])), legend=None)
    ramps = [{"a": a, "b": b} for a, b in ((0.0, begin), (min(end, last), last)) if b > a]
    marks = {"strokeDash": dash} if series else {}

    def draw(chart: Callable[[str], Any], own: str) -> Any:
        shade = chart("ramps").mark_rect(color=ZONE).encode(x=across.x("a"), x2="b:Q")
        thin = chart("rows").mark_line(strokeWidth=0.9, opacity=0.5 if mean else 0.85, color=own)
        layers = [shade, thin.encode(x=x, y=y, detail=["trial:N", "series:N"] if series else ["trial:N"], **marks)]
        bold = chart("mean").mark_line(strokeWidth=2.2, color=own)
        return alt.layer(*layers, *([bold.encode(x=x, y=y, **marks)] if mean else []))

    keys = [Key(one, MUTED, "", tuple(line)) for one, line in zip(series, DASHES, strict=False)]
    titles = (titles[0], f"{titles[1]}; grey: ramps" if ramps else titles[1])
    return _each(names, {"rows": rows, "mean": mean}, {"ramps": ramps}, titles, keys, draw)


@drawn
def probes(
    rows: list[Row],
    names: Sequence[str],
    across: Values,
    down: Values,
    titles: tuple[str, str],
    bounds: Sequence[Row] = (),
    limit: float | None = None,
) -> dict[str, Any]:
    """What became of each probe. Rows: contender, verdict (MET, MISSED, LIMITED), what the axes ask for. `bounds` are
    steps, with a `side` (`met`, `missed`) and a block; `limit` is a dashed line.
    """
    limits = [] if limit is None else [{down.field: limit}]
    x, y = across.scaled(rows).x(across.field), _level(down.scaled([*rows, *limits])).y(down.field)
    dash = alt.StrokeDash("side:N", scale=alt.Scale(domain=["met", "missed"], range=list(DASHES[:2])), legend=None)
    shape = alt.Shape("verdict:N", scale=alt.Scale(domain=list(MARKS), range=list(MARKS.values())))

    def draw(chart: Callable[[str], Any], own: str) -> Any:
        rule = chart("limit").mark_rule(color=MUTED, strokeDash=[6, 3], strokeWidth=1.4)
        steps = chart("bounds").mark_line(interpolate="step-after", strokeWidth=1.1, opacity=0.6, color=MUTED)
        points = chart("probes").mark_point(size=38, color=own, opacity=0.9, strokeWidth=1.3)
        fill = alt.condition(f"datum.verdict == '{MET}'", alt.value(own), alt.value("transparent"))
        return alt.layer(
            *([rule.encode(y=y)] if limits else []),
            *([steps.encode(x=x, y=y, detail=["block:N", "side:N"], strokeDash=dash)] if bounds else []),
            points.encode(x=x, y=y, shape=shape, fill=fill),
        )

    seen = {row["verdict"] for row in rows}
    keys = [Key(name, MUTED, mark, None, name == MET) for name, mark in MARKS.items() if name in seen]
    return _each(names, {"probes": rows, "bounds": bounds}, {"limit": limits}, titles, keys, draw)
