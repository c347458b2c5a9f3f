"""Tables of any run as CSV."""

from bakeoff.formats.exporters.base import Exporter
from bakeoff.formats.exporters.csv_text import csv_text
from bakeoff.formats.exporters.tables import table_of
from bakeoff.store.records.run_records import RunRecord


class Csv(Exporter):
    name = "csv"
    suffix = ".csv"
    summary = "tidy rows of any suite, one for each trial or cell, or those of --table"
    tables = True

    def content(self, run: RunRecord, table: str | None = None) -> str:
        made = table_of(run, table)
        return csv_text(made.columns, made.rows)


CSV = Csv()
