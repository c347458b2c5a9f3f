"""Tables of any run as Parquet."""

import io

from bakeoff.core.errors import GeneratorError
from bakeoff.formats.exporters.base import Exporter
from bakeoff.formats.exporters.tables import table_of
from bakeoff.store.records.run_records import RunRecord

ADVICE = "writing Parquet needs Polars: pip install 'bakeoff[parquet]', or use --to csv"


class Parquet(Exporter):
    name = "parquet"
    suffix = ".parquet"
    summary = "the same tables for Polars, pandas, DuckDB and others, with types"
    tables = True

    def content(self, run: RunRecord, table: str | None = None) -> bytes:
        """See Exporter. Raises GeneratorError without Polars."""
        from bakeoff.api import framed, is_installed

        if not is_installed("polars"):
            raise GeneratorError(ADVICE)

        made = table_of(run, table)
        file = io.BytesIO()
        framed(made.columns, made.rows).write_parquet(file)
        return file.getvalue()


PARQUET = Parquet()
