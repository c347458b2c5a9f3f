"""Times of single operations against the size of what they moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.report.charts.axes import log_axis, log_range
from bakeoff.report.charts.drawing import drawn, later
from bakeoff.report.charts.theme import Row, contender_channels, contender_keys, finish, heading, rows_of

if TYPE_CHECKING:
    import altair as alt
else:
    alt = later("altair")

# Sizes with a label, at most.
MOST_LABELS = 9


@drawn
def times_over_size(
    rows: list[Row],
    names: Sequence[str],
    label: Callable[[float], str],
    across: str,
    titles: tuple[str, str],
) -> dict[str, Any]:
    """Rows: contender, size in KiB, time (`p99`, drawn bold, or `p50`, drawn thin), value in ms. `label` writes a size,
    `across` names the axis.
    """
    colour, shape, dash = contender_channels(names)
    sizes = sorted({row["size"] for row in rows})
    shown = sizes[:: 1 + (len(sizes) - 1) // MOST_LABELS]
    words = " : ".join(f"datum.value == {kib:g} ? '{label(kib)}'" for kib in shown)
    axis = alt.Axis(title=across, values=shown, labelExpr=f"{words} : ''")
    ends = [sizes[0] / 1.15, sizes[-1] * 1.15]
    x = alt.X("size:Q", axis=axis, scale=alt.Scale(type="log", base=2, domain=ends, nice=False))
    values = [row["value"] for row in rows]
    y = alt.Y("value:Q", axis=log_axis("ms", values), scale=log_range(values))
    base = alt.Chart(rows_of("rows")).encode(x=x, y=y, color=colour)
    p99, p50 = (base.transform_filter(f"datum.time == '{time}'") for time in ("p99", "p50"))
    layers = [
        p99.mark_line(strokeWidth=2).encode(strokeDash=dash),
        p50.mark_line(strokeWidth=1, opacity=0.6).encode(strokeDash=dash),
        p99.mark_point(size=46, filled=True, opacity=1).encode(shape=shape),
        p50.mark_point(size=14, filled=True, opacity=1).encode(shape=shape),
    ]
    return finish(alt.layer(*layers, title=heading(*titles)), {"rows": rows}, contender_keys(names))
