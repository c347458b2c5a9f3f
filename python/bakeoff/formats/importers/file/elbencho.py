"""elbencho's CSV file (--csvfile), and its JSON file (--jsonfile) with an object a line. Figures are those of the last
thread to finish, which had all of the work, cut to whole numbers. Of reads and writes at once, the reads are a row of
their own.
"""

from __future__ import annotations

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, inner, value_of
from bakeoff.formats.foreign.printed import Printed
from bakeoff.formats.foreign.sizes import binary_size
from bakeoff.formats.foreign.source import Source, parsed_json
from bakeoff.formats.foreign.table import ForeignRow, ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import BYTES, BYTES_PER_S, COUNT, MIB_PER_S, MS, US, Unit
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
READS = "rwmix read "
STATED = ("version", "command", "direct io", "random", "path type", "paths", "hosts", "files", "file size")
MISSING = ("how many operations failed", "percentiles")

# In JSON every number is text.
JSON_FIGURES = (
    (table.RATE, ("iops",), Unit("IOPS", "operations/s")),
    ("entries", ("entries/s",), Unit("entries/s", "operations/s")),
    (table.THROUGHPUT, ("bytes/s",), BYTES_PER_S),
    (table.BYTES, ("bytes",), BYTES),
    (table.DURATION, ("elapsed_time_ms",), MS),
    (table.MINIMUM, ("latency", "IO", "min_us"), US),
    (table.MEAN, ("latency", "IO", "avg_us"), US),
    (table.MAXIMUM, ("latency", "IO", "max_us"), US),
)
JSON_STATED = ("version", "command", "direct_io", "random_offsets", "path_type", "paths", "hosts", "files", "file_size")


def sniff(source: Source) -> bool:
    first = source.head.split("\n", 1)[0].lower()
    if first.startswith("{"):
        return '"phase_type"' in first and '"last_done"' in first
    return first.startswith("iso date") and "operation" in first and "mib/s" in first


def read(source: Source, options: Options) -> ForeignTable:
    """Lines of either form."""
    return _read_json(source) if source.head.lstrip().startswith("{") else _read_csv(source)


def _read_json(source: Source) -> ForeignTable:
    rows, stated = list[ForeignRow](), dict[str, str]()
    for number, text in source.lines():
        if not text.strip():
            continue
        found = parsed_json(text, number)
        config, last = inner(found, "config"), inner(found, "last_done")
        writes, reads = (RowMaker(number, part=str(inner(found).get("phase_type", ""))[:60].lower()) for _ in range(2))
        for metric, path, unit in JSON_FIGURES:
            writes.of_text(metric, inner(last, *path[:-1]).get(path[-1]), unit, number)
            mixed = (*path[:-1], "rwmix_read") if len(path) > 1 else ("rwmix_read",)
            reads.of_text(metric, inner(last, *mixed).get(path[-1]), unit, number)
        load = (config.get(key) for key in ("hosts", "threads", "io_depth", "block_size"))
        rows += _phase(writes, reads, *load)
        stated |= {name.replace("_", " "): str(config[name])[:300] for name in JSON_STATED if name in config}
    if not rows:
        raise refuse(1, "no line is an object whose `last_done` holds figures")
    return ForeignTable("elbencho", "elbencho", tuple(rows), stated=stated, missing=MISSING)


def _phase(
    writes: RowMaker, reads: RowMaker, hosts: object, threads: object, depth: object, size: object
) -> list[ForeignRow]:
    """The rows of a phase, whose reads have figures of their own where they ran beside writes."""
    if reads.values:
        if table.DURATION in writes.values:
            reads.values[table.DURATION] = writes.values[table.DURATION]
        writes.part, reads.part = f"{writes.part} write", f"{reads.part} read"
    for row in (writes, reads):
        _load(row, hosts, threads, depth, size)
    return [row.made() for row in (writes, reads) if row.values]


def _load(row: RowMaker, hosts: object, threads: object, depth: object, size: object) -> None:
    """The load, as far as it is stated by whole numbers. Threads are those of each host."""
    counts = [_whole(printed) for printed in (hosts, threads, depth)]
    if counts[1]:
        row.load[table.CLIENTS] = value_of(
            str((counts[0] or 1) * counts[1]), COUNT, row.line, table.CLIENTS, rounding="exact"
        )
    if counts[2]:
        row.load[table.DEPTH] = value_of(str(counts[2]), COUNT, row.line, table.DEPTH, rounding="exact")
    found = binary_size(str(size))
    if found:
        row.load[table.BLOCK_SIZE] = ForeignValue(Printed(str(found), found, found, found), BYTES, row.line)


def _whole(printed: object) -> int:
    """A whole number of at most nine digits; 0 for anything else."""
    text = str(printed)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _read_csv(source: Source) -> ForeignTable:
    heading, lines = heading_and_lines(source)
    where = places(heading.cells)
    if "operation" not in where or not lines:
        raise refuse(heading.line, "a heading with `operation` and lines below it were expected")
    rows, stated = list[ForeignRow](), dict[str, str]()
    for line in lines:
        writes, reads = (RowMaker(line.line, part=line.cell(where["operation"])[:60].lower()) for _ in range(2))
        fill(writes, line, where, FIGURES, "down")
        fill(reads, line, where, {READS + name: figure for name, figure in FIGURES.items()}, "down")
        load = (line.cell(where[key]) if key in where else "" for key in ("hosts", "threads", "io depth", "block size"))
        rows += _phase(writes, reads, *load)
        stated |= {name: line.cell(where[name])[:300] for name in STATED if name in where and line.cell(where[name])}
    if not rows:
        raise refuse(heading.line, "no line below this heading holds a figure")
    return ForeignTable("elbencho", "elbencho", tuple(rows), stated=stated, missing=MISSING)
