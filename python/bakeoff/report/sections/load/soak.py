"""Soaks: what each hour came to, and how it moved."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from bakeoff.compare.limits.soak import ContenderSoak, FigureName, Soak, SoakRow, SoakTrend
from bakeoff.core.units import format_duration, format_size
from bakeoff.report.blocks.tree import Block, Chart, Column, Section, Severity, Table, Text
from bakeoff.report.charts.axes import Amounts, Elapsed
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording

# More rows than these are shown by the first and the last.
MOST_ROWS = 48
MOST_POINTS = 1000
# Void rows named before the rest are only counted.
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
    "A soak is one trial at constant load. Trends are straight lines through the logarithms of its whole rows, with a "
    "95 % interval that counts correlated rows as fewer; each speaks for itself. Contenders are loaded one after the "
    "other: one soak each is one block, which gives figures and trends and no verdict between them."
)


@report_section("soak", detail=Detail.SUMMARY)
def section(context: Context) -> Section | None:
    """For each contender sentences and a table of its rows, then charts of all."""
    soak = context.comparison.soak
    if soak is None:
        return None
    blocks: list[Block] = [Text(NOTE)]
    several = len({one.block for one in soak.contenders}) > 1
    for one in soak.contenders:
        title = f"{one.contender}, block {one.block}" if several else one.contender
        blocks += _sentences(one, title)
        blocks.append(_table(one, title))
    return Section("Hour by hour" if soak.row_s == 3600 else "Row by row", (*blocks, *_charts(soak, context.names)))


def _sentences(one: ContenderSoak, title: str) -> list[Text]:
    whole = one.measured_s >= one.planned_s - 0.5
    of_plan = "" if whole else f" of {_length(one.planned_s)}"
    stretches = "" if one.stretches == 1 else f" in {wording.plural(one.stretches, 'stretch', 'stretches')}"
    errors = sum(one.errors.values())
    text = (
        f"{title}: {_length(one.measured_s)}{of_plan} under {one.load_step.words}{stretches}, {one.operations:,} "
        f"operations, {errors:,} errors."
    )
    texts = [Text(text, "plain" if whole else "warning", detail=Detail.SUMMARY)]
    if one.stopped_by is not None:
        texts.append(Text(f"{title}: {one.reason}.", "bad", detail=Detail.SUMMARY))
    if void := [row for row in one.rows if row.void]:
        numbers = wording.names([f"{row.number + 1}" for row in void[:MOST_NAMED]])
        more = f" and {len(void) - MOST_NAMED} more" if len(void) > MOST_NAMED else ""
        text = (
            f"{title}: {wording.plural(len(void), 'row')} of {len(one.rows):,} void, as the load generator did not run "
            f"in them, or ran out of ports or open files (rows {numbers}{more}); the others count."
        )
        texts.append(Text(text, "warning", detail=Detail.SUMMARY))
    for gap in one.gaps:
        missing = f"{title}: {_length(gap.length_s)} are missing after row {gap.after + 1}."
        texts.append(Text(missing, "warning", detail=Detail.SUMMARY))
    if one.stretches > 1:
        last = "What other tables and charts tell of it is that of its last stretch alone."
        texts.append(Text(last, "warning", detail=Detail.SUMMARY))
    return [*texts, *(_trend(trend, one, title) for trend in one.trends if trend.rows)]


def _trend(trend: SoakTrend, one: ContenderSoak, title: str) -> Text:
    """`nginx: p99 response time grew by 3 % over 28h (2 to 4)`."""
    what = TITLES[trend.figure]
    ends = f"first row {_figure(trend.figure, trend.first)}, last {_figure(trend.figure, trend.last)}"
    if math.isnan(trend.change):
        text = f"{title}: {what}: {wording.plural(trend.rows, 'whole row')}, too few for a trend; {ends}."
        return Text(text, detail=Detail.SUMMARY)
    over = f"over {_length(one.measured_s)}"
    if trend.is_open:
        text = f"{title}: {what}: {wording.plural(trend.rows, 'whole row')} {over}, too few to see a trend; {ends}."
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
        Column("Row"),
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
    shown, note = one.rows, "Times are response times; CPU (of the busiest load thread) and memory are the generator's."
    if len(shown) > MOST_ROWS:
        half = MOST_ROWS // 2
        shown = (*one.rows[:half], *one.rows[-half:])
        note += f" The first and last {half} of {len(one.rows):,} rows; `bakeoff compare --json` has all."
    return Table(f"Rows of {title}", columns, tuple(map(_cells, shown)), note, detail=Detail.SUMMARY)


def _cells(row: SoakRow) -> tuple[str, ...]:
    return (
        f"{row.number + 1}" + (" void" if row.void else ""),
        row.started_at.replace("T", " ")[5:19],
        _length(row.length_s),
        f"{row.operations:,}",
        wording.rate(row.operations_per_s),
        wording.figures(row.p50_ms, 3),
        wording.figures(row.p99_ms, 3),
        wording.figures(row.max_ms, 3),
        f"{sum(row.errors.values()):,}",
        ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in row.errors.items()) or wording.MISSING,
        wording.percent(row.cpu_share),
        wording.MISSING if row.stolen_share is None else wording.percent(row.stolen_share),
        format_size(row.rss_bytes),
    )


# What is drawn: an id, a title and how a row has it.
DRAWN: tuple[tuple[str, str, str, Callable[[SoakRow], float]], ...] = (
    ("rate", "Operations over time", "operations/s", lambda row: row.operations_per_s),
    ("p99", "p99 of each row over time", "ms", lambda row: row.p99_ms),
    ("p50", "Median of each row over time", "ms", lambda row: row.p50_ms),
    ("errors", "Failed operations over time", "%", lambda row: 100.0 * row.error_share),
    ("memory", "Memory of the generator over time", "MB", lambda row: row.rss_bytes / 1e6),
)
UNITS = ((3600.0, "Hours"), (60.0, "Minutes"), (1.0, "Seconds"))


def _charts(soak: Soak, names: Sequence[str]) -> list[Chart]:
    longest_s = max(one.measured_s for one in soak.contenders)
    scale_s, unit = next((pair for pair in UNITS if longest_s >= 2 * pair[0]), UNITS[-1])
    gaps = [
        {"contender": one.contender, "at": known((one.rows[gap.after].at_s + one.rows[gap.after].length_s) / scale_s)}
        for one in soak.contenders
        for gap in one.gaps
    ]
    subtitle = "a point for each row" + ("; a vertical line where time is missing" if gaps else "")
    charts = []
    for place, title, of, value in DRAWN:
        rows = [row for one in soak.contenders for row in _points(one, value, scale_s)]
        across, guides = Elapsed(f"{unit.lower()} under load"), {"gaps": gaps} if gaps else {}
        drawing = lines(rows, names, across, Amounts(of), (title, subtitle), guides=guides)
        text = f"{title}, a line for each contender; time that is missing is not counted."
        table = _ends(soak, f"{title}, {of}", value)
        charts.append(Chart(f"chart-soak-{place}", title, text, drawing, table))
    return charts


def _points(one: ContenderSoak, value: Callable[[SoakRow], float], scale_s: float) -> list[Row]:
    step = max(1, math.ceil(len(one.rows) / MOST_POINTS))
    return [
        {
            "contender": one.contender,
            "stretch": f"{one.block}/{row.stretch}",
            "at": known((row.at_s + row.length_s / 2) / scale_s),
            "value": known(value(row)),
        }
        for row in one.rows[::step]
    ]


def _ends(soak: Soak, title: str, value: Callable[[SoakRow], float]) -> Table:
    columns = tuple(Column(name) for name in ("Contender", "first row", "last row", "lowest", "highest"))
    rows = []
    for one in soak.contenders:
        values = [value(row) for row in one.rows]
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
