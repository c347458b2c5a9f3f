"""The section on connections: how many each client opens, and how long connecting and receiving took.

Who opened none in any window kept those of before: that is a sentence, and no table of zeros.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from bakeoff.kinds.web.connections import ConnectionsAtLoadStep, WebSummary
from bakeoff.report.blocks.tree import Block, Chart, Column, Section, Table, Text
from bakeoff.report.charts.axes import Amounts, Loads
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.palette import Placed
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.sections.load.curves import whole

TITLE = "Connections per second and client"
TITLES = (
    "per second", "per second and client", "95 % interval", "requests each", "connect ms", "receive ms", "failed",
)  # fmt: skip
NOTE = (
    "Connections that were opened in the window for requests which ended well, as counted: what stays open over "
    "requests is counted once, when it is opened, and not at all where that was before the window. Connect: until the "
    "server's system had taken the connection. Receive: from the first to the last byte of a reply, for each request. "
    "Failed: connections that were not had, in whole trials with their ramps."
)
ONLY_SOME = " Where there is no line, none was opened and none failed."


@report_section("connections", detail=Detail.COMPARISON, after="steps")
def section(context: Context) -> Section | None:
    """Of those who opened any a curve over the load steps, where loads have clients, and the table; of others a
    sentence.
    """
    own = context.comparison.own
    if not isinstance(own, WebSummary) or not own.connections:
        return None
    connecting = [one for one in own.connections if one.opened or one.failed]
    opened = dict.fromkeys(one.contender for one in connecting if one.opened)
    unopened = [name for name in dict.fromkeys(one.contender for one in own.connections) if name not in opened]
    blocks: list[Block] = [Text(_keep_alive_words(context, unopened), detail=Detail.COMPARISON)] if unopened else []
    if unopened and opened:
        blocks.append(Text(_closed(own, list(opened)), detail=Detail.COMPARISON))
    if drawn := _with_a_course(context, own):
        blocks.append(_chart(context, own, drawn))
    if connecting:
        blocks.append(_table(context, connecting, ONLY_SOME if len(connecting) < len(own.connections) else ""))
    return Section("Connections", tuple(blocks))


def _keep_alive_words(context: Context, names: list[str]) -> str:
    """How many connections the trials of those had who opened none within a window."""
    counts = {
        name: [t.connections["opened"] for t in context.usable if t.contender == name and "opened" in t.connections]
        for name in names
    }
    spans = {
        name: f"{min(of):,}" + (f" to {max(of):,}" if min(of) < max(of) else "") for name, of in counts.items() if of
    }
    is_common = len(set(spans.values())) == 1
    kept_spans = dict.fromkeys(span if is_common else f"{span} of {name}" for name, span in spans.items())
    many = f" ({', '.join(kept_spans)} in each trial)" if kept_spans else ""
    return (
        f"No trial of {wording.names(names)} opened a connection within its window: clients reused earlier "
        f"connections{many}."
    )


def _closed(own: WebSummary, names: list[str]) -> str:
    """Who opened connections where others kept theirs, and how often."""
    parts = []
    for name in names:
        each = [one.requests_each for one in own.connections if one.contender == name and one.opened]
        parts.append(f"{name} one for every {wording.figures(min(each))} requests")
    return (
        f"Connections of {wording.names(names)} ended within the windows, and clients opened new ones "
        f"({'; '.join(parts)}). Connecting is in these figures and not in the others'."
    )


def _with_a_course(context: Context, own: WebSummary) -> Placed:
    """Whose connections are a course over the load steps: who opened some at a single one of several has no curve."""
    counts = Counter(one.contender for one in own.connections if one.per_client_s > 0.0)
    least = min(2, len(context.comparison.run.load_steps))
    return context.names.only(name for name in context.names if counts[name] >= least)


def _chart(context: Context, own: WebSummary, names: Placed) -> Chart:
    found = {(one.contender, one.load_step): one for one in own.connections}
    load_steps = context.comparison.run.load_steps
    rows: list[Row] = [
        {
            "contender": name,
            "load_step": load_step.x,
            "value": None if one is None else known(one.per_client_s),
            "low": None if one is None else known(one.per_client_low),
            "high": None if one is None else known(one.per_client_high),
            "whole": whole(context, name, load_step),
        }
        for name in names
        for load_step in load_steps
        for one in (found.get((name, load_step)),)
    ]
    bars = any(row["high"] is not None for row in rows)
    subtitle = f"mean over blocks, {'bars: 95 % interval' if bars else 'no interval from so few blocks'}"
    down = Amounts("connections/s for each client", far=True)
    spec = lines(rows, names, Loads(load_steps), down, (TITLE, subtitle))
    columns = (Column(context.load_step_title), *(Column(name) for name in names))
    cells = tuple(
        (
            f"{load_step}",
            *(
                _figure(one.per_client_s) if (one := found.get((name, load_step))) else wording.MISSING
                for name in names
            ),
        )
        for load_step in load_steps
    )
    description = f"{TITLE} of {', '.join(names)} at each number of {context.load_step_axis}."
    return Chart("chart-connections", TITLE, description, spec, Table(TITLE, columns, cells))


def _table(context: Context, connecting: Sequence[ConnectionsAtLoadStep], note: str) -> Table:
    columns = (
        Column(context.load_step_title),
        Column("Contender", numeric=False),
        *(Column(title) for title in TITLES),
    )
    rows = tuple(
        (f"{one.load_step}", one.contender, *_cells(one))
        for load_step in context.comparison.run.load_steps
        for one in connecting
        if one.load_step == load_step
    )
    return Table("Connections opened in the window", columns, rows, NOTE + note, detail=Detail.DETAILS)


def _cells(one: ConnectionsAtLoadStep) -> tuple[str, ...]:
    interval = wording.span(one.per_client_low, one.per_client_high)
    return (
        _figure(one.per_s),
        _figure(one.per_client_s),
        interval if math.isfinite(one.per_client_low) else wording.MISSING,
        _figure(one.requests_each),
        _figure(one.connect_ms),
        _figure(one.receive_ms),
        f"{one.failed:,}",
    )


def _figure(value: float) -> str:
    return wording.figures(value) if math.isfinite(value) else wording.MISSING
