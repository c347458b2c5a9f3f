"""What comparisons know of block sizes: one file, so that cells differ by one size."""

from __future__ import annotations

from bakeoff.compare.cube.cell_form import MB_S, CellForm, SizeAxis
from bakeoff.kinds.files.compare import FileWork


class Blocks(FileWork):
    cells = CellForm(
        test="pattern",
        tests="patterns",
        axes=(SizeAxis("record", "block size", "block size {}"),),
        rate_unit="MB/s",
        rate_scale=MB_S,
        transfers="I/O per second",
    )


PART = Blocks()
