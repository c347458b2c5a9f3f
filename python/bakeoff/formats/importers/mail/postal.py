"""postal's lines, one a minute: time, messages, data in KB, errors, connections, TLS connections. Each minute is a
sample. postal prints when the clock's minute ends, so that the first line counts a part of one: it is left out.
"""

from __future__ import annotations

import re

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable
from bakeoff.formats.foreign.units import COUNT, SECONDS, Unit
from bakeoff.formats.importers.base import Options, refuse

HEADING = re.compile(r"time,messages,data\(K\),errors,connections(,SSL connections)?\s*", re.IGNORECASE)
KIB = Unit("K", "bytes", 1024.0)
MOST_MINUTES = 10_000
MISSING = ("times of single messages", "the load", "how busy its machine was")


def sniff(source: Source) -> bool:
    return any(HEADING.fullmatch(line) for line in source.head.splitlines()[:20])


def read(source: Source, options: Options) -> ForeignTable:
    rows, below, partial = [], False, True
    for number, line in source.short_lines():
        if HEADING.fullmatch(line):
            below = partial = True
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if not below or not line.strip():
            continue
        if len(cells) < 5:
            raise refuse(number, f"five numbers of a minute were expected, not {line[:60]!r}")
        if partial:
            partial = False
            continue
        row = RowMaker(number)
        row.exactly(table.OPERATIONS, cells[1], COUNT, number)
        row.put(table.BYTES_OUT, cells[2], KIB, number)
        row.exactly(table.ERRORS, cells[3], COUNT, number)
        row.exactly("connections", cells[4], COUNT, number)
        done = row.values[table.OPERATIONS].value
        row.values[table.DURATION] = count_of(60.0, SECONDS, number, "a line a minute")
        row.values[table.RATE] = count_of(done / 60.0, Unit("messages/s", "operations/s"), number, "messages by 60 s")
        rows.append(row.made())
        if len(rows) > MOST_MINUTES:
            raise refuse(number, f"it has more than {MOST_MINUTES:,} minutes")
    if not rows:
        raise refuse(1, "no whole minute stands below postal's heading: let it run for more than two minutes")
    stated = {"left out": "the first line, which counts a part of a minute"}
    return ForeignTable("postal", "postal", tuple(rows), stated=stated, missing=MISSING)
