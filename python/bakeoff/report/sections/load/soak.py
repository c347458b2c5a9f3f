"""Soaks: what each hour came to, and how it moved."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from bakeoff.compare.limits.soak import ContenderSoak, FigureName, Soak, SoakInterval, SoakTrend
from bakeoff.core.units import format_duration, format_size
from bakeoff.report.blocks.tree import Block, Chart, Column, Section, Severity, Table, Text
from bakeoff.report.charts.axes import Amounts, Elapsed
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.theme import known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording

# More intervals than these are shown by the first and the last.
MOST_ROWS = 48
MOST_POINTS = 1000
# Void intervals named before the rest are only counted.
MOST_NAMED = 8
# Growth above this many percent is told as more than that: its end is not known.
MOST_REPORTED = 100_000
TITLES: dict[FigureName, str] = {
    "rate": "rate",
    "p50": "median response time",
    "p99": "p99 response time",
    "memory": "memory of the generator",
}
NOTE = (
    "A soak is one trial at constant load. Trends are straight lines through the logarithms of its whole intervals, "
    "with a 95 % interval that counts correlated intervals as fewer; each speaks for itself. Contenders are loaded "
    "one after the other: one soak each is one block, which gives figures and trends and no verdict between them."
)


@report_section("soak", detail=Detail.SUMMARY)
def section(context: Context) -> Section | None:
    """For each contender sentences and a table of its intervals, then charts of all."""
    soak = context.comparison.soak
    if soak is None:
        return None
    blocks: list[Block] = [Text(NOTE, explains=True)]
    several = len({one.block for one in soak.contenders}) > 1
    for one in soak.contenders:
        title = f"{one.contender}, block {one.block}" if several else one.contender
        blocks += _sentences(one, title)
        blocks.append(_table(one, title))
    return Section(
        "Hour by hour" if soak.interval_s == 3600 else "Interval by interval", (*blocks, *_charts(soak, context.names))
    )


def _sentences(one: ContenderSoak, title: str) -> list[Text]:
    whole = one.measured_s >= one.planned_s - 0.5
    of_plan = "" if whole else f" of {_length(one.planned_s)}"
    segments = "" if one.segments == 1 else f" in {wording.plural(one.segments, 'segment', 'segments')}"
    errors = sum(one.errors.values())
    text = (
        f"{title}: {_length(one.measured_s)}{of_plan} under {one.load_step.words}{segments}, {one.operations:,} "
        f"operations, {errors:,} errors."
    )
    texts = [Text(text, "plain" if whole else "warning", detail=Detail.SUMMARY)]
    if one.stopped_by is not None:
        texts.append(Text(f"{title}: {one.reason}.", "bad", detail=Detail.SUMMARY))
    if void := [interval for interval in one.intervals if interval.void]:
        numbers = wording.names([f"{interval.number + 1}" for interval in void[:MOST_NAMED]])
        more = f" and {len(void) - MOST_NAMED} more" if len(void) > MOST_NAMED else ""
        text = (
            f"{title}: {wording.plural(len(void), 'interval')} of {len(one.intervals):,} void, as the load generator "
            f"did not run in them, or ran out of ports or open files (intervals {numbers}{more}); the others count."
        )
        texts.append(Text(text, "warning", detail=Detail.SUMMARY))
    for gap in one.gaps:
        missing = f"{title}: {_length(gap.length_s)} are missing after interval {gap.after + 1}."
        texts.append(Text(missing, "warning", detail=Detail.SUMMARY))
    if one.segments > 1:
        last = "Other tables and charts show its last segment alone."
        texts.append(Text(last, "warning", detail=Detail.SUMMARY))
    return [*texts, *(_trend(trend, one, title) for trend in one.trends if trend.intervals)]


def _trend(trend: SoakTrend, one: ContenderSoak, title: str) -> Text:
    """`nginx: p99 response time grew by 3 % over 28h (2 to 4)`."""
    what = TITLES[trend.figure]
    ends = f"first interval {_figure(trend.figure, trend.first)}, last {_figure(trend.figure, trend.last)}"
    if math.isnan(trend.change):
        text = f"{title}: {what}: {wording.plural(trend.intervals, 'whole interval')}, too few for a trend; {ends}."
        return Text(text, detail=Detail.SUMMARY)
    over = f"over {_length(one.measured_s)}"
    if trend.is_open:
        text = (
            f"{title}: {what}: {wording.plural(trend.intervals, 'whole interval')} {over}, too few for a trend; {ends}."
        )
        return Text(text, detail=Detail.SUMMARY)
    if not trend.moves:
        span = f"{_percent(trend.low)} to {_percent(trend.high)} %"
        return Text(f"{title}: {what}: no trend seen {over} ({span}); {ends}.", detail=Detail.SUMMARY)
    grew = trend.change > 0
    bounds = sorted((abs(trend.low), abs(trend.high)))
    span = f"{_percent(bounds[0])} to {_percent(bounds[1])}"
    text = f"{title}: {what} {'grew' if grew else 'fell'} by {_percent(abs(trend.change))} % {over} ({span}); {ends}."
    return Text(text, _severity(trend), detail=Detail.SUMMARY)


def _severity(trend: SoakTrend) -> Severity:
    """A rate that falls and times that grow are for the worse."""
    worse = (trend.change < 0) == (trend.figure == "rate")
    return "warning" if worse else "plain"


def _table(one: ContenderSoak, title: str) -> Table:
    columns = (
        Column("Interval"),
        Column("Began (UTC)", numeric=False, spare=4),
        Column("Length"),
        Column("operations", spare=6),
        Column("operations/s"),
        Column("p50, ms"),
        Column("p99, ms"),
        Column("max, ms"),
        Column("errors"),
        Column("by class", numeric=False, spare=3),
        Column("CPU"),
        Column("stolen", spare=5),
        Column("memory"),
    )
    shown, note = (
        one.intervals,
        "Times are response times; CPU (of the busiest load thread) and memory are the generator's.",
    )
    if len(shown) > MOST_ROWS:
        half = MOST_ROWS // 2
        shown = (*one.intervals[:half], *one.intervals[-half:])
        note += f" The first and last {half} of {len(one.intervals):,} intervals; `bakeoff compare --json` has all."
    return Table(f"Intervals of {title}", columns, tuple(map(_cells, shown)), note, detail=Detail.SUMMARY)


def _cells(interval: SoakInterval) -> tuple[str, ...]:
    return (
        f"{interval.number + 1}" + (" void" if interval.void else ""),
        interval.started_at.replace("T", " ")[5:19],
        _length(interval.length_s),
        f"{interval.operations:,}",
        wording.rate(interval.operations_per_s),
        wording.figures(interval.p50_ms, 3),
        wording.figures(interval.p99_ms, 3),
        wording.figures(interval.max_ms, 3),
        f"{sum(interval.errors.values()):,}",
        ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in interval.errors.items()) or wording.MISSING,
        wording.percent(interval.cpu_share),
        wording.MISSING if interval.stolen_share is None else wording.percent(interval.stolen_share),
        format_size(interval.rss_bytes),
    )


# What is drawn: an id, a title and how an interval has it.
DRAWN: tuple[tuple[str, str, str, Callable[[SoakInterval], float]], ...] = (
    ("rate", "Operations over time", "operations/s", lambda interval: interval.operations_per_s),
    ("p99", "p99 of each interval over time", "ms", lambda interval: interval.p99_ms),
    ("p50", "Median of each interval over time", "ms", lambda interval: interval.p50_ms),
    ("errors", "Failed operations over time", "%", lambda interval: 100.0 * interval.error_share),
    ("memory", "Memory of the generator over time", "MB", lambda interval: interval.rss_bytes / 1e6),
)
UNITS = ((3600.0, "Hours"), (60.0, "Minutes"), (1.0, "Seconds"))


def _charts(soak: Soak, names: Sequence[str]) -> list[Chart]:
    longest_s = max(one.measured_s for one in soak.contenders)
    scale_s, unit = next((pair for pair in UNITS if longest_s >= 2 * pair[0]), UNITS[-1])
    gaps = [
        {
            "contender": one.contender,
            "at": known((one.intervals[gap.after].at_s + one.intervals[gap.after].length_s) / scale_s),
        }
        for one in soak.contenders
        for gap in one.gaps
    ]
    subtitle = "a point for each interval" + ("; a vertical line where time is missing" if gaps else "")
    charts = []
    for place, title, of, value in DRAWN:
        intervals = [interval for one in soak.contenders for interval in _points(one, value, scale_s)]
        across, guides = Elapsed(f"{unit.lower()} under load"), {"gaps": gaps} if gaps else {}
        drawing = lines(intervals, names, across, Amounts(of), (title, subtitle), guides=guides)
        text = f"{title}, a line for each contender; time that is missing is not counted."
        table = _ends(soak, f"{title}, {of}", value)
        charts.append(Chart(f"chart-soak-{place}", title, text, drawing, table))
    return charts


def _points(one: ContenderSoak, value: Callable[[SoakInterval], float], scale_s: float) -> list[dict[str, Any]]:
    step = max(1, math.ceil(len(one.intervals) / MOST_POINTS))
    return [
        {
            "contender": one.contender,
            "segment": f"{one.block}/{interval.segment}",
            "at": known((interval.at_s + interval.length_s / 2) / scale_s),
            "value": known(value(interval)),
        }
        for interval in one.intervals[::step]
    ]


def _ends(soak: Soak, title: str, value: Callable[[SoakInterval], float]) -> Table:
    columns = tuple(Column(name) for name in ("Contender", "first interval", "last interval", "lowest", "highest"))
    rows = []
    for one in soak.contenders:
        values = [value(interval) for interval in one.intervals]
        there = [figure for figure in values if math.isfinite(figure)] or [math.nan]
        rows.append((one.contender, *map(wording.figures, (values[0], values[-1], min(there), max(there)))))
    return Table(title, columns, tuple(rows))


def _length(seconds: float) -> str:
    return format_duration(float(round(seconds)) if seconds >= 60 else round(seconds, 1))


def _figure(name: FigureName, value: float) -> str:
    if name == "memory":
        return format_size(value)
    return f"{wording.rate(value)}/s" if name == "rate" else f"{wording.figures(value, 3)} ms"


def _percent(share: float) -> str:
    """Two figures, and nothing that is below a thousandth of a percent."""
    value = 100.0 * share
    if abs(value) < 0.001:
        return "0"
    return f"over {MOST_REPORTED:,}" if value > MOST_REPORTED else wording.figures(value, 2)
