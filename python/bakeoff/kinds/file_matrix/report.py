"""What reports know of file matrices."""

from __future__ import annotations

from bakeoff.kinds.file_matrix.story import story
from bakeoff.report.kind import ReportPart
from bakeoff.report.layout.context import Context


class FileMatrix(ReportPart):
    def story(self, context: Context) -> tuple[str, ...]:
        return story(context)


PART = FileMatrix()
