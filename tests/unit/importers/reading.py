"""Texts and bytes read as files of a format."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable
from bakeoff.formats.importers import importer
from bakeoff.formats.importers.base import Options


def table_of(format_: str, content: str | bytes, suffix: str = "", **said: Any) -> ForeignTable:
    """What the importer of a format reads of a file with this content."""
    with tempfile.NamedTemporaryFile("wb", suffix=suffix) as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        return importer(format_).read(Source(Path(file.name)), Options(**said))
