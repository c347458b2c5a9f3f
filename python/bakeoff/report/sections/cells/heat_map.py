"""Ratios of all cells as heat maps, with what they say in sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from bakeoff.compare.cube.cell_form import CellForm
from bakeoff.compare.cube.cells import CellKey
from bakeoff.compare.cube.regions import Region, regions_of
from bakeoff.compare.model.cell import Average, CellPair, CellRatio
from bakeoff.report.blocks.severity import ratio_cell
from bakeoff.report.blocks.tree import Block, Bullets, Chart, Column, Section, Table, Text
from bakeoff.report.charts.heat import Cell, heat_map, of_ratios, ratio_range
from bakeoff.report.charts.palette import colour_of
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import WEIGHTED, pair_summary, sentences_of_tests, size, title
from bakeoff.report.narrate.sentences import sentence

# Maps with no more columns than this are readable at half the width, and on narrow screens.
NARROW = 7
# Room for names of tests, and of sizes, at the left of a map, in pixels.
TEST_NAMES_PX, SIZE_NAMES_PX = 124, 66
# Outliers in the open; of more the farthest.
OUTLIERS = 10
MORE = "Maps of the other pairs: `bakeoff report --pair NAME,NAME`, or `--pair all` for every one in a fold."


@report_section("heat-map", detail=Detail.SUMMARY)
def section(context: Context) -> Section | None:
    """For each pair: averages, an overview, a map for each test, what stands out. Pairs without the baseline that were
    not asked for are in folds where they are few, and else as many words as they need.
    """
    compared = context.comparison.cells
    if compared is None:
        return None
    base = context.comparison.run.baseline
    pairs = sorted(compared.pairs, key=lambda pair: context.names.index(pair.contender))
    regions = regions_of(context.run.planned.settings)
    drawn = context.drawn(pairs, len(compared.measured))
    blocks: list[Block] = []
    shown: set[tuple[str, str]] = set()
    for number, (pair, folded) in enumerate(drawn):
        if not folded and (pair.baseline, pair.contender) not in shown:
            shown.add((pair.baseline, pair.contender))
            blocks.append(Text(_legend(pair, compared.blocks)))
        # Of one load step the headline has the summary.
        several = len(context.comparison.run.load_steps) > 1 and pair.baseline == base
        sentences = (*pair_summary(pair)[1:], *sentences_of_tests(pair)) if several else sentences_of_tests(pair)
        # Where the table of every cell is on the first screen, sentences on each test are not.
        detail = Detail.SUMMARY if len(compared.form.axes) > 1 else Detail.DETAILS
        blocks += [replace(_averages(pair, compared.form, regions), folded=folded), Bullets(sentences, detail)]
        limit = ratio_range([cell.ratio for cell in pair.cells])
        colours = (colour_of(pair.baseline, context.names), colour_of(pair.contender, context.names))
        drawing = _Drawing(pair, colours, limit, compared.form, f"heat-{number}", compared.blocks)
        shown_in = (*drawing.charts(), *_stand_out(pair, compared.form))
        blocks += [in_fold(block, against(pair), folded) for block in shown_in]
    there = {id(pair) for pair, _ in drawn}
    for pair in compared.pairs:
        if id(pair) not in there:
            blocks += [
                replace(_averages(pair, compared.form, regions), folded=True),
                Bullets(sentences_of_tests(pair), Detail.SUMMARY),
            ]
    if len(drawn) < len(compared.pairs):
        blocks.append(Text(MORE))
    return Section("Ratio of every cell", tuple(blocks)) if blocks else None


def in_fold(block: Block, pair: str, folded: bool) -> Block:
    """The same in a fold, if it is to be and is what can be: its title, which is all one sees, has the pair in it."""
    if not folded or not isinstance(block, Chart | Table):
        return block
    return replace(block, folded=True, title=block.title if pair in block.title else f"{block.title}, {pair}")


def against(pair: CellPair) -> str:
    """ "B ÷ A", with the clients when there are several."""
    at = "" if pair.load_step.is_one else f", {pair.load_step.words}"
    return f"{pair.contender} ÷ {pair.baseline}{at}"


def _legend(pair: CellPair, blocks: int) -> str:
    interval = (
        "Hatched: the 95 % interval of the cell includes 1.00."
        if blocks > 1
        else "One block: there are no intervals, and no cell is more than a number."
    )
    ratio = f"{pair.contender} ÷ {pair.baseline}"
    return (
        f"Each number is {ratio}, geometric mean over blocks: above 1 {pair.contender} is faster. A cell has "
        f"the colour of the one ahead, on a logarithmic scale with 1.00 in the middle. {interval} Corner: only a cache "
        "explains the rate of one of them. Frame: outlier. ×: not measured, or void. Won and lost are after "
        "Benjamini–Hochberg over all cells (q = 0.05)."
    )


def _averages(pair: CellPair, form: CellForm, regions: Sequence[Region]) -> Table:
    named = [(title(average.name), average) for average in pair.tests]
    named.append(("All cells", pair.overall))
    named += [(title(region.average.name), region.average) for region in pair.regions]
    if pair.uncached:
        named.append(("Without cached cells", pair.uncached))
    if pair.without_outliers:
        named.append(("Without outliers", pair.without_outliers))
    columns = (
        Column(capital(form.test), numeric=False),
        Column("Average"),
        Column("95 % interval"),
        Column("Minimum", spare=2),
        Column("Maximum", spare=2),
        Column("Arithmetic", spare=3),
        Column("Cells", spare=1),
        Column("won"),
        Column("lost"),
        Column("tied"),
    )
    note = "Average: geometric mean of the cells, with its interval over blocks. Tied: no difference shown."
    if pair.overall.weighted:
        note = f"{note} Means are weighted by file sizes; sizes without files in the folder are left out."
        unweighted = [
            title(region.words) for region in regions if region.words not in {one.words for one in pair.regions}
        ]
        if unweighted:
            note = f"{note} No mean of the {', '.join(unweighted)}: the folder has no files of its sizes."
    rows = tuple((name, *_average(average)) for name, average in named)
    caption = f"{against(pair)}: geometric means of cells{WEIGHTED if pair.overall.weighted else ''}"
    return Table(caption, columns, rows, note, detail=Detail.SUMMARY)


def _average(a: Average) -> tuple[str, ...]:
    shown, span = wording.ratio, wording.interval(a.low, a.high)
    ended = (a.ahead, a.behind, a.tied)
    judged = a.open < a.cells
    return (
        ratio_cell(shown(a.ratio), a.low, a.high),
        span,
        shown(a.lowest),
        shown(a.highest),
        shown(a.arithmetic),
        f"{a.cells:,}",
        *(f"{number:,}" if judged else wording.MISSING for number in ended),
    )


def _stand_out(pair: CellPair, form: CellForm) -> list[Block]:
    """Outliers with their reasons, and cells that are void; both in the open."""
    columns = (
        Column("Cell", numeric=False),
        Column("Ratio"),
        Column("95 % interval"),
        Column("Why", numeric=False),
    )
    blocks: list[Block] = []
    odd = sorted((c for c in pair.cells if c.outlier), key=lambda c: -abs(math.log(c.ratio)))
    if odd:
        ratios = [(wording.ratio(c.ratio, c.low, c.high), wording.interval(c.low, c.high)) for c in odd]
        rows = tuple((name_of(c, form), *ratio, sentence(c.outlier)) for c, ratio in zip(odd, ratios, strict=True))
        note = "They are counted in every average; the row “Without outliers” leaves them out."
        caption = f"Outliers, {against(pair)}"
        if len(rows) > OUTLIERS:
            blocks.append(
                Table(f"{caption}: the {OUTLIERS} farthest from 1", columns, rows[:OUTLIERS], detail=Detail.SUMMARY)
            )
            blocks.append(Table(f"{caption}: all {len(rows):,}", columns, rows, note, folded=True))
        else:
            blocks.append(Table(caption, columns, rows, note, detail=Detail.SUMMARY))
    void = [cell for cell in pair.cells if cell.state == "void"]
    if void:
        rows = tuple((name_of(c, form), wording.MISSING, wording.MISSING, _reason(c)) for c in void)
        blocks.append(Table(f"Void cells, {against(pair)}", columns, rows, "They are in no average."))
    skipped = [cell for cell in pair.cells if cell.state == "skipped"]
    if skipped:
        reasons = list(dict.fromkeys(map(_reason, skipped)))
        blocks.append(Text(f"{wording.plural(len(skipped), 'cell')} not measured: {'; '.join(reasons[:4])}."))
    return blocks


def _reason(cell: CellRatio) -> str:
    return "" if cell.reason is None else sentence(cell.reason)


def name_of(cell: CellRatio, form: CellForm) -> str:
    """ "read, 64 MiB file, 4 KiB records"; where cells differ by one size "random read, block size 4 KiB"."""
    if len(form.axes) == 1:
        return f"{title(cell.test)}, {form.axes[0].at.format(size(cell.record_kib))}"
    file = f", {size(cell.file_kib)} file" if cell.file_kib is not None else ""
    return f"{title(cell.test)}{file}, {size(cell.record_kib)} records"


def sizes_of(key: CellKey) -> str:
    """ "64 MiB file, 4 KiB records"."""
    _, file, record = key
    known = ((file, "file"), (record, "records"))
    return ", ".join(f"{size(count / 1024.0)} {what}" for count, what in known if count is not None)


class _Drawing:
    """The maps of one pair."""

    def __init__(
        self, pair: CellPair, colours: tuple[str, str], limit: float, form: CellForm, prefix: str, blocks: int
    ) -> None:
        self.pair, self.colours, self.limit, self.form, self.blocks = pair, colours, limit, form, blocks
        self.prefix = f"chart-{prefix}"
        self.tests = tuple(dict.fromkeys(cell.test for cell in pair.cells))

    def charts(self) -> list[Block]:
        """One map where cells differ by one size alone, else an overview and one for each test with several cells."""
        if len(self.form.axes) == 1:
            return [self._by_one_size()] if len(self.pair.cells) > 1 else []
        cells = Counter(cell.test for cell in self.pair.cells)
        return [*self._overviews(), *(self._test(test) for test in self.tests if cells[test] > 1)]

    def _spec(
        self,
        cells: list[Cell],
        columns: list[str],
        rows: list[str],
        words: tuple[str, ...],
        wide: bool,
        margin: int = TEST_NAMES_PX,
    ) -> Chart:
        name, chart_title, subtitle, across, down = words
        titles = (chart_title, subtitle, across, "" if margin == TEST_NAMES_PX else down)
        spec = heat_map(cells, columns, rows, of_ratios(self.colours, self.limit), titles, wide, margin)
        table = map_table(f"{chart_title} (~: interval includes 1, c: cached, !: outlier)", cells, columns, rows, down)
        text = f"{chart_title}: ratio of {against(self.pair)} by {down.lower()} and {across.lower()}."
        return Chart(f"{self.prefix}-{name}", chart_title, text, spec, table, wide)

    def _cell(self, cell: CellRatio, column: str, row: str) -> Cell:
        if not math.isfinite(cell.ratio) or cell.state == "void":
            return Cell(column, row, "×", None)
        text = short(cell.ratio)
        hatched = cell.blocks > 1 and not cell.certain
        return Cell(column, row, text, cell.ratio, hatched, bool(cell.cached), bool(cell.outlier))

    def _test(self, test: str) -> Chart:
        cells = [cell for cell in self.pair.cells if cell.test == test]
        columns = [label(kib) for kib in sizes_in_order([cell.record_kib for cell in cells])]
        rows = [label(kib) for kib in sizes_in_order([cell.file_kib for cell in cells])]
        heat_cells = [self._cell(cell, label(cell.record_kib), label(cell.file_kib)) for cell in cells]
        average = next((a for a in self.pair.tests if a.name == test), None)
        subtitle = f"average {short(average.ratio)}×, {self._ended(average)}" if average else "no cell in common"
        across, down = (capital(axis.name) for axis in self.form.axes)
        words = (test.replace("_", "-"), capital(title(test)), subtitle, across, down)
        return self._spec(heat_cells, columns, rows, words, False, SIZE_NAMES_PX)

    def _by_one_size(self) -> Chart:
        columns = [label(kib) for kib in sizes_in_order([cell.record_kib for cell in self.pair.cells])]
        heat_cells = [self._cell(cell, label(cell.record_kib), title(cell.test)) for cell in self.pair.cells]
        chart_title, subtitle = f"All {self.form.tests}: {against(self.pair)}", self._ended(self.pair.overall)
        across, down = capital(self.form.axes[0].name), capital(self.form.test)
        words = (self.form.tests, chart_title, subtitle, across, down)
        return self._spec(heat_cells, columns, [title(test) for test in self.tests], words, len(columns) > NARROW)

    def _overviews(self) -> list[Chart]:
        """Tests against record sizes; each number is the average over the file sizes."""
        curves = [curve for curve in self.pair.curves if curve.test and curve.axis == "record"]
        sizes = sizes_in_order([point.size_kib for curve in curves for point in curve.points])
        if len(curves) < 2 or len(sizes) < 2:
            return []
        heat_cells = [
            Cell(
                label(point.size_kib),
                title(curve.test),
                short(point.ratio),
                point.ratio,
                hatched=self.blocks > 1 and point.low <= 1.0 <= point.high,
            )
            for curve in curves
            for point in curve.points
        ]
        rows = [title(curve.test) for curve in curves]
        words = (
            "overview",
            f"All {self.form.tests}: {against(self.pair)}",
            f"geometric mean over {self.form.axes[1].name}s",
            capital(self.form.axes[0].name),
            capital(self.form.test),
        )
        return [self._spec(heat_cells, [label(kib) for kib in sizes], rows, words, len(sizes) > NARROW)]

    @staticmethod
    def _ended(average: Average) -> str:
        if average.open == average.cells:
            return f"{average.above} of {average.cells} cells above 1"
        return f"{average.ahead} of {average.cells} cells won, {average.behind} lost"


def capital(words: str) -> str:
    """The words with a capital in front."""
    return f"{words[:1].upper()}{words[1:]}"


def sizes_in_order(values: list[float | None]) -> list[float | None]:
    """Each once, rising; what has no size first."""
    return sorted(set(values), key=lambda kib: -1.0 if kib is None else kib)


def label(kib: float | None) -> str:
    """A size that fits under a narrow column: "64K", "2M", "512"."""
    return size(kib).replace(" KiB", "K").replace(" MiB", "M").replace(" GiB", "G").replace(" B", "")


def short(ratio: float) -> str:
    """A ratio in four characters or so."""
    if not math.isfinite(ratio):
        return wording.MISSING
    if ratio < wording.SMALL:
        return wording.ratio(ratio)
    return f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:.0f}"


def map_table(caption: str, cells: list[Cell], columns: list[str], rows: list[str], down: str) -> Table:
    """The numbers of a map with their marks, in its columns and rows; `down` is what these are."""
    at = {(cell.row, cell.column): _in_table(cell) for cell in cells}
    filled = tuple((row, *(at.get((row, column), "") for column in columns)) for row in rows)
    return Table(caption, (Column(down, numeric=False), *map(Column, columns)), filled)


def _in_table(cell: Cell) -> str:
    marks = "~" * cell.hatched + "c" * cell.cached + "!" * cell.outlier
    return f"{cell.text} {marks}".strip()
