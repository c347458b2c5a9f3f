"""What comparisons know of the matrix of file sizes, record sizes and tests."""

from __future__ import annotations

from bakeoff.compare.cube.cell_form import SIZES
from bakeoff.kinds.files.compare import FileWork


class Matrix(FileWork):
    cells = SIZES


PART = Matrix()
