"""Tables of text as rows of cells: CSV, TSV, Markdown, spreadsheets."""

from __future__ import annotations

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.grids.grid import Grid
from bakeoff.formats.foreign.grids.text import is_table_text, text_grid
from bakeoff.formats.foreign.grids.xlsx import xlsx_grid
from bakeoff.formats.foreign.source import Source

__all__ = ["Grid", "grid_of", "is_grid", "is_workbook"]
OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"


def is_workbook(source: Source) -> bool:
    """Whether a file is a spreadsheet of the Office Open XML sort, by its first bytes and its name."""
    return source.raw_head.startswith(b"PK\x03\x04") and source.path.suffix.lower() in (".xlsx", ".xlsm")


def is_grid(source: Source) -> bool:
    """Whether a file can be read as a table."""
    old = source.raw_head.startswith(OLD_WORKBOOK)  # known, to be refused by name
    return old or is_workbook(source) or (source.is_text and is_table_text(source.head))


def grid_of(source: Source) -> Grid:
    """The cells of a file. Raises PlanError with the line, or the row, at fault."""
    if source.raw_head.startswith(OLD_WORKBOOK):
        raise PlanError("it is a spreadsheet of the old binary sort (.xls): save it as .xlsx or CSV")
    return xlsx_grid(source) if is_workbook(source) else text_grid(source)
