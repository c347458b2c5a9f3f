"""A run as the JSON document of `bakeoff show --json`."""

from bakeoff.formats.exporters.base import Exporter
from bakeoff.store.records.run_records import RunRecord


class Json(Exporter):
    name = "json"
    suffix = ".json"
    summary = "all but histograms, as bakeoff show --json prints it"

    def content(self, run: RunRecord, table: str | None = None) -> str:
        from bakeoff.formats.exporters.document import document_lines  # NumPy takes a moment

        return "\n".join(document_lines(run)) + "\n"


JSON = Json()
