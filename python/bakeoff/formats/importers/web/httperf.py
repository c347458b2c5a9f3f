"""What httperf prints (or `bakeoff httperf`, which prints the same). Its KB are counted in 1,024."""

from __future__ import annotations

import re

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker
from bakeoff.formats.foreign.printed import Printed
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import BYTES, COUNT, MS, SECONDS, Unit
from bakeoff.formats.importers.base import Options, refuse

REPLIES_PER_S = Unit("replies/s", "operations/s")
KB_PER_S = Unit("KB/s", "bytes/s", 1024.0)
MISSING = ("percentiles of single replies",)
N = r"([\d.]+)"
# Each line with what its numbers are: metric, unit, and whether they are counts.
LINES: tuple[tuple[re.Pattern[str], tuple[tuple[str, Unit, bool], ...]], ...] = (
    (
        re.compile(rf"Total: connections (\d+) requests (\d+) replies (\d+) test-duration {N} s"),
        (
            ("connections", COUNT, True),
            (table.REQUESTS, COUNT, True),
            (table.OPERATIONS, COUNT, True),
            (table.DURATION, SECONDS, False),
        ),
    ),
    (re.compile(rf"Connection rate: {N} conn/s"), (("connection rate", Unit("conn/s", "operations/s"), False),)),
    (
        re.compile(rf"Connection time \[ms\]: min {N} avg {N} max {N} median {N} stddev {N}"),
        tuple((f"connection {name}", MS, False) for name in ("minimum", "mean", "maximum", "p50", "deviation")),
    ),
    (re.compile(rf"Connection time \[ms\]: connect {N}"), (("connect mean", MS, False),)),
    (re.compile(rf"Request rate: {N} req/s"), (("request rate", Unit("req/s", "operations/s"), False),)),
    (re.compile(rf"Request size \[B\]: {N}"), (("request size", BYTES, False),)),
    (
        re.compile(rf"Reply time \[ms\]: response {N} transfer {N}"),
        (("first byte mean", MS, False), ("transfer mean", MS, False)),
    ),
    (
        re.compile(rf"Reply size \[B\]: header {N} content {N} footer {N} \(total {N}\)"),
        tuple((f"reply {name} size", BYTES, False) for name in ("header", "content", "footer", "total")),
    ),
    (re.compile(rf"Net I/O: {N} KB/s"), ((table.THROUGHPUT, KB_PER_S, False),)),
    (re.compile(r"Errors: total (\d+) "), ((table.ERRORS, COUNT, True),)),
)
_RATE = re.compile(r"--rate=([\d.]+)")


def sniff(source: Source) -> bool:
    return "Total: connections " in source.head and "test-duration" in source.head


def read(source: Source, options: Options) -> ForeignTable:
    row, stated, lines = RowMaker(), dict[str, str](), dict[str, int]()
    for number, line in source.short_lines():
        if line.startswith("httperf --"):
            stated["command line"], lines["command line"] = line[:500], number
            if (found := _RATE.search(line)) and found[1].strip("0."):
                of = "sessions/s" if "--wsess" in line else "conn/s"
                row.under(table.OFFERED, found[1], Unit(of, "operations/s"), number)
        elif line.startswith("CPU time"):
            stated["processor time of httperf"], lines["processor time of httperf"] = line[13:300], number
        for pattern, names in LINES:
            if found := pattern.match(line):
                if table.DURATION in row.values and names[0][0] == "connections":
                    raise refuse(number, "here begins a second run: give each run in a file of its own")
                row.line = number if names[0][0] == "connections" else row.line
                for text, (name, unit, exact) in zip(found.groups(), names, strict=True):
                    row.put(name, text, unit, number, "exact" if exact else "nearest")
                break
    done, length = row.values.get(table.OPERATIONS), row.values.get(table.DURATION)
    if done is None or length is None or length.low <= 0.0:
        raise refuse(row.line, "httperf has printed no totals with a duration: is all of its output there?")
    # httperf's own reply rate is a mean of samples of 5 s, and 0 in shorter runs.
    rate = Printed("", done.value / length.value, done.low / length.high, done.high / length.low)
    row.values[table.RATE] = ForeignValue(rate, REPLIES_PER_S, done.line, 0, "replies by test-duration")
    return ForeignTable("httperf", "httperf", (row.made(),), stated=stated, lines=lines, missing=MISSING)
