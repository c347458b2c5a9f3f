"""What all charts share: size, typeface, inks, and the legend, which the page writes beside the drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from bakeoff.report.charts.drawing import later
from bakeoff.report.charts.palette import DASHES, DOMAIN, GRID, INK, LIGHT_PAPER, MUTED, SHAPES, colour_of, place_of

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

# A chart takes half of the page. Panels, one for each contender, share the whole of it.
WIDTH, HEIGHT = 500, 290
PAGE_WIDTH = 1060
# All of a drawing, its axes too, is inside its width and height; a panel is drawn as a chart of its own.
FIT: dict[str, Any] = {"type": "fit", "contains": "padding"}
FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
# How wide a letter of 12 pixels is on the average, in a wide typeface.
LETTER = 7

Row = dict[str, Any]
# Drawings whose texts would be too small if they were narrower; with few columns one fits a telephone.
Fixed = Literal["wide", "few"]


@dataclass(frozen=True)
class Key:
    """One entry of a legend: a mark, with a line through it where `dash` is not None; a `patch` of colour is a shape,
    too.
    """

    label: str
    colour: str
    shape: str = ""
    dash: tuple[int, ...] | None = None
    filled: bool = True


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


def heading(title: str, subtitle: str) -> alt.TitleParams:
    """Title with a line in smaller type under it."""
    return alt.TitleParams(text=title, subtitle=subtitle)


def finish(chart: Any, datasets: dict[str, list[Row]], keys: Sequence[Key], height: int = HEIGHT) -> dict[str, Any]:
    """Size, data, legend and theme of a single or layered chart, as a plain specification."""
    return themed(chart.properties(width=WIDTH, height=height, autosize=FIT), datasets, keys)


def themed(
    chart: Any, datasets: dict[str, list[Row]], keys: Sequence[Key] = (), fixed: Fixed | None = None
) -> dict[str, Any]:
    """The specification of `chart` with its data, its legend and the theme of all charts."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec["datasets"] = datasets
    spec["config"] = CONFIG
    if keys:
        spec["usermeta"] = {"legend": [asdict(key) for key in keys]}
    if fixed is not None:
        spec["usermeta"] = {"fixed": fixed}
    return spec


def legend_of(spec: dict[str, Any]) -> list[Key]:
    """The legend that `themed` put into a specification."""
    return _keys_of(spec, "legend")


def owners_of(spec: dict[str, Any]) -> list[Key]:
    """Whose the panels of a specification are."""
    return _keys_of(spec, "panels")


def fixed_of(spec: dict[str, Any]) -> Fixed | None:
    """Whether a drawing cannot be narrower; None for one that can."""
    found: Fixed | None = spec.get("usermeta", {}).get("fixed")
    return found


def _keys_of(spec: dict[str, Any], name: str) -> list[Key]:
    return [Key(**key) for key in spec.get("usermeta", {}).get(name, ())]


def contender_keys(names: Sequence[str], shown: Sequence[str] | None = None, lines: bool = True) -> list[Key]:
    """An entry for each contender that is `shown` (default: all `names`), with its own colour, mark and dash."""
    return [
        Key(
            name,
            colour_of(name, names),
            SHAPES[place % len(SHAPES)],
            tuple(DASHES[place % len(DASHES)]) if lines else None,
        )
        for name, place in ((name, place_of(name, names)) for name in names)
        if shown is None or name in shown
    ]


def contender_channels(
    names: Sequence[str], shown: Sequence[str] | None = None
) -> tuple[alt.Color, alt.Shape, alt.StrokeDash]:
    """Colour, mark and dash by contender; legends by Vega leave out the dash, which would deform their marks."""
    domain = [name for name in names if shown is None or name in shown]
    index = [place_of(name, names) % len(SHAPES) for name in domain]
    hue = alt.Color("contender:N", scale=alt.Scale(domain=domain, range=[colour_of(name, names) for name in domain]))
    shape = alt.Shape("contender:N", scale=alt.Scale(domain=domain, range=[SHAPES[i] for i in index]))
    dashes = alt.Scale(domain=domain, range=[DASHES[i] for i in index])
    return hue, shape, alt.StrokeDash("contender:N", scale=dashes, legend=None)


def filled(ink: Any) -> alt.FillValue:
    """The fill of marks: hollow where trials are left out, and where nothing is shown."""
    whole = "datum.whole !== false && datum.shown !== false"
    return alt.FillValue(**alt.condition(whole, ink, alt.value(LIGHT_PAPER)))


CONFIG: dict[str, Any] = {
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
        "subtitleFontSize": 12,
        "subtitleColor": MUTED,
        "subtitlePadding": 4,
    },
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "gridColor": GRID,
        "domainColor": DOMAIN,
        "tickColor": DOMAIN,
        "tickSize": 4,
    },
    "axisX": {"grid": False},
    "axisY": {
        "domain": False,
        "ticks": False,
        "tickCount": 5,
        # The unit stands above the numbers, where no width of theirs can reach it.
        "titleAngle": 0,
        "titleAnchor": "end",
        "titleAlign": "left",
        "titleBaseline": "bottom",
        "titleX": -30,
        "titleY": -9,
    },
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
        "labelLimit": 0,
        "columns": 4,
    },
    "header": {"labelColor": INK, "labelFontSize": 12, "labelFontWeight": "bold"},
}
