"""Rows of cells, as text."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.formats.foreign.source import refused

# A table of results that people compare; logs of millions of rows have importers of their own.
MOST_ROWS = 100_000
MOST_COLUMNS = 1_000
MOST_CELLS = 1_000_000
MOST_CELL = 10_000


@dataclass(frozen=True)
class GridRow:
    """The cells of one row, from the left, and the line on which it begins."""

    line: int
    cells: tuple[str, ...]

    def cell(self, column: int) -> str:
        """The text of a column (from 0); empty behind the last one."""
        return self.cells[column] if column < len(self.cells) else ""

    @property
    def filled(self) -> int:
        """How many of its cells are not empty."""
        return sum(bool(cell) for cell in self.cells)


@dataclass(frozen=True)
class Grid:
    """A table: `kind` is what it was written as (`CSV`), `notes` what of the file is not in it."""

    kind: str
    rows: tuple[GridRow, ...]
    notes: tuple[str, ...] = ()


class GridMaker:
    """Collects rows, within bounds. Raises PlanError beyond them."""

    def __init__(self) -> None:
        self.rows: list[GridRow] = []
        self._cells = 0

    def add(self, line: int, cells: list[str]) -> None:
        """One row; without anything in it, it is left out."""
        if len(cells) > MOST_COLUMNS:
            raise refused(line, f"it has more than {MOST_COLUMNS:,} columns: is it a table of results?")
        if any(len(cell) > MOST_CELL for cell in cells):
            raise refused(line, f"a cell has more than {MOST_CELL:,} characters: is it a table of results?")
        made = GridRow(line, tuple([" ".join(cell.split()) for cell in cells]))
        if not made.filled:
            return
        self._cells += len(cells)
        if len(self.rows) >= MOST_ROWS or self._cells > MOST_CELLS:
            raise refused(line, f"the table is larger than {MOST_ROWS:,} rows or {MOST_CELLS:,} cells")
        self.rows.append(made)
