"""Runs in the formats of other tools and programs: one module per format, and its line in `EXPORTERS`."""

from bakeoff.formats.exporters.base import Exporter
from bakeoff.formats.exporters.benchfmt import BENCHFMT
from bakeoff.formats.exporters.csv_table import CSV
from bakeoff.formats.exporters.iometer_csv import IOMETER_CSV
from bakeoff.formats.exporters.iozone import IOZONE
from bakeoff.formats.exporters.json_document import JSON
from bakeoff.formats.exporters.lost_messages import LOST_MESSAGES
from bakeoff.formats.exporters.openmetrics import OPENMETRICS
from bakeoff.formats.exporters.parquet import PARQUET

EXPORTERS: dict[str, Exporter] = {
    exporter.name: exporter
    for exporter in (CSV, JSON, PARQUET, LOST_MESSAGES, BENCHFMT, OPENMETRICS, IOMETER_CSV, IOZONE)
}
