"""What an exporter provides."""

from abc import ABC
from collections.abc import Mapping

from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters.tables import TABLES
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.store.records.run_records import RunRecord


class Exporter(ABC):
    """One format: derive from it, and give `content`, or, where a run is `several` files, `files`. `tables` says that
    it holds one table of those that a run has, which can be named.
    """

    name: str
    suffix: str
    summary: str
    tables: bool = False
    several: bool = False

    def content(self, run: RunRecord, table: str | None = None) -> str | bytes:
        """The whole file. Raises PlanError when the run holds nothing that the format can say, or is several files."""
        made = self.files(run)
        if len(made) != 1:
            raise PlanError(f"this run is {len(made):,} files in the format {self.name}: name a folder with -o")
        return next(iter(made.values()))

    def files(self, run: RunRecord) -> Mapping[str, str | bytes]:
        """The files by their names in a folder. Raises PlanError as `content` does."""
        raise NotImplementedError(f"{self.name} is one file")

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
