"""Times of single operations and the CPU they cost, by test and record size.

A figure is a mean over file sizes. It is over the same cells for all contenders: whoever has too few operations for a
percentile in its slowest cells would look the faster for it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from bakeoff.compare.cube.cell_form import CellForm
from bakeoff.compare.model.cell import CellComparison, CellLevel
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Block, Chart, Column, Section, Table, Text
from bakeoff.report.charts.axes import Doublings, Logs
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.theme import Row
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import title
from bakeoff.report.sections.cells.heat_map import capital, label, sizes_in_order

Pick = Callable[[CellLevel], float]
# Test, file size and record size in KiB.
Cell = tuple[str, float | None, float | None]
# By test and record size in KiB.
Means = Mapping[tuple[str, float | None], float]
P50: tuple[str, Pick] = ("p50 in ms", lambda level: level.p50_ms.centre)
P99: tuple[str, Pick] = ("p99 in ms", lambda level: level.p99_ms.centre)
WANTED: tuple[tuple[str, Pick], ...] = (
    P50,
    ("p95 in ms", lambda level: level.p95_ms.centre),
    P99,
    ("CPU per I/O in µs", lambda level: level.cpu_us),
)
# Tests that are drawn in the open where they were done; the others are in folds.
USUAL = frozenset({"read", "write", "random_read", "random_write"})


@report_section("times-of-cells", in_full=True)
def section(context: Context) -> Section | None:
    """Charts of percentiles against the record size, and tables of them and of processor time by test and size. Where
    cells differ by one size alone the table of cells has the percentiles.
    """
    compared = context.comparison.cells
    if compared is None:
        return None
    form = compared.form
    wanted = WANTED if len(form.axes) > 1 else WANTED[-1:]
    charts: list[Block] = []
    tables: list[Block] = []
    for place, load_step in enumerate(context.comparison.run.load_steps):
        charts += _charts(context, compared, load_step, place) if len(form.axes) > 1 else []
        at = "" if load_step.is_one else f", {load_step.words}"
        for what, pick in wanted:
            means = _means(context, compared, load_step, pick)
            tables += [_table(f"{what}, {name}{at}", of_one) for name, of_one in means.items() if of_one]
    if not tables:
        return None
    if len(form.axes) == 1:
        subtitle = f"{_down_and_across(form)}, mean over blocks"
        words = f"What an I/O costs this machine, {subtitle}: folded, in print in the appendix."
        return Section("Processor time of single I/Os", (Text(words), *tables))
    axis, over = form.axes[0].name, wording.names([*(f"{axis.name}s" for axis in form.axes[1:]), "blocks"])
    words = (
        f"p50, p95 and p99 of single operations by {axis}, from the histogram of each cell. A figure is the geometric "
        f"mean over {over}, of cells in which all contenders have it. A cell with too few operations for a percentile "
        f"is left out of it. Folded: tables, {_down_and_across(form)}. `bakeoff compare --json` has those of every "
        "single cell."
    )
    return Section("Times of single operations", (Text(words), *charts, *tables))


def _down_and_across(form: CellForm) -> str:
    return f"{form.tests} down and {form.axes[0].name}s across"


def _means(context: Context, compared: CellComparison, load_step: LoadStep, pick: Pick) -> dict[str, Means]:
    """Of each contender the geometric mean by test and record size, over the cells in which all have a figure that have
    any of that test.
    """
    found = {name: _known(compared.at(name, load_step), pick) for name in context.names}
    common = _common(found.values())
    means: dict[str, Means] = {}
    for name, of_one in found.items():
        logs: dict[tuple[str, float | None], list[float]] = defaultdict(list)
        for key, value in of_one.items():
            if key in common:
                logs[key[0], key[2]].append(math.log(value))
        means[name] = {key: math.exp(math.fsum(some) / len(some)) for key, some in logs.items()}
    return means


def _common(found: Iterable[Mapping[Cell, float]]) -> set[Cell]:
    """What all have that did anything of a test: who failed it altogether takes it from nobody."""
    by_test: dict[str, list[set[Cell]]] = defaultdict(list)
    for of_one in found:
        for test in {key[0] for key in of_one}:
            by_test[test].append({key for key in of_one if key[0] == test})
    return {key for sets in by_test.values() for key in set.intersection(*sets)}


def _known(levels: Sequence[CellLevel], pick: Pick) -> dict[Cell, float]:
    picked = {(level.test, level.file_kib, level.record_kib): pick(level) for level in levels}
    return {key: value for key, value in picked.items() if math.isfinite(value) and value > 0.0}


def _table(caption: str, means: Means) -> Table:
    sizes = sizes_in_order([size for _, size in means])
    rows = [
        (title(test), *(wording.figures(means[test, size], 3) if (test, size) in means else "" for size in sizes))
        for test in dict.fromkeys(test for test, _ in means)
    ]
    columns = (Column("Test", numeric=False), *(Column(label(kib)) for kib in sizes))
    return Table(caption, columns, tuple(rows), folded=True)


def _charts(context: Context, compared: CellComparison, load_step: LoadStep, place: int) -> list[Chart]:
    """p50 and p99 of each test against the record size; the usual tests first."""
    means = {time: _means(context, compared, load_step, pick) for time, (_, pick) in (("p50", P50), ("p99", P99))}
    usual = [test for test in compared.tests if test in USUAL] or list(compared.tests[:1])
    others = [test for test in compared.tests if test not in usual]
    charts = []
    for test in (*usual, *others):
        rows: list[Row] = [
            {"contender": name, "size": size, "time": time, "value": float(f"{value:.6g}")}
            for time, of_all in means.items()
            for name, of_one in of_all.items()
            for (of_test, size), value in of_one.items()
            if of_test == test and size is not None
        ]
        if len({row["size"] for row in rows}) > 1:
            charts.append(
                _chart(context, compared.form, test, load_step, rows, f"chart-times-{place}-{test}", test in others)
            )
    return charts


def _chart(
    context: Context, form: CellForm, test: str, load_step: LoadStep, rows: list[Row], id_: str, folded: bool
) -> Chart:
    axis = form.axes[0].name
    at = "" if load_step.is_one else f", {load_step.words}"
    name = f"{capital(title(test))}{at}: response time, ms"
    over = f"geometric mean over {form.axes[1].name}s and blocks"
    titles, across = (name, f"bold: p99, thin: p50; {over}"), Doublings(capital(axis), "size", label)
    drawing = lines(rows, context.names, across, Logs("ms"), titles, bold="p99")
    text = f"{name}, p50 and p99 of {wording.names(list(context.names))} by {axis}."
    return Chart(id_.replace("_", "-"), name, text, drawing, _numbers(context, axis, name, rows), folded=folded)


def _numbers(context: Context, axis: str, caption: str, rows: list[Row]) -> Table:
    """A row for each size."""
    at = {(row["size"], row["contender"], row["time"]): row["value"] for row in rows}
    heads = [(name, time) for name in context.names for time in ("p50", "p99")]
    columns = (Column(capital(axis)), *(Column(f"{time} ms", group=name) for name, time in heads))
    shown = tuple(
        (label(size), *(wording.figures(at.get((size, *head), math.nan), 3) for head in heads))
        for size in sorted({row["size"] for row in rows})
    )
    return Table(caption, columns, shown)
