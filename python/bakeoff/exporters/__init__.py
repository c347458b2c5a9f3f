"""Runs in the formats of other tools and programs: one module per format, and its line in `EXPORTERS`."""

from bakeoff.exporters.base import Exporter
from bakeoff.exporters.benchfmt import BENCHFMT
from bakeoff.exporters.csv_table import CSV
from bakeoff.exporters.iometer_csv import IOMETER_CSV
from bakeoff.exporters.json_document import JSON
from bakeoff.exporters.lost_messages import LOST_MESSAGES

EXPORTERS: dict[str, Exporter] = {
    exporter.name: exporter for exporter in (CSV, JSON, LOST_MESSAGES, BENCHFMT, IOMETER_CSV)
}
