"""What each contender reached in the cells, in absolute figures: rates with the least and the most, and times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bakeoff.compare.cube.cell_form import CellForm
from bakeoff.compare.model.cell import CellComparison, CellLevel
from bakeoff.core.thresholds import P99_OPERATIONS
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import longest_or_p99, ranges, size, title
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.sections.cells.heat_map import capital, label, sizes_in_order

# More rows than this are for looking things up: they are folded, below what they come to.
LONG = 30
# More contenders than this do not fit beside each other with all figures: each then has a row.
SIDE_BY_SIDE = 2
TIMES = (
    "Times are of single transfers, from the histogram of the cell: no cell is pooled with another. With fewer than "
    f"{P99_OPERATIONS} transfers in some block there is no p99, and the longest of all stands for it."
)


@report_section("rates-of-cells", detail=Detail.SUMMARY)
def section(context: Context) -> Section | None:
    """The range of each test in the open, then every cell."""
    compared = context.comparison.cells
    if compared is None:
        return None
    form = compared.form
    if len(form.axes) > 1:
        return Section("The rates of all cells", (_ranges(context, compared), *_matrices(context, compared)))
    every = tuple(_every_cell(context, compared))
    is_open = any(isinstance(block, Table) and not block.folded for block in every)
    ranges = replace(_ranges(context, compared), detail=Detail.DETAILS if is_open else Detail.COMPARISON)
    return Section("Rates and response times of all cells", (ranges, *every))


def _ranges(context: Context, compared: CellComparison) -> Table:
    """A row for each test (and load step): the mean of its cells, the lowest and the highest of them, and where."""
    form, load_steps = compared.form, context.comparison.run.load_steps
    several = len(load_steps) > 1
    columns = [Column(f"{capital(form.test)}{f', {context.load_step_unit}' if several else ''}", numeric=False)]
    for name in context.names:
        columns += [Column(what, group=name) for what in ("mean", "minimum", "maximum")]
    rows = []
    for load_step in load_steps:
        for test in compared.tests:
            row = [f"{title(test)}, {load_step}" if several else title(test)]
            for name in context.names:
                row += _range([level for level in compared.at(name, load_step) if level.test == test], form)
            rows.append(tuple(row))
    note = f"Mean: geometric, over the cells of a {form.test} and their blocks. In brackets the size of the cell."
    caption = f"{form.rate_unit} of each {form.test}"
    return Table(caption, tuple(columns), tuple(rows), note, folded=len(rows) > LONG, detail=Detail.COMPARISON)


def _range(levels: Sequence[CellLevel], form: CellForm) -> tuple[str, str, str]:
    if not (known := ranges(levels)):
        return (wording.MISSING,) * 3
    (group,) = known
    mean, *ends = (wording.figures(kib_s * form.rate_scale) for kib_s in group.rates_kib_s)
    least, most = (f"{end} ({_sizes(at, form)})" for end, at in zip(ends, (group.lowest, group.highest), strict=True))
    return mean, least, most


def _sizes(level: CellLevel, form: CellForm) -> str:
    """ "4K", and of two sizes "1M file, 4K"."""
    record = label(level.record_kib)
    return f"{label(level.file_kib)} file, {record}" if len(form.axes) > 1 else record


def _every_cell(context: Context, compared: CellComparison) -> Iterator[Block]:
    """Of cells that differ by one size all that was measured; one table, or of many cells one for each test."""
    for load_step in context.comparison.run.load_steps:
        at = "" if load_step.is_one and len(context.comparison.run.load_steps) == 1 else f", {load_step.words}"
        levels = [level for level in compared.measured if level.load_step == load_step]
        number = len({(level.test, level.record_kib) for level in levels})
        names = [name for name in context.names if any(level.contender == name for level in levels)]
        if not names:
            continue
        parts = [compared.tests] if number <= LONG else [(test,) for test in compared.tests]
        tables = [_cells(context, compared, load_step, tests, names) for tests in parts]
        for place, (tests, table) in enumerate(zip(parts, tables, strict=True)):
            what = "Every cell" if len(tests) > 1 or len(parts) == 1 else capital(title(tests[0]))
            last = place == len(tables) - 1
            named = replace(table, title=f"{what}: rates and response times{at}", note=_note(levels) if last else "")
            # Of several load steps the figures against them stand by themselves, and these are for looking up.
            folded = len(table.rows) > LONG or len(context.comparison.run.load_steps) > 1
            yield replace(named, folded=folded, detail=Detail.PAGE if folded else Detail.SUMMARY)


def _note(levels: Sequence[CellLevel]) -> str:
    reasons = list(dict.fromkeys(sentence(level.reason) for level in levels if level.reason is not None))
    forfeited = sum(level.forfeited for level in levels)
    note = f"Least and most are of blocks. {TIMES}"
    if forfeited:
        note += f" Lost: blocks in which nothing moved, for a client at least ({forfeited:,} in all)."
    return f"{note} Not measured: {'; '.join(reasons[:4])}." if reasons else note


def _cells(
    context: Context, compared: CellComparison, load_step: LoadStep, tests: Sequence[str], names: list[str]
) -> Table:
    form = compared.form
    at = {
        (level.contender, level.test, level.record_kib): level
        for level in compared.measured
        if level.load_step == load_step
    }
    keys = [
        (test, record)
        for test in tests
        for record in sizes_in_order([size_ for _, named, size_ in at if named == test])
    ]
    heads = _heads(form)
    axis = form.axes[0].name
    # One column names a row, also where a narrow terminal goes on with the others below.
    first = Column(f"{capital(form.test)}, {axis}" if len(tests) > 1 else capital(axis), numeric=len(tests) == 1)

    def start(test: str, record: float | None) -> str:
        return f"{title(test)}, {label(record)}" if len(tests) > 1 else size(record)

    if len(names) <= SIDE_BY_SIDE:
        grouped = [replace(head, group=name if len(names) > 1 else "") for name in names for head in heads]
        rows = [
            (start(*key), *(text for name in names for text in _figures(at.get((name, *key)), form))) for key in keys
        ]
        return Table("", (first, *grouped), tuple(rows))
    rows = [(f"{start(*key)}, {name}", *_figures(at.get((name, *key)), form)) for key in keys for name in names]
    return Table("", (Column(f"{first.title}, contender", numeric=False), *heads), tuple(rows))


def _heads(form: CellForm) -> tuple[Column, ...]:
    """The figures of a cell."""
    return (
        Column(form.rate_unit),
        Column("least – most", spare=2),
        Column(form.transfers or "transfers/s", spare=1),
        Column("p50 ms"),
        Column("p99 ms"),
    )


def _figures(level: CellLevel | None, form: CellForm) -> tuple[str, ...]:
    if level is None or not (level.blocks or level.forfeited):
        return (wording.MISSING,) * 5
    forfeited = wording.forfeits_of(level.forfeited, level.tried)
    rates = [rate * form.rate_scale for rate in (level.kib_s.centre, level.kib_s.least, level.kib_s.most)]
    return (
        f"{wording.figures(rates[0])}{forfeited}",
        f"{wording.figures(rates[1], 3)} – {wording.figures(rates[2], 3)}" if level.blocks else wording.MISSING,
        wording.rate(level.transfers_s.centre),
        wording.figures(level.p50_ms.centre, 3),
        longest_or_p99(level),
    )


def _matrices(context: Context, compared: CellComparison) -> Iterator[Block]:
    """Of cells that differ by two sizes the rates, file sizes down and record sizes across."""
    form, load_steps = compared.form, context.comparison.run.load_steps
    across, down = (axis.name for axis in form.axes)
    yield Text(
        f"For looking up, folded, in print in the appendix: the {form.rate_unit} of every cell, a table for each "
        f"contender{' and load step' if len(load_steps) > 1 else ''}, {form.tests} and {down}s down, {across}s across."
    )
    for load_step in load_steps:
        at = "" if load_step.is_one else f", {load_step.words}"
        for name in context.names:
            levels = [level for level in compared.at(name, load_step) if level.blocks]
            if levels:
                yield _matrix(levels, f"{form.rate_unit} of {name}{at}: all {len(levels):,} cells", form)


def _matrix(levels: Sequence[CellLevel], caption: str, form: CellForm) -> Table:
    """A row for each test and file size, a column for each record size."""
    records = sizes_in_order([level.record_kib for level in levels])
    by = {(level.test, level.file_kib, level.record_kib): level.kib_s.centre * form.rate_scale for level in levels}
    rows = []
    for test in dict.fromkeys(level.test for level in levels):
        for file in sizes_in_order([level.file_kib for level in levels if level.test == test]):
            rates = (by.get((test, file, record), math.nan) for record in records)
            shown = (wording.figures(rate) if math.isfinite(rate) else "" for rate in rates)
            rows.append((f"{title(test)}, {label(file)}", *shown))
    across, down = (axis.name for axis in form.axes)
    columns = (Column(f"{capital(form.test)}, {down}", numeric=False), *(Column(label(record)) for record in records))
    return Table(caption, columns, tuple(rows), f"Geometric mean over blocks, by {across}.", folded=True)
