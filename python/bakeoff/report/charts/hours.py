"""Charts of a soak: figures of rows over the time under load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts.axes import amount_axis, amount_scale
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.palette import MUTED
from bakeoff.report.charts.theme import Row, contender_channels, contender_keys, finish, heading, rows_of

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")


@drawn
def over_hours(
    rows: list[Row], gaps: list[Row], names: Sequence[str], axis: str, unit: str, title: str, subtitle: str
) -> dict[str, Any]:
    """A line for each contender and stretch. Rows: contender, stretch, at, value (null where unknown); gaps: contender,
    at.
    """
    colour, shape, dash = contender_channels(names)
    end = max((row["at"] or 0.0 for row in rows), default=1.0) * 1.02
    x = alt.X("at:Q", axis=alt.Axis(title=axis), scale=alt.Scale(domain=[0, end or 1], nice=False))
    top = max((row["value"] or 0.0 for row in rows), default=0.0)
    y = alt.Y("value:Q", axis=amount_axis(unit, top), scale=amount_scale(top))
    base = alt.Chart(rows_of("rows"))
    layers = [base.mark_line(strokeWidth=1.8).encode(x=x, y=y, color=colour, strokeDash=dash, detail="stretch:N")]
    if len(rows) <= 200:
        layers.append(base.mark_point(size=26, filled=True, opacity=1).encode(x=x, y=y, color=colour, shape=shape))
    if gaps:
        layers.append(alt.Chart(rows_of("gaps")).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x=x))
    datasets = {"rows": rows, "gaps": gaps} if gaps else {"rows": rows}
    keys = contender_keys(names)
    return finish(alt.layer(*layers, title=heading(title, subtitle)), datasets, keys)
