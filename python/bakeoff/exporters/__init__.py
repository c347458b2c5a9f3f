"""Runs in the formats of other tools and programs: one module per format, and its line in `EXPORTERS`."""

from bakeoff.exporters.base import Exporter
from bakeoff.exporters.benchfmt import BENCHFMT
from bakeoff.exporters.csv_table import CSV
from bakeoff.exporters.iometer_csv import IOMETER_CSV
from bakeoff.exporters.iozone import IOZONE
from bakeoff.exporters.json_document import JSON
from bakeoff.exporters.lost_messages import LOST_MESSAGES
from bakeoff.exporters.openmetrics import OPENMETRICS
from bakeoff.exporters.parquet import PARQUET

EXPORTERS: dict[str, Exporter] = {
    exporter.name: exporter
    for exporter in (CSV, JSON, PARQUET, LOST_MESSAGES, BENCHFMT, OPENMETRICS, IOMETER_CSV, IOZONE)
}
