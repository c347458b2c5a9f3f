"""Charts of searches for capacities, one panel for each contender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts.axes import log_axis, log_range
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import DASHES, MUTED, place_of
from bakeoff.report.charts.theme import Key, Row, colour_of, contender_keys, heading, panels, rows_of

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

# What became of a probe, with a mark each in the contender's colour: filled, hollow, and a cross.
MET, MISSED, LIMITED = "met the objective", "missed it", "missed it, the generator was the limit"
MARKS = {MET: "circle", MISSED: "diamond", LIMITED: "cross"}
MARGIN = 46


def _points(data: str, place: int, x: Any, y: Any) -> Any:
    colour = colour_of(place)
    shape = alt.Shape("verdict:N", scale=alt.Scale(domain=list(MARKS), range=list(MARKS.values())))
    points = alt.Chart(rows_of(data)).mark_point(size=38, color=colour, opacity=0.9, strokeWidth=1.3)
    fill = alt.condition(f"datum.verdict == '{MET}'", alt.value(colour), alt.value("transparent"))
    return points.encode(x=x, y=y, shape=shape, fill=fill)


def _verdicts(rows: Sequence[Row]) -> list[Key]:
    shown = {row["verdict"] for row in rows}
    return [Key(name, MUTED, mark, None, name == MET) for name, mark in MARKS.items() if name in shown]


@drawn
def probes_over_time(
    probes: list[Row], bounds: list[Row], names: Sequence[str], unit: str, title: str, subtitle: str
) -> dict[str, Any]:
    """Each search from its first probe to its last. Rows of `probes`: contender, block, probe (its number), load,
    verdict; of `bounds`: contender, side (`met`, `missed`), block, probe, load.
    """
    loads = [row["load"] for row in probes]
    axis = log_axis(unit, loads)
    axis.minExtent = MARGIN
    y = alt.Y("load:Q", scale=log_range(loads), axis=axis)
    last = max((row["probe"] for row in probes), default=1)
    x = alt.X(
        "probe:Q",
        axis=alt.Axis(title="probes since the search began", tickMinStep=1),
        scale=alt.Scale(domain=[0.5, last + 0.5], nice=False),
    )
    dash = alt.StrokeDash("side:N", scale=alt.Scale(domain=["met", "missed"], range=list(DASHES[:2])), legend=None)
    charts, datasets = [], dict[str, list[Row]]()
    for name in names:
        place = place_of(name, names)
        datasets[f"probes{place}"] = [row for row in probes if row["contender"] == name]
        datasets[f"bounds{place}"] = [row for row in bounds if row["contender"] == name]
        lines = alt.Chart(rows_of(f"bounds{place}")).mark_line(
            interpolate="step-after", strokeWidth=1.1, opacity=0.6, color=MUTED
        )
        charts.append(
            alt.layer(
                lines.encode(x=x, y=y, detail=["block:N", "side:N"], strokeDash=dash),
                _points(f"probes{place}", place, x, y),
            )
        )
    subtitle += "; lines: highest load that met the objective so far, dashed: lowest that did not"
    keys = _verdicts(probes)
    return panels(charts, contender_keys(names, lines=False), datasets, heading(title, subtitle), keys)


@drawn
def loads_judged(
    probes: list[Row], limit: float, term: str, names: Sequence[str], axis: str, unit: str, title: str, subtitle: str
) -> dict[str, Any]:
    """What one term came to at each load that was probed, with its limit. Rows: contender, load, value, verdict."""
    loads = [row["load"] for row in probes]
    values = [row["value"] for row in probes if row["value"]]
    down = log_axis(unit, [*values, limit])
    down.minExtent = MARGIN
    y = alt.Y("value:Q", scale=log_range([*values, limit]), axis=down)
    across = log_axis(axis, loads)
    x = alt.X("load:Q", scale=log_range(loads), axis=across)
    charts, datasets = [], {"limit": [{"value": limit}]}
    for name in names:
        place = place_of(name, names)
        datasets[f"rows{place}"] = [row for row in probes if row["contender"] == name and row["value"]]
        rule = alt.Chart(rows_of("limit")).mark_rule(color=MUTED, strokeDash=[6, 3], strokeWidth=1.4)
        charts.append(alt.layer(rule.encode(y=y), _points(f"rows{place}", place, x, y)))
    keys = _verdicts(probes)
    subtitle += f"; dashed: {term}"
    return panels(charts, contender_keys(names, lines=False), datasets, heading(title, subtitle), keys)
