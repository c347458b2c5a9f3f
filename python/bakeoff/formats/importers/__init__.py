"""What other tools wrote, read. To add a format: a new file in a folder here, and a line in `ROOMS`.

Its module has `sniff(source)` and `read(source, options)`, see bakeoff.formats.importers.base.Importer. What is a
setting of a plan instead (Iometer's configurations) is read by the kind of suite that has the setting.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from bakeoff.core.errors import PlanError

if TYPE_CHECKING:
    from bakeoff.formats.foreign.source import Source
    from bakeoff.formats.foreign.table import ForeignTable
    from bakeoff.formats.importers.base import Importer, Options

# The formats of each folder. A file has the first that knows it: plain tables are the last.
ROOMS = {
    "file": {
        "iozone": "what IOzone prints: its matrix (-a; -s and -r), blocks for spreadsheets (-R), throughput mode (-t)",
        "fio": "fio's JSON and JSON+",
        "iometer": "Iometer's results.csv, of 1.1 and of 2003 to 2006",
        "elbencho": "elbencho's CSV (--csvfile) and JSON (--jsonfile)",
        "vdbench": "vdbench's flatfile.html",
        "dbench": "what dbench prints",
    },
    "web": {
        "httperf": "what httperf prints",
        "ab": "what ab prints, and its percentiles (-e)",
        "wrk": "what wrk and wrk2 print",
        "h2load": "what h2load prints",
        "oha": "oha's JSON",
        "k6": "k6's summary as JSON",
        "vegeta": "vegeta's report, JSON or text",
        "hey": "hey's CSV (-o csv) or its summary",
        "locust": "Locust's _stats.csv",
        "jmeter": "JMeter's results as CSV (.jtl)",
    },
    "mail": {
        "smtp-source": "smtp-source under `time`",
        "postal": "postal's lines of a minute each",
    },
    "other": {
        "hdr": "percentiles of HdrHistogram, and its logs",
        "prometheus": "Prometheus text and OpenMetrics of a finished run, Bakeoff's own among them",
        "phoronix": "Phoronix Test Suite's composite.xml",
        "table": "plain tables: CSV, TSV, Markdown or .xlsx, one column or one file a contender",
    },
}
# The formats as `--as` knows them.
FORMATS = {name: content for formats in ROOMS.values() for name, content in formats.items()}


def importer(name: str) -> Importer:
    """The importer of a format, loaded now. Raises PlanError when there is none of that name."""
    if name not in FORMATS:
        raise PlanError(f"there is no format {name[:40]!r}: --as takes one of {', '.join(FORMATS)}")
    room = next(room for room, formats in ROOMS.items() if name in formats)
    return cast("Importer", importlib.import_module(f"{__name__}.{room}.{name.replace('-', '_')}"))


def sniffed(source: Source) -> str:
    """The name of the format that a file is of, by its first part. Raises PlanError when it is of none."""
    for name in FORMATS:
        if importer(name).sniff(source):
            return name
    if not source.raw_head.strip():
        raise PlanError("it is empty: give the file that holds the tool's output")
    raise PlanError(f"its format is none that Bakeoff knows: say it with --as, one of {', '.join(FORMATS)}")


def read_table(source: Source, as_format: str | None, options: Options) -> ForeignTable:
    """A file as a table, of that format or of the one its first part shows. Raises PlanError that names the file."""
    try:
        found = importer(as_format or sniffed(source)).read(source, options)
    except PlanError as error:
        raise PlanError(f"{source.path}: {error}") from None
    return replace(found, path=str(source.path))
