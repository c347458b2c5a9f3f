"""The comparison of cells on a terminal: averages of each test, and sentences."""

from __future__ import annotations

import math

from rich.console import Console
from rich.text import Text

from bakeoff.compare import wording
from bakeoff.compare.cell_form import CellForm
from bakeoff.compare.matrix_model import Average, Matrix, SurfacePair
from bakeoff.compare.matrix_words import WEIGHTED, title
from bakeoff.report.fit import Sheet, fitted

STYLES = {1: "green", -1: "red", 0: ""}


def print_matrix(matrix: Matrix, console: Console) -> None:
    """A table for each pair, then a sentence for each test."""
    for pair in matrix.pairs:
        console.print(fitted(_table(pair, matrix.form), console))
        for sentence in pair.sentences:
            console.print(Text(sentence), soft_wrap=not console.is_terminal)
        for cell in pair.cells:
            if cell.outlier:
                where = title(cell.test) + _sizes(cell.file_kib, cell.record_kib)
                console.print(Text(f"Outlier: {where}: {cell.outlier}"), soft_wrap=not console.is_terminal)


def _sizes(file_kib: float | None, record_kib: float | None) -> str:
    known = [f"{kib:g} KiB {what}" for kib, what in ((file_kib, "file"), (record_kib, "records")) if kib is not None]
    return "".join(f", {text}" for text in known)


def _table(pair: SurfacePair, form: CellForm) -> Sheet:
    clients = f" at {wording.plural(pair.clients, 'client')}" if pair.clients > 1 else ""
    weighted = WEIGHTED if pair.overall.weighted else ""
    sheet = Sheet(f"{pair.contender} ÷ {pair.baseline}{clients}: geometric means of cells{weighted}")
    sheet.column(form.test, numeric=False)
    for name, spare in (("ratio", 0), ("95 % interval", 0), ("min", 2), ("max", 2), ("cells", 1)):
        sheet.column(name, spare=spare)
    for name in ("won", "lost", "tied"):
        sheet.column(name)
    rows = [(title(average.name), average) for average in (*pair.tests, pair.overall)]
    extra = (*(region.average for region in pair.regions), pair.uncached, pair.without_outliers)
    for name, average in rows + [(found.name, found) for found in extra if found]:
        sheet.row(
            name, Text(wording.ratio(average.ratio, average.low, average.high), style=_style(average)), *_rest(average)
        )
    return sheet


def _style(average: Average) -> str:
    return STYLES[1 if average.low > 1.0 else -1 if average.high < 1.0 else 0]


def _rest(a: Average) -> tuple[str, ...]:
    ends = [f"{value:.2f}×" if math.isfinite(value) else wording.MISSING for value in (a.lowest, a.highest)]
    told = a.open < a.cells
    states = (f"{number:,}" if told else wording.MISSING for number in (a.ahead, a.behind, a.tied))
    return (wording.interval(a.low, a.high), *ends, f"{a.cells:,}", *states)
