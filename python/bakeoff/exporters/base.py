"""What an exporter provides."""

from typing import Protocol

from bakeoff.store.records import RunRecord


class Exporter(Protocol):
    """One format."""

    name: str
    suffix: str
    summary: str

    def text(self, run: RunRecord) -> str:
        """The whole file. Raises PlanError when the run holds nothing that the format can say."""
