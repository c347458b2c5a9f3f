"""Iometer's results as CSV, of 1.1 and of 2003 to 2006. The MBps of the older ones are counted in 1,024."""

from __future__ import annotations

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.grids.text import delimited
from bakeoff.formats.foreign.making import RowMaker, count_of, value_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignRow, ForeignTable
from bakeoff.formats.foreign.units import BYTES, COUNT, MB_PER_S, MIB_PER_S, MS, PERCENT, Unit
from bakeoff.formats.importers.base import Options, refuse
from bakeoff.formats.importers.columns import fill, places

IOPS = Unit("IOPS", "operations/s")
OLD_MB_PER_S = Unit("MBps", "bytes/s", float(1 << 20))
KINDS = ("ALL", "MANAGER", "WORKER", "PROCESSOR", "DISK", "NETWORK")
FIGURES = {
    "iops": (table.RATE, IOPS),
    "mbps (decimal)": (table.THROUGHPUT, MB_PER_S),
    "mbps": (table.THROUGHPUT, OLD_MB_PER_S),
    "mibps (binary)": ("throughput in MiB/s", MIB_PER_S),
    "mbps (binary)": ("throughput in MiB/s", MIB_PER_S),
    "average response time": (table.MEAN, MS),
    "maximum response time": (table.MAXIMUM, MS),
    "errors": (table.ERRORS, COUNT),
    "bytes read": (table.BYTES_IN, BYTES),
    "bytes written": (table.BYTES_OUT, BYTES),
    "read i/os": ("read operations", COUNT),
    "write i/os": ("write operations", COUNT),
    "% cpu utilization": ("processor time", PERCENT),
}
MISSING = ("percentiles", "how long the measured time was")


def sniff(source: Source) -> bool:
    return "'Target Type,Target Name," in source.head or (
        "'Test Type,Test Description" in source.head and "'Access specifications" in source.head
    )


def read(source: Source, options: Options) -> ForeignTable:
    where: dict[str, int] = {}
    found: list[tuple[str, RowMaker, bool]] = []
    stated: dict[str, str] = {}
    before = ""
    for line in delimited(source.lines(), ",").rows:
        first = line.cell(0)
        if first.startswith("'Target Type"):
            where = places(line.cells)
            continue
        if before == "'Version":
            stated["version"] = first[:40]
        elif before == "'Test Type" and line.cell(1):
            stated["test description"] = line.cell(1)[:300]
        before = first
        if not where or first not in KINDS:
            continue
        row = RowMaker(line.line)
        fill(row, line, where, FIGURES)
        _load(row, line.cell(where["queue depth"]) if "queue depth" in where else "", table.DEPTH)
        _load(row, line.cell(where["# workers"]) if "# workers" in where else "", table.CLIENTS)
        parts = [row.values.pop(name, None) for name in ("read operations", "write operations")]
        known = [part for part in parts if part is not None]
        if known:
            row.values[table.OPERATIONS] = count_of(sum(part.value for part in known), COUNT, line.line)
        name = f"{first.lower()} {line.cell(1)}".strip() if first != "ALL" else ""
        row.part = name
        found.append((line.cell(where.get("access specification name", 2)), row, first != "ALL"))
    if not any(row.values and not below for _, row, below in found):
        raise refuse(1, "no line of results begins with ALL: give Iometer's results.csv of a whole test")
    return ForeignTable("iometer", "Iometer", tuple(_named(found)), stated=stated, missing=MISSING)


def _load(row: RowMaker, text: str, name: str) -> None:
    if text.strip().isdigit() and int(text[:9]) > 0:
        row.load[name] = value_of(text, COUNT, row.line, name, rounding="exact")


def _named(found: list[tuple[str, RowMaker, bool]]) -> list[ForeignRow]:
    """The rows; where several specifications were run, each with its name."""
    several = len({spec for spec, _, below in found if not below and spec}) > 1
    rows, last = [], ""
    for spec, row, below in found:
        # Lines below the first one of a test leave it out.
        last = spec or last
        part = ": ".join(filter(None, (last if several else "", row.part)))
        rows.append(ForeignRow("", row.load, row.values, row.line, part, below))
    return rows
