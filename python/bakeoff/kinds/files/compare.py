"""What comparisons know of file work of any kind."""

from __future__ import annotations

from bakeoff.compare.kind import ComparePart


class FileWork(ComparePart):
    work = "file operations"
