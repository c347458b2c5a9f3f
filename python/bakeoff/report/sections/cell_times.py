"""Times of single operations in the cells, and the CPU they cost."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable

from bakeoff.compare import wording
from bakeoff.compare.cell_words import title
from bakeoff.compare.cells import cells_of, key_of
from bakeoff.mix import Mix
from bakeoff.report.blocks import Block, Column, Section, Table, Text
from bakeoff.report.context import Context
from bakeoff.report.sections.heat_map import label
from bakeoff.store.figures import CellFigures, ServiceTimes

Pick = Callable[[CellFigures], float | None]


def section(context: Context) -> Section | None:
    """Percentiles by test and size for each contender, and CPU per I/O where that was measured."""
    compared = context.comparison.cells
    if compared is None:
        return None
    wanted: tuple[tuple[str, Pick], ...] = (
        ("p50 in ms", _percentile(lambda times: times.p50_ns)),
        ("p95 in ms", _percentile(lambda times: times.p95_ns)),
        ("p99 in ms", _percentile(lambda times: times.p99_ns)),
        ("CPU per I/O in µs", lambda cell: cell.cpu_us_per_io),
    )
    blocks: list[Block] = []
    for mix in context.comparison.run.mixes:
        at = "" if mix.is_one else f", {mix} {mix.unit}"
        for name in context.names:
            for what, pick in wanted:
                rows, sizes = _rows(context, name, mix, pick)
                if rows:
                    columns = (Column("Test", numeric=False), *(Column(label(kib)) for kib in sizes))
                    blocks.append(Table(f"{what}, {name}{at}", columns, rows, folded=True))
    if not blocks:
        return None
    size, *others = (axis.name for axis in compared.form.axes)
    over = wording.names([*(f"{other}s" for other in others), "blocks"])
    intro = f"From the histogram of each cell: single operations by {size}, geometric mean over {over}."
    return Section("times-of-cells", "Times of single operations", (Text(intro), *blocks))


def _percentile(of: Callable[[ServiceTimes], float | None]) -> Pick:
    def pick(cell: CellFigures) -> float | None:
        nanoseconds = None if cell.service is None else of(cell.service)
        return None if nanoseconds is None else nanoseconds / 1e6

    return pick


def _rows(context: Context, name: str, mix: Mix, pick: Pick) -> tuple[tuple[tuple[str, ...], ...], list[float | None]]:
    logs: dict[tuple[str, float | None], list[float]] = defaultdict(list)
    for trial in context.at(name, mix):
        for cell in cells_of(trial):
            value = pick(cell)
            if value is not None and value > 0.0 and not cell.skipped:
                test, _, record = key_of(cell)
                logs[test, None if record is None else record / 1024.0].append(math.log(value))
    sizes = sorted({size for _, size in logs}, key=lambda kib: -1.0 if kib is None else kib)
    rows = []
    for test in dict.fromkeys(test for test, _ in logs):
        by_size = [logs.get((test, size)) for size in sizes]
        shown = (wording.figures(math.exp(math.fsum(some) / len(some)), 3) if some else "" for some in by_size)
        rows.append((title(test), *shown))
    return tuple(rows), sizes
