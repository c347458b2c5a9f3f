"""What an exporter provides."""

from bakeoff.errors import PlanError
from bakeoff.exporters.tables import TABLES
from bakeoff.plan.messages import did_you_mean
from bakeoff.store.records import RunRecord


class Exporter:
    """One format: derive from it. `tables` says that it holds one table of those that a run has, which can be named."""

    name: str
    suffix: str
    summary: str
    tables: bool = False

    def content(self, run: RunRecord, table: str | None = None) -> str | bytes:
        """The whole file. Raises PlanError when the run holds nothing that the format can say."""
        raise NotImplementedError

    def notes(self, run: RunRecord) -> tuple[str, ...]:
        """What is to be known of this file and does not stand in it."""
        return ()

    def check_table(self, table: str | None) -> None:
        """Raises PlanError when there is no such table, or the format has none."""
        if table is None:
            return
        if not self.tables:
            raise PlanError(f"--table: {self.name} has one form: leave it out")
        if table not in TABLES:
            raise PlanError(f"--table: there is no table {table!r}: {did_you_mean(table, list(TABLES))}")
