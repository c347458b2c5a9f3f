"""What dbench prints. Its MB are 10⁶ bytes."""

from __future__ import annotations

import re

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable
from bakeoff.formats.foreign.units import COUNT, MB_PER_S, MS
from bakeoff.formats.importers.base import Options, refuse

MISSING = ("how many operations failed", "the length of the measured time", "how busy its machine was")
MOST_OPERATIONS = 200
_OPERATION = re.compile(r"\s*([A-Za-z_0-9]{2,40})\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s*")
_END = re.compile(r"Throughput ([\d.]+) MB/sec(?: \(sync open\))?  (\d+) clients  (\d+) procs  max_latency=([\d.]+) ms")


def sniff(source: Source) -> bool:
    return re.search(r"Throughput [\d.]+ MB/sec.{0,40} procs ", source.head) is not None


def read(source: Source, options: Options) -> ForeignTable:
    whole, parts, inside, stated = RowMaker(), list[RowMaker](), False, dict[str, str]()
    for number, line in source.short_lines():
        if line.startswith("Running for"):
            stated["run"] = line.strip()[:500]
        elif line.split() == ["Operation", "Count", "AvgLat", "MaxLat"]:
            inside = True
        elif found := _END.match(line):
            whole.line = number
            whole.put(table.THROUGHPUT, found[1], MB_PER_S, number)
            whole.under(table.CLIENTS, found[2], COUNT, number)
            whole.put(table.MAXIMUM, found[4], MS, number)
        elif inside and (found := _OPERATION.fullmatch(line)) and len(parts) < MOST_OPERATIONS:
            part = RowMaker(number, part=found[1])
            part.exactly(table.OPERATIONS, found[2], COUNT, number)
            part.put(table.MEAN, found[3], MS, number)
            part.put(table.MAXIMUM, found[4], MS, number)
            parts.append(part)
    if not whole.values:
        raise refuse(whole.line, "dbench has printed no line `Throughput … MB/sec`: is all of its output there?")
    for part in parts:
        part.load = whole.load
    rows = (whole.made(), *(part.made() for part in parts))
    return ForeignTable("dbench", "dbench", rows, stated=stated, missing=MISSING)
