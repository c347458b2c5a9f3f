"""Locust's statistics as CSV (`_stats.csv`), a line for each request and one of all."""

from __future__ import annotations

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, percentile
from bakeoff.formats.foreign.units import COUNT, MS, Unit
from bakeoff.formats.importers.base import Options, refuse
from bakeoff.formats.importers.columns import fill, heading_and_lines, places

SHARES = ("50", "66", "75", "80", "90", "95", "98", "99", "99.9", "99.99")
FIGURES = {
    "request count": (table.REQUESTS, COUNT),
    "failure count": (table.ERRORS, COUNT),
    "average response time": (table.MEAN, MS),
    "min response time": (table.MINIMUM, MS),
    "max response time": (table.MAXIMUM, MS),
    "requests/s": (table.RATE, Unit("requests/s", "operations/s")),
    **{f"{share}%": (percentile(float(share)), MS) for share in SHARES},
    "median response time": (table.MEDIAN, MS),
}
MISSING = ("how many users there were", "how busy its machine was")
MOST_PARTS = 50


def sniff(source: Source) -> bool:
    first = source.head.split("\n", 1)[0]
    return "Request Count" in first and "Failure Count" in first and "Requests/s" in first


def read(source: Source, options: Options) -> ForeignTable:
    heading, lines = heading_and_lines(source)
    where = places(heading.cells)
    rows = []
    for line in lines:
        kind, name = line.cell(where.get("type", 0)), line.cell(where.get("name", 1))
        is_all = name in ("Aggregated", "Total")
        row = RowMaker(line.line, part="" if is_all else f"{kind} {name}".strip()[:200])
        fill(row, line, where, FIGURES)
        asked, failed = row.values.get(table.REQUESTS), row.values.get(table.ERRORS)
        if asked is not None and failed is not None and asked.value >= failed.value:
            row.values[table.OPERATIONS] = count_of(asked.value - failed.value, COUNT, line.line)
        rows.append(row.made())
    whole = [row for row in rows if not row.part]
    if not whole:
        raise refuse(heading.line, "no line `Aggregated` stands below this heading: is all of the file there?")
    parts = rows if 2 < len(rows) <= MOST_PARTS else whole
    return ForeignTable("locust", "Locust", tuple(parts), missing=MISSING)
