"""What other tools wrote, read. To add one whose results are to be compared: a new file here, and a line below.

Its module has `read(text)`, see bakeoff.formats.importers.base.Importer. What is a setting of a plan instead (Iometer's
configurations) is read by the kind of suite that has the setting.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from bakeoff.formats.importers.base import Importer

# The names of tools as `bakeoff import` knows them, with what is read of each.
IMPORTERS = {
    "iozone": "what IOzone prints: its matrix of files and records (-a, or -s and -r)",
}


def importer(tool: str) -> Importer:
    """The importer of a tool, loaded now. Raises KeyError when there is none of that name."""
    if tool not in IMPORTERS:
        raise KeyError(tool)
    return cast("Importer", importlib.import_module(f"bakeoff.formats.importers.{tool}"))
