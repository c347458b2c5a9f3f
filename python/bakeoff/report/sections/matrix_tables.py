"""The rates behind the ratios: KiB/s, or MB/s and I/O per second, of each contender."""

from __future__ import annotations

import math
from collections import defaultdict

from bakeoff.compare import wording
from bakeoff.compare.matrix_words import BLOCKS, size, title
from bakeoff.compare.surface import cells_of, key_of, rate_of
from bakeoff.report.blocks import Block, Column, Section, Table
from bakeoff.report.context import Context
from bakeoff.report.sections.heat_map import label

Rates = dict[tuple[str, float | None, float | None], float]


def section(context: Context) -> Section | None:
    """Geometric means over blocks. For block sizes MB/s and I/O per second, for a matrix KiB/s."""
    matrix = context.comparison.matrix
    if matrix is None:
        return None
    blocks: list[Block] = []
    for clients in context.comparison.run.mixes:
        at = f", {clients} clients" if clients > 1 else ""
        for name in context.names:
            rates = _rates(context, name, clients)
            if not rates:
                continue
            if matrix.kind == BLOCKS:
                blocks.append(_by_pattern(rates, f"MB/s of {name}{at}", 1024.0 / 1e6, False))
                blocks.append(_by_pattern(rates, f"I/O per second of {name}{at}", 1.0, True))
            else:
                blocks.append(_surface(rates, f"KiB/s of {name}{at}"))
    return Section("rates-of-cells", "The rates of all cells", tuple(blocks)) if blocks else None


def _rates(context: Context, name: str, clients: int) -> Rates:
    """KiB/s by test, file KiB and record KiB."""
    logs: dict[tuple[str, float | None, float | None], list[float]] = defaultdict(list)
    for trial in context.at(name, clients):
        for cell in cells_of(trial):
            rate = rate_of(cell)
            if math.isfinite(rate):
                test, file, record = key_of(cell)
                kib = tuple(None if b is None else b / 1024.0 for b in (file, record))
                logs[test, kib[0], kib[1]].append(math.log(rate))
    return {key: math.exp(math.fsum(values) / len(values)) for key, values in logs.items()}


def _by_pattern(rates: Rates, caption: str, scale: float, per_io: bool) -> Table:
    """Block sizes down, patterns across."""
    tests = list(dict.fromkeys(test for test, _, _ in rates))
    sizes = sorted({record for _, _, record in rates}, key=lambda kib: kib or 0.0)
    by = {(test, record): rate for (test, _, record), rate in rates.items()}
    rows = []
    for record in sizes:
        cells = []
        for test in tests:
            rate = by.get((test, record), math.nan)
            # I/O of mixed sizes have no one size to divide by.
            value = rate * scale if not per_io else rate / record if record else math.nan
            cells.append(wording.figures(value))
        rows.append((size(record), *cells))
    columns = (Column("Block size"), *(Column(title(test)) for test in tests))
    return Table(caption, columns, tuple(rows), folded=per_io)


def _surface(rates: Rates, caption: str) -> Table:
    """A row for each test and file size, a column for each record size."""
    records = sorted({record for _, _, record in rates}, key=lambda kib: kib or 0.0)
    lines = dict.fromkeys((test, file) for test, file, _ in rates)
    tests = list(dict.fromkeys(test for test, _ in lines))
    ordered = sorted(lines, key=lambda line: (tests.index(line[0]), line[1] or 0.0))
    rows = tuple(
        (
            f"{title(test)}, {label(file)}",
            *(wording.count(rates[test, file, r]) if (test, file, r) in rates else "" for r in records),
        )
        for test, file in ordered
    )
    columns = (Column("Test, file size", numeric=False), *(Column(label(record)) for record in records))
    return Table(caption, columns, rows, "Geometric mean over blocks, by record size.", folded=True)
