"""Rows of a table whose figures are arrays: they are made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

from bakeoff.formats.foreign.bulk.digits import Ints
from bakeoff.formats.foreign.bulk.figures import Stretch
from bakeoff.formats.foreign.table import ForeignRow


@dataclass(frozen=True, eq=False)
class Block(Sequence[ForeignRow]):
    """The rows of one contender and part, which all state the same loads and metrics; `lines` rise."""

    contender: str
    part: str
    lines: Ints
    load: Mapping[str, Stretch]
    values: Mapping[str, Stretch]

    def __len__(self) -> int:
        return len(self.lines)

    @overload
    def __getitem__(self, row: int) -> ForeignRow: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[ForeignRow, ...]: ...
    def __getitem__(self, row: int | slice) -> ForeignRow | tuple[ForeignRow, ...]:
        if isinstance(row, slice):
            return tuple(self[at] for at in range(*row.indices(len(self))))
        load = {name: figures[row] for name, figures in self.load.items()}
        values = {name: figures[row] for name, figures in self.values.items()}
        return ForeignRow(self.contender, load, values, int(self.lines[row]), self.part)


class BlockRows(Sequence[ForeignRow]):
    """The rows of all blocks in the order of their lines; those of one line in the order of blocks as given. `blocks`
    are in the order of their first rows.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._across = tuple(block for block in blocks if len(block))
        self.blocks = tuple(sorted(self._across, key=lambda block: int(block.lines[0])))

    def __len__(self) -> int:
        return sum(map(len, self.blocks))

    @overload
    def __getitem__(self, row: int) -> ForeignRow: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[ForeignRow, ...]: ...
    def __getitem__(self, row: int | slice) -> ForeignRow | tuple[ForeignRow, ...]:
        return self._made[row]

    def __iter__(self) -> Iterator[ForeignRow]:
        return iter(self._made)

    @cached_property
    def _made(self) -> tuple[ForeignRow, ...]:
        return tuple(sorted((row for block in self._across for row in block), key=lambda row: row.line))


def count_numbers(rows: Sequence[ForeignRow]) -> int:
    """How many numbers rows have, loads among them."""
    if isinstance(rows, BlockRows):
        return sum(len(block) * (len(block.load) + len(block.values)) for block in rows.blocks)
    return sum(len(row.load) + len(row.values) for row in rows)
