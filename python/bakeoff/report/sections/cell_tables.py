"""The rates behind the ratios: KiB/s, or MB/s and I/O per second, of each contender."""

from __future__ import annotations

import math
from collections import defaultdict

from bakeoff.compare import wording
from bakeoff.compare.cell_form import CellForm
from bakeoff.compare.cell_words import size, title
from bakeoff.compare.cells import cells_of, key_of, rate_of
from bakeoff.mix import Mix
from bakeoff.report.blocks import Block, Column, Section, Table
from bakeoff.report.context import Context
from bakeoff.report.sections.heat_map import capital, label

Rates = dict[tuple[str, float | None, float | None], float]


def section(context: Context) -> Section | None:
    """Geometric means over blocks, and transfers a second where the form has a name for them."""
    compared = context.comparison.cells
    if compared is None:
        return None
    blocks: list[Block] = []
    for mix in context.comparison.run.mixes:
        at = "" if mix.is_one else f", {mix} {mix.unit}"
        for name in context.names:
            rates = _rates(context, name, mix)
            if not rates:
                continue
            form, whose = compared.form, f"of {name}{at}"
            if len(form.axes) > 1:
                blocks.append(_by_two_sizes(rates, f"{form.rate_unit} {whose}", form))
            else:
                blocks.append(_by_one_size(rates, f"{form.rate_unit} {whose}", form, False))
            if form.transfers:
                blocks.append(_by_one_size(rates, f"{form.transfers} {whose}", form, True))
    return Section("rates-of-cells", "The rates of all cells", tuple(blocks)) if blocks else None


def _rates(context: Context, name: str, mix: Mix) -> Rates:
    """KiB/s by test, file KiB and record KiB."""
    logs: dict[tuple[str, float | None, float | None], list[float]] = defaultdict(list)
    for trial in context.at(name, mix):
        for cell in cells_of(trial):
            rate = rate_of(cell)
            if math.isfinite(rate):
                test, file, record = key_of(cell)
                kib = tuple(None if b is None else b / 1024.0 for b in (file, record))
                logs[test, kib[0], kib[1]].append(math.log(rate))
    return {key: math.exp(math.fsum(values) / len(values)) for key, values in logs.items()}


def _by_one_size(rates: Rates, caption: str, form: CellForm, transfers: bool) -> Table:
    """Sizes down, tests across."""
    tests = list(dict.fromkeys(test for test, _, _ in rates))
    sizes = sorted({record for _, _, record in rates}, key=lambda kib: kib or 0.0)
    by = {(test, record): rate for (test, _, record), rate in rates.items()}
    rows = []
    for record in sizes:
        cells = []
        for test in tests:
            rate = by.get((test, record), math.nan)
            # I/O of mixed sizes have no one size to divide by.
            value = rate * form.rate_scale if not transfers else rate / record if record else math.nan
            cells.append(wording.figures(value))
        rows.append((size(record), *cells))
    columns = (Column(capital(form.axes[0].name)), *(Column(title(test)) for test in tests))
    return Table(caption, columns, tuple(rows), folded=transfers)


def _by_two_sizes(rates: Rates, caption: str, form: CellForm) -> Table:
    """A row for each test and file size, a column for each record size."""
    records = sorted({record for _, _, record in rates}, key=lambda kib: kib or 0.0)
    lines = dict.fromkeys((test, file) for test, file, _ in rates)
    tests = list(dict.fromkeys(test for test, _ in lines))
    ordered = sorted(lines, key=lambda line: (tests.index(line[0]), line[1] or 0.0))
    shown = {key: wording.count(form.rate_scale * rate) for key, rate in rates.items()}
    rows = tuple(
        (f"{title(test)}, {label(file)}", *(shown.get((test, file, record), "") for record in records))
        for test, file in ordered
    )
    across, down = (axis.name for axis in form.axes)
    columns = (Column(f"{capital(form.test)}, {down}", numeric=False), *(Column(label(record)) for record in records))
    return Table(caption, columns, rows, f"Geometric mean over blocks, by {across}.", folded=True)
