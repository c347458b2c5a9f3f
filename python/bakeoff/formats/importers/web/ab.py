"""What ab (ApacheBench) prints, and its percentiles as CSV (-e). Its kilobytes are counted in 1,024."""

from __future__ import annotations

import re

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, percentile
from bakeoff.formats.foreign.units import BYTES, COUNT, MS, SECONDS, Unit
from bakeoff.formats.importers.base import Options, refuse

KBYTES = Unit("Kbytes/sec", "bytes/s", 1024.0)
REQUESTS_PER_S = Unit("requests/s", "operations/s")
PERCENTAGES = "Percentage served,Time in ms"
SHOWN = ("50", "66", "75", "80", "90", "95", "98", "99")
STATED = ("Server Software", "Server Hostname", "Server Port", "Document Path", "Document Length", "SSL/TLS Protocol")
COUNTS = {
    "Complete requests": table.REQUESTS,
    "Failed requests": table.ERRORS,
    "Total transferred": table.BYTES_IN,
    "Non-2xx responses": "error replies",
}
MISSING = ("how busy its machine was", "what was moved in each second")
_LINE = re.compile(r"([A-Z][A-Za-z0-9/ -]{2,40}):\s+(.*)")
_SHARE = re.compile(r"\s+(\d{1,3})%\s+(\d+)(?:\s.*)?")
_TIMES = re.compile(r"Total:\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*")


def sniff(source: Source) -> bool:
    return "This is ApacheBench" in source.head or source.head.startswith(PERCENTAGES)


def read(source: Source, options: Options) -> ForeignTable:
    if source.head.startswith(PERCENTAGES):
        return _percentages(source)
    row, stated, lines = RowMaker(), dict[str, str](), dict[str, int]()
    for number, line in source.short_lines():
        if found := _SHARE.fullmatch(line):
            if found[1] in SHOWN:
                row.put(percentile(int(found[1])), found[2], MS, number)
        elif found := _TIMES.fullmatch(line):
            for name, place in ((table.MINIMUM, 1), (table.DEVIATION, 3), (table.MEDIAN, 4), (table.MAXIMUM, 5)):
                row.put(name, found[place], MS, number)
        elif found := _LINE.fullmatch(line):
            _line(row, stated, lines, number, found[1], found[2])
    if table.RATE not in row.values:
        raise refuse(row.line, "ab has printed no `Requests per second`: is all of its output there?")
    asked = row.values.get(table.REQUESTS)
    failed = [row.values[name].value for name in (table.ERRORS, "error replies") if name in row.values]
    if asked is not None and failed and asked.value >= max(failed):
        # A reply with an error status may be of another length as well, which ab counts as failed.
        row.values[table.ERRORS] = count_of(max(failed), COUNT, asked.line)
        row.values[table.OPERATIONS] = count_of(asked.value - max(failed), COUNT, asked.line)
    return ForeignTable("ab", "ab", (row.made(),), stated=stated, lines=lines, missing=MISSING)


def _line(row: RowMaker, stated: dict[str, str], lines: dict[str, int], number: int, name: str, text: str) -> None:
    """One named figure."""
    first = text.split()[0] if text.split() else ""
    if name in COUNTS:
        row.exactly(COUNTS[name], first, BYTES if name == "Total transferred" else COUNT, number)
    elif name == "Concurrency Level":
        row.under(table.CLIENTS, first, COUNT, number)
        row.line = number
    elif name == "Time taken for tests":
        row.put(table.DURATION, first, SECONDS, number)
    elif name == "Requests per second":
        row.put(table.RATE, first, REQUESTS_PER_S, number)
    elif name == "Time per request" and "across" not in text:
        row.put(table.MEAN, first, MS, number)
    elif name == "Transfer rate":
        row.put(table.THROUGHPUT, first, KBYTES, number)
    elif name in STATED:
        stated[name] = text.strip()[:500]
        lines[name] = number


def _percentages(source: Source) -> ForeignTable:
    row = RowMaker()
    for number, line in source.short_lines():
        share, comma, time = line.partition(",")
        if number == 1 or not line.strip():
            continue
        if not comma or not share.isdigit() or int(share[:4]) > 100:
            raise refuse(number, f"a percentage and a time were expected, not {line[:40]!r}")
        name = {"0": table.MINIMUM, "100": table.MAXIMUM}.get(share)
        if name or share in SHOWN:
            row.put(name or percentile(int(share)), time, MS, number)
    if not row.values:
        raise refuse(1, "no percentage stands below this heading: is all of the file there?")
    return ForeignTable("ab", "ab", (row.made(),), missing=("rates, counts and the load", *MISSING))
