"""What hey prints: its CSV (-o csv) with a line a request, and its summary."""

from __future__ import annotations

import re

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of, value_of
from bakeoff.formats.foreign.samples import Samples
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, percentile
from bakeoff.formats.foreign.units import BYTES, COUNT, SECONDS, Unit
from bakeoff.formats.importers.base import Options, refuse

REQUESTS_PER_S = Unit("requests/s", "operations/s")
HEADING = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
MISSING = ("how many connections it used", "how busy its machine was")
LINES = {
    "Total": (table.DURATION, SECONDS),
    "Slowest": (table.MAXIMUM, SECONDS),
    "Fastest": (table.MINIMUM, SECONDS),
    "Average": (table.MEAN, SECONDS),
    "Requests/sec": (table.RATE, REQUESTS_PER_S),
    "Total data": (table.BYTES_IN, BYTES),
}
_SHARE = re.compile(r"\s+([\d.]{1,8})%%? in ([\d.]{1,20}) secs")
_STATUS = re.compile(r"\s+\[(\d{3})\]\s+(\d{1,15}) responses")
_ERROR = re.compile(r"\s+\[(\d{1,15})\]\s+\S.*")
# hey prints four digits of a second.
TICKS = 10_000


def sniff(source: Source) -> bool:
    head = source.head
    return head.startswith(HEADING) or ("Response time histogram:" in head and "Requests/sec:" in head)


def read(source: Source, options: Options) -> ForeignTable:
    return _lines(source) if source.head.startswith(HEADING) else _summary(source)


def _lines(source: Source) -> ForeignTable:
    samples, failed, end = Samples(), 0, 0.0
    for number, line in source.lines():
        cells = line.split(",")
        if number == 1 or not line:
            continue
        try:
            time, status, offset = float(cells[0][:20]), int(cells[6][:6]), float(cells[7][:20])
        except (ValueError, IndexError):
            raise refuse(number, f"eight numbers of a request were expected, not {line[:60]!r}") from None
        if not 0.0 <= time < 1e6 or not 0.0 <= offset < 1e9:
            raise refuse(number, f"{line[:60]!r} holds a time that cannot be")
        failed += not 200 <= status < 400
        samples.add(round(time * TICKS))
        end = max(end, offset + time)
    if not samples.count:
        raise refuse(1, "no request stands below this heading: is all of the file there?")
    row = RowMaker()
    row.values = samples.values(Unit("0.1 ms", "time", 1.0 / TICKS))
    row.values[table.OPERATIONS] = count_of(samples.count - failed, COUNT)
    row.values[table.ERRORS] = count_of(failed, COUNT)
    if end > 0.0:
        row.values[table.DURATION] = count_of(end, SECONDS)
        row.values[table.RATE] = count_of(samples.count / end, REQUESTS_PER_S)
    return ForeignTable("hey", "hey", (row.made(),), missing=MISSING)


def _summary(source: Source) -> ForeignTable:
    row, good, bad, errors = RowMaker(), 0, 0, False
    for number, line in source.short_lines():
        name, colon, text = line.strip().partition(":")
        if colon and name in LINES and text.split():
            row.put(LINES[name][0], text.split()[0], LINES[name][1], number)
        elif found := _SHARE.fullmatch(line):
            row.put(percentile(value_of(found[1], COUNT, number).value), found[2], SECONDS, number)
        elif found := _STATUS.fullmatch(line.rstrip()):
            good, bad = (good + int(found[2]), bad) if found[1][0] in "23" else (good, bad + int(found[2]))
        elif line.startswith("Error distribution"):
            errors = True
        elif errors and (found := _ERROR.fullmatch(line)):
            bad += int(found[1])
    if table.RATE not in row.values:
        raise refuse(row.line, "hey has printed no Requests/sec below this: is all of its output there?")
    if good or bad:
        row.values[table.OPERATIONS] = count_of(good, COUNT, heading="replies of 2xx and 3xx")
        row.values[table.ERRORS] = count_of(bad, COUNT, heading="other replies and errors")
    return ForeignTable("hey", "hey", (row.made(),), missing=MISSING)
