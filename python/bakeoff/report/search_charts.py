"""Charts of searches for capacities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts import WIDTH, Row, heading, plain_or_thousands, rows_of, themed
from bakeoff.report.drawing import drawn, later
from bakeoff.report.palette import DASHES, MUTED

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

# What became of a probe, with a colour and a marker each: none of a contender's.
MET, MISSED, LIMITED = "met the objective", "missed it", "missed it, the generator was the limit"
VERDICTS = (MET, MISSED, LIMITED)
COLOURS = ("#009E73", "#D55E00", "#8a8f98")
MARKERS = ("circle", "cross", "diamond")


def _channels(shown: Sequence[str]) -> tuple[alt.Color, alt.Shape]:
    places = [VERDICTS.index(name) for name in VERDICTS if name in shown]
    domain = [VERDICTS[place] for place in places]
    return (
        alt.Color("verdict:N", scale=alt.Scale(domain=domain, range=[COLOURS[place] for place in places])),
        alt.Shape("verdict:N", scale=alt.Scale(domain=domain, range=[MARKERS[place] for place in places])),
    )


@drawn
def probes_over_time(
    probes: list[Row], bounds: list[Row], names: Sequence[str], axis: str, title: str, subtitle: str
) -> dict[str, Any]:
    """Each search from its first probe to its last, one panel for each contender. Rows of `probes`: contender, block,
    probe (its number), load, verdict; of `bounds`: contender, side (`met`, `missed`), block, probe, load.
    """
    colour, shape = _channels([row["verdict"] for row in probes])
    loads = [row["load"] for row in probes] or [1.0, 10.0]
    scale = alt.Scale(type="log", domain=[min(loads) * 0.8, max(loads) * 1.25], nice=False)
    last = max((row["probe"] for row in probes), default=1)
    panels, datasets = [], dict[str, list[Row]]()
    for index, name in enumerate(names):
        datasets[f"probes{index}"] = [row for row in probes if row["contender"] == name]
        datasets[f"bounds{index}"] = [row for row in bounds if row["contender"] == name]
        y = alt.Y(
            "load:Q",
            scale=scale,
            axis=alt.Axis(title=axis if index == 0 else None, format=plain_or_thousands(max(loads))),
        )
        x = alt.X(
            "probe:Q",
            axis=alt.Axis(title="Probes since the search began", tickMinStep=1),
            scale=alt.Scale(domain=[0.5, last + 0.5], nice=False),
        )
        lines = alt.Chart(rows_of(f"bounds{index}")).mark_line(
            interpolate="step-after", strokeWidth=1.1, opacity=0.55, color=MUTED
        )
        points = alt.Chart(rows_of(f"probes{index}")).mark_point(size=34, filled=True, opacity=0.85)
        dash = alt.StrokeDash("side:N", scale=alt.Scale(domain=["met", "missed"], range=list(DASHES[:2])), legend=None)
        panel = alt.layer(
            lines.encode(x=x, y=y, detail=["block:N", "side:N"], strokeDash=dash),
            points.encode(x=x, y=y, color=colour, shape=shape),
        )
        width = (2 * WIDTH - 60) / len(names) - 20
        titled = alt.TitleParams(text=name, fontSize=12, anchor="middle", offset=4)
        panels.append(panel.properties(width=width, height=260, title=titled))
    return themed(alt.hconcat(*panels, spacing=20, title=heading(title, subtitle)), datasets)


@drawn
def loads_judged(
    probes: list[Row], limit: float, names: Sequence[str], axis: str, unit: str, title: str, subtitle: str
) -> dict[str, Any]:
    """What one term came to at each load that was probed, with its limit. Rows: contender, load, value, verdict."""
    colour, shape = _channels([row["verdict"] for row in probes])
    loads = [row["load"] for row in probes] or [1.0, 10.0]
    values = [row["value"] for row in probes if row["value"]] or [limit]
    x_scale = alt.Scale(type="log", domain=[min(loads) * 0.8, max(loads) * 1.25], nice=False)
    y_scale = alt.Scale(type="log", domain=[min(*values, limit) * 0.7, max(*values, limit) * 1.4], nice=False)
    y = alt.Y("value:Q", scale=y_scale, axis=alt.Axis(title=unit, format="~g"))
    panels, datasets = [], dict[str, list[Row]]()
    for index, name in enumerate(names):
        datasets[f"rows{index}"] = [row for row in probes if row["contender"] == name and row["value"]]
        x = alt.X("load:Q", scale=x_scale, axis=alt.Axis(title=axis, format=plain_or_thousands(max(loads))))
        points = alt.Chart(rows_of(f"rows{index}")).mark_point(size=34, filled=True, opacity=0.75)
        rule = alt.Chart(rows_of("limit")).mark_rule(color=MUTED, strokeDash=[6, 3], strokeWidth=1.4)
        panel = alt.layer(rule.encode(y=y), points.encode(x=x, y=y, color=colour, shape=shape))
        width = (2 * WIDTH - 60) / len(names) - 20
        titled = alt.TitleParams(text=name, fontSize=12, anchor="middle", offset=4)
        panels.append(panel.properties(width=width, height=220, title=titled))
    datasets["limit"] = [{"value": limit}]
    return themed(alt.hconcat(*panels, spacing=20, title=heading(title, subtitle)), datasets)
