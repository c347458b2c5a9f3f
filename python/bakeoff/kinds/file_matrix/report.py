"""What reports know of file matrices."""

from __future__ import annotations

from bakeoff.kinds.file_matrix.story import narrative
from bakeoff.report.kind import ReportPart
from bakeoff.report.layout.context import Context


class FileMatrix(ReportPart):
    def narrative(self, context: Context) -> tuple[str, ...]:
        return narrative(context)


PART = FileMatrix()
