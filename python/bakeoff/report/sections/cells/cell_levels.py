"""A single contender's cells as maps of what it reached: where there is nobody to divide by."""

from __future__ import annotations

import math
from collections.abc import Callable

from bakeoff.compare.cube.cell_form import CellForm
from bakeoff.compare.model.cell import CellComparison, CellLevel
from bakeoff.core.thresholds import P99_OPERATIONS
from bakeoff.report.blocks.tree import Block, Chart, Section, Text
from bakeoff.report.charts.heat import Cell, heat_map, of_levels
from bakeoff.report.charts.palette import colour_of, place_of
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import title
from bakeoff.report.sections.cells.heat_map import (
    NARROW,
    SIZE_NAMES_PX,
    TEST_NAMES_PX,
    capital,
    label,
    map_table,
    sizes_in_order,
)

LEGEND = (
    "Each number is the geometric mean over blocks; the deeper the colour, the higher, on one logarithmic scale for "
    "all maps of a figure. Corner: only a cache explains the rate. ×: not measured, or void."
)
Pick = Callable[[CellLevel], float]


@report_section("levels", in_full=True)
def section(context: Context) -> Section | None:
    """A map of rates for each test, or one of all where cells differ by one size; there also one of p99."""
    compared = context.comparison.cells
    if compared is None or compared.pairs:
        return None
    blocks: list[Block] = [Text(LEGEND, explains=True)]
    several = len(context.names) > 1
    for name in context.names:
        series = place_of(name, context.names)
        for number, load_step in enumerate(context.comparison.run.load_steps):
            levels = compared.at(name, load_step)
            whose = [name] if several else []
            whose += [] if load_step.is_one else [load_step.words]
            maps = _Maps(compared, levels, ", ".join(whose), colour_of(name, context.names), f"{series}-{number}")
            blocks += maps.charts()
    return Section("What every cell reached", tuple(blocks)) if len(blocks) > 1 else None


class _Maps:
    """The maps of one contender at one load step."""

    def __init__(self, compared: CellComparison, levels: tuple[CellLevel, ...], whose: str, colour: str, id_: str):
        self.form: CellForm = compared.form
        self.levels, self.colour, self.id = levels, colour, id_
        self.whose = f", {whose}" if whose else ""
        self.tests = tuple(dict.fromkeys(level.test for level in levels))

    def charts(self) -> list[Chart]:
        form = self.form
        if len(form.axes) > 1:
            ends = _ends([self._rate(level) for level in self.levels])
            return [self._of_test(test, ends) for test in self.tests] if ends else []
        charts = [
            self._of_all(form.rate_unit, "rate", self._rate),
            self._of_all(
                "response times, p99 in ms",
                "p99",
                lambda level: level.p99_ms.centre,
                f"; ×: under {P99_OPERATIONS} transfers in some block",
            ),
        ]
        return [chart for chart in charts if chart is not None]

    def _rate(self, level: CellLevel) -> float:
        return level.kib_s.centre * self.form.rate_scale

    def _of_all(self, figure: str, name: str, pick: Pick, note: str = "") -> Chart | None:
        ends = _ends([pick(level) for level in self.levels])
        if ends is None:
            return None
        columns = [label(kib) for kib in sizes_in_order([level.record_kib for level in self.levels])]
        cells = [_cell(level, label(level.record_kib), title(level.test), pick) for level in self.levels]
        words = (f"{capital(figure)}{self.whose}", f"by {self.form.test} and {self.form.axes[0].name}{note}")
        across, down = capital(self.form.axes[0].name), capital(self.form.test)
        return self._chart(
            name, words, cells, columns, [title(t) for t in self.tests], (across, down), ends, len(columns) > NARROW
        )

    def _of_test(self, test: str, ends: tuple[float, float]) -> Chart:
        levels = [level for level in self.levels if level.test == test]
        columns = [label(kib) for kib in sizes_in_order([level.record_kib for level in levels])]
        rows = [label(kib) for kib in sizes_in_order([level.file_kib for level in levels])]
        cells = [_cell(level, label(level.record_kib), label(level.file_kib), self._rate) for level in levels]
        known = [rate for level in levels if math.isfinite(rate := self._rate(level))]
        least, most = (wording.figures(end, 3) for end in (min(known), max(known))) if known else ("–", "–")
        words = (f"{capital(title(test))}{self.whose}", f"{self.form.rate_unit}, from {least} to {most}")
        across, down = (capital(axis.name) for axis in self.form.axes)
        return self._chart(
            test.replace("_", "-"), words, cells, columns, rows, (across, down), ends, False, SIZE_NAMES_PX
        )

    def _chart(
        self,
        name: str,
        words: tuple[str, str],
        cells: list[Cell],
        columns: list[str],
        rows: list[str],
        axes: tuple[str, str],
        ends: tuple[float, float],
        wide: bool,
        margin: int = TEST_NAMES_PX,
    ) -> Chart:
        across, down = axes
        titles = (*words, across, "" if margin == TEST_NAMES_PX else down)
        spec = heat_map(cells, columns, rows, of_levels(self.colour, *ends), titles, wide, margin)
        table = map_table(f"{words[0]}, {words[1]} (c: cached)", cells, columns, rows, down)
        text = f"{words[0]}: {words[1]}, a number for each {down.lower()} and {across.lower()}."
        return Chart(f"chart-heat-level-{self.id}-{name}", words[0], text, spec, table, wide)


def _ends(values: list[float]) -> tuple[float, float] | None:
    known = [value for value in values if math.isfinite(value) and value > 0.0]
    return (min(known), max(known)) if known else None


def _cell(level: CellLevel, column: str, row: str, pick: Pick) -> Cell:
    value = pick(level)
    if not math.isfinite(value):
        return Cell(column, row, "×", None)
    return Cell(column, row, compact(value), value, cached=level.cached)


def compact(value: float) -> str:
    """A figure in five characters or so: 0.0123, 4.56, 789, 10.7k."""
    if value >= 9999.5:
        return f"{value / 1000:.3g}k" if value < 999_500 else f"{value / 1e6:.3g}M"
    return wording.figures(value, 3) if value < 999.5 else f"{value:,.0f}"
