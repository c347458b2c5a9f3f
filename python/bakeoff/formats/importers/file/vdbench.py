"""vdbench's flat file (flatfile.html): the line of averages of each run, of raw devices and of file systems, whose
columns are the same in other letters. Its MB are counted in 1,024.
"""

from __future__ import annotations

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, value_of
from bakeoff.formats.foreign.printed import Printed
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import BYTES, COUNT, MIB_PER_S, MS, PERCENT, Unit
from bakeoff.formats.importers.base import Options, refuse

FIGURES = {
    "rate": (table.RATE, Unit("IOPS", "operations/s")),
    "mb/sec": (table.THROUGHPUT, Unit("MB/sec", "bytes/s", MIB_PER_S.factor)),
    "resp": (table.MEAN, MS),
    "read_resp": ("read mean", MS),
    "write_resp": ("write mean", MS),
    "resp_max": (table.MAXIMUM, MS),
    "resp_std": (table.DEVIATION, MS),
    "cpu_used": ("processor time", PERCENT),
}
MISSING = ("how many operations failed", "percentiles")
MOST_RUNS = 10_000


def sniff(source: Source) -> bool:
    return "Interval" in source.head and "MB/sec" in source.head and "xfersize" in source.head.lower()


def read(source: Source, options: Options) -> ForeignTable:
    names: list[str] = []
    rows = []
    for number, line in source.short_lines():
        words = line.split()
        if "Interval" in words and "MB/sec" in words:
            names = [word.lower() for word in words]
            continue
        if not names or len(words) < len(names) or line.startswith("*"):
            continue
        cells = dict(zip(names, words, strict=False))
        if not cells["interval"].startswith("avg"):
            continue
        row = RowMaker(number, part=cells.get("run", "")[:60])
        for key, (metric, unit) in FIGURES.items():
            # The mean of reads is printed as 0 where there were none, and so is that of writes.
            if cells.get(key, "n/a") not in (("n/a", "0") if metric in ("read mean", "write mean") else ("n/a",)):
                row.put(metric, cells[key], unit, number)
        for name, key in ((table.CLIENTS, "threads"), (table.BLOCK_SIZE, "xfersize")):
            text = cells.get(key, "")
            if text.isdigit() and 0 < len(text) < 15 and int(text):
                exact = Printed(text, int(text), int(text), int(text))
                row.load[name] = ForeignValue(exact, BYTES if key == "xfersize" else COUNT, number)
        asked = cells.get("reqrate", "")
        if asked.replace(".", "", 1).isdigit() and len(asked) < 12 and float(asked) > 0:
            row.load[table.OFFERED] = value_of(asked, FIGURES["rate"][1], number)
        rows.append(row.made())
        if len(rows) > MOST_RUNS:
            raise refuse(number, f"it has more than {MOST_RUNS:,} runs")
    if not rows:
        raise refuse(1, "no line of averages (Interval avg_…) was found: give flatfile.html of a whole run")
    if len({row.part for row in rows}) == 1:
        rows = [type(row)("", row.load, row.values, row.line) for row in rows]
    return ForeignTable("vdbench", "vdbench", tuple(rows), missing=MISSING)
