"""What h2load prints. Its sizes are counted in 1,024."""

from __future__ import annotations

import re

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable
from bakeoff.formats.foreign.units import BYTES, COUNT, TIMES, Unit
from bakeoff.formats.importers.base import Options, refuse
from bakeoff.formats.importers.web.wrk import REQUESTS_PER_S, SIZES

MISSING = ("percentiles of single requests", "how busy its machine was", "how many streams each client has")
_CLIENTS = re.compile(r"spawning thread #\d+: (\d{1,9}) total client")
_END = re.compile(r"finished in ([\d.]+)(us|ms|s|m|h), ([\d.]+) req/s, ([\d.]+)(B|KB|MB|GB)/s")
_REQUESTS = re.compile(
    r"requests: (\d+) total, (\d+) started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout"
)
_TRAFFIC = re.compile(r"traffic: \S+ \((\d+)\) total")
_TIME = re.compile(r"time (for request|for connect|to 1st byte):\s+" + r"\s+".join([r"([\d.]+)(us|ms|s|m|h)"] * 4))
_PREFIX = {"for request": "", "for connect": "connect ", "to 1st byte": "first byte "}


def sniff(source: Source) -> bool:
    return "finished in " in source.head and "time for request:" in source.head


def read(source: Source, options: Options) -> ForeignTable:
    row, stated, clients = RowMaker(), dict[str, str](), 0
    for number, line in source.short_lines():
        if found := _CLIENTS.match(line):
            clients += int(found[1])
        elif line.startswith("Application protocol:"):
            stated["protocol"] = line.partition(":")[2].strip()[:100]
        elif found := _END.match(line):
            row.line = number
            row.put(table.DURATION, found[1], TIMES[found[2]], number)
            row.put(table.RATE, found[3], REQUESTS_PER_S, number)
            row.put(table.THROUGHPUT, found[4], Unit(f"{found[5]}/s", "bytes/s", SIZES[found[5]]), number)
        elif found := _REQUESTS.match(line):
            for name, place in ((table.REQUESTS, 1), ("done", 3), (table.OPERATIONS, 4), (table.ERRORS, 5)):
                row.exactly(name, found[place], COUNT, number)
        elif found := _TRAFFIC.match(line):
            row.exactly(table.BYTES_IN, found[1], BYTES, number)
        elif found := _TIME.match(line.strip()):
            names = (table.MINIMUM, table.MAXIMUM, table.MEAN, table.DEVIATION)
            for place, name in enumerate(names):
                text, unit = found[2 + 2 * place], TIMES[found[3 + 2 * place]]
                row.put(f"{_PREFIX[found[1]]}{name}", text, unit, number)
    if table.RATE not in row.values:
        raise refuse(row.line, "h2load has printed no line `finished in`: is all of its output there?")
    if clients:
        row.load[table.CLIENTS] = count_of(clients, COUNT, row.line)
    return ForeignTable("h2load", "h2load", (row.made(),), stated=stated, missing=MISSING)
