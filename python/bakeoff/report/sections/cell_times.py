"""Times of single operations and the CPU they cost, by test and record size."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from bakeoff.compare import wording
from bakeoff.compare.cell_form import CellForm
from bakeoff.compare.cell_model import CellLevel
from bakeoff.compare.cell_words import title
from bakeoff.report.blocks import Block, Column, Section, Table, Text
from bakeoff.report.context import Context
from bakeoff.report.sections.heat_map import label

Pick = Callable[[CellLevel], float]
WANTED: tuple[tuple[str, Pick], ...] = (
    ("p50 in ms", lambda level: level.p50_ms.centre),
    ("p95 in ms", lambda level: level.p95_ms.centre),
    ("p99 in ms", lambda level: level.p99_ms.centre),
    ("CPU per I/O in µs", lambda level: level.cpu_us),
)


def section(context: Context) -> Section | None:
    """Percentiles and processor time by test and size for each contender. Where cells differ by one size alone the
    table of cells has the percentiles.
    """
    compared = context.comparison.cells
    if compared is None:
        return None
    wanted = WANTED if len(compared.form.axes) > 1 else WANTED[-1:]
    blocks: list[Block] = []
    for mix in context.comparison.run.mixes:
        at = "" if mix.is_one else f", {mix.words}"
        for name in context.names:
            for what, pick in wanted:
                rows, sizes = _rows(compared.at(name, mix), pick)
                if rows:
                    columns = (Column("Test", numeric=False), *(Column(label(kib)) for kib in sizes))
                    blocks.append(Table(f"{what}, {name}{at}", columns, rows, folded=True))
    if not blocks:
        return None
    if len(compared.form.axes) == 1:
        words = f"Folded below: what an I/O costs this machine, {_down_and_across(compared.form)}, mean over blocks."
        return Section("times-of-cells", "Processor time of single I/Os", (Text(words), *blocks))
    over = wording.names([*(f"{axis.name}s" for axis in compared.form.axes[1:]), "blocks"])
    words = (
        "Folded below: p50, p95 and p99 of single operations "
        f"of each contender, {_down_and_across(compared.form)}, from the histogram of each cell; a figure is the "
        f"geometric mean over {over}. A percentile is left out where a cell has too few operations for it. "
        "`bakeoff compare --json` has those of every single cell."
    )
    return Section("times-of-cells", "Times of single operations", (Text(words), *blocks))


def _down_and_across(form: CellForm) -> str:
    return f"{form.tests} down and {form.axes[0].name}s across"


def _rows(levels: Sequence[CellLevel], pick: Pick) -> tuple[tuple[tuple[str, ...], ...], list[float | None]]:
    logs: dict[tuple[str, float | None], list[float]] = defaultdict(list)
    for level in levels:
        value = pick(level)
        if math.isfinite(value) and value > 0.0:
            logs[level.test, level.record_kib].append(math.log(value))
    sizes = sorted({size for _, size in logs}, key=lambda kib: -1.0 if kib is None else kib)
    rows = []
    for test in dict.fromkeys(test for test, _ in logs):
        by_size = [logs.get((test, size)) for size in sizes]
        shown = (wording.figures(math.exp(math.fsum(some) / len(some)), 3) if some else "" for some in by_size)
        rows.append((title(test), *shown))
    return tuple(rows), sizes
