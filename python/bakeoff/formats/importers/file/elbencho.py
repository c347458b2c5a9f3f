"""elbencho's CSV file (--csvfile). Figures are those of the last thread to finish, which had all of the work."""

from __future__ import annotations

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, value_of
from bakeoff.formats.foreign.printed import Printed
from bakeoff.formats.foreign.sizes import binary_size
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import BYTES, COUNT, MIB_PER_S, MS, US, Unit
from bakeoff.formats.importers.base import Options, refuse
from bakeoff.formats.importers.columns import fill, heading_and_lines, places

FIGURES = {
    "iops [last]": (table.RATE, Unit("IOPS", "operations/s")),
    "entries/s [last]": ("entries", Unit("entries/s", "operations/s")),
    "mib/s [last]": (table.THROUGHPUT, MIB_PER_S),
    "time ms [last]": (table.DURATION, MS),
    "io lat us [min]": (table.MINIMUM, US),
    "io lat us [avg]": (table.MEAN, US),
    "io lat us [max]": (table.MAXIMUM, US),
}
STATED = ("version", "command", "direct io", "random", "path type", "paths", "hosts", "files", "file size")
MISSING = ("how many operations failed", "percentiles")


def sniff(source: Source) -> bool:
    first = source.head.split("\n", 1)[0].lower()
    return first.startswith("iso date") and "operation" in first and "mib/s" in first


def read(source: Source, options: Options) -> ForeignTable:
    heading, lines = heading_and_lines(source)
    where = places(heading.cells)
    if "operation" not in where or not lines:
        raise refuse(heading.line, "a heading with `operation` and lines below it were expected")
    rows, stated = [], dict[str, str]()
    for line in lines:
        row = RowMaker(line.line, part=line.cell(where["operation"])[:60].lower())
        fill(row, line, where, FIGURES)
        for name, key in ((table.CLIENTS, "threads"), (table.DEPTH, "io depth")):
            text = line.cell(where[key]) if key in where else ""
            if text.isdigit() and int(text[:9]):
                row.load[name] = value_of(text, COUNT, line.line, key, rounding="exact")
        size = binary_size(line.cell(where["block size"])) if "block size" in where else None
        if size:
            row.load[table.BLOCK_SIZE] = ForeignValue(Printed(str(size), size, size, size), BYTES, line.line)
        if row.values:
            rows.append(row.made())
        stated |= {name: line.cell(where[name])[:300] for name in STATED if name in where and line.cell(where[name])}
    if not rows:
        raise refuse(heading.line, "no line below this heading holds a figure")
    return ForeignTable("elbencho", "elbencho", tuple(rows), stated=stated, missing=MISSING)
