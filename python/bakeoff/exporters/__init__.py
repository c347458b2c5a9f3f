"""Runs in the formats of other tools: one module per format, and its line in `EXPORTERS`."""

from bakeoff.exporters.base import Exporter
from bakeoff.exporters.iometer_csv import IOMETER_CSV

EXPORTERS: dict[str, Exporter] = {exporter.name: exporter for exporter in (IOMETER_CSV,)}
