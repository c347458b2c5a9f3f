"""What a trial of block sizes tells."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bakeoff.store.records.figures import MOST_CELLS, CellFigures, Count, Figures, Number, Shape

MOST_BINS = 64


class Direction(Shape):
    """Transfers of one direction; times in ns."""

    ios: Count = 0
    bytes: Count = 0
    errors: Count = 0
    total_ns: Count = 0
    max_ns: Count = 0


class Transactions(Shape):
    """Transfers with their replies; times in ns."""

    count: Count = 0
    total_ns: Count = 0
    max_ns: Count = 0


class BlockCell(CellFigures):
    """A cell with its directions; `bins` count transfers by their time. Of several machines the last client began
    `late_s` after the moment that was set for all, its ramp left out.
    """

    outstanding: Count = 1
    late_s: Number | None = None
    ios_per_s: Number = 0.0
    reads: Direction = Direction()
    writes: Direction = Direction()
    transactions: Transactions = Transactions()
    bins: Annotated[tuple[Count, ...], Field(max_length=MOST_BINS)] = ()


class BlockFigures(Figures):
    """All clients work on one region of `region_bytes`."""

    cells: Annotated[tuple[BlockCell, ...], Field(max_length=MOST_CELLS)] | None = None
    region_bytes: Count | None = None

    def working_set_bytes(self, clients: int) -> int:
        return super().working_set_bytes(clients if self.region_bytes is None else 1)


PART = BlockFigures
