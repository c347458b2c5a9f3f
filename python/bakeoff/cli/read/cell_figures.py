"""The cells of a run whose trials are made of them, for `bakeoff show`: pooled over cells a time would be nobody's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.blocks.fit import ConsoleTable
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import RunRecord, TrialRecord

if TYPE_CHECKING:
    from bakeoff.compare.cube.cell_form import CellForm
    from bakeoff.compare.model.cell import CellLevel

# More cells than these are told by test; `--json` and `bakeoff compare --json` have each.
MOST = 120


def cells_in(trial: TrialRecord) -> int:
    """How many cells of a trial were measured; 0 for suites without."""
    return sum(cell.rate_kib_s is not None for cell in trial.figures(Figures).cells or ())


def cell_table(run: RunRecord) -> ConsoleTable | None:
    """Every cell of each contender at each load step, or of very many the range of each test; None without cells."""
    if not any(map(cells_in, run.trials)):
        return None
    from bakeoff.compare.cube.cell_form import SIZES  # the package loads NumPy
    from bakeoff.compare.cube.cell_levels import cell_levels
    from bakeoff.compare.cube.cube import build_cube

    cube = build_cube(run, run.contenders[0].name)
    form, levels = cube.kind.cells or SIZES, cell_levels(cube)
    return _every(levels, form, run) if len(levels) <= MOST and len(form.axes) == 1 else _by_test(levels, form, run)


def _start(console_table: ConsoleTable, form: CellForm, run: RunRecord) -> None:
    console_table.column("contender", numeric=False)
    if len(run.load_steps) > 1:
        console_table.column(run.load_steps[0].unit)
    console_table.column(form.test, numeric=False)


def _named(level: CellLevel, run: RunRecord) -> list[str]:
    from bakeoff.report.narrate.figures.cells import title

    return [level.contender, *([str(level.load_step)] if len(run.load_steps) > 1 else []), title(level.test)]


def _every(levels: tuple[CellLevel, ...], form: CellForm, run: RunRecord) -> ConsoleTable:
    from bakeoff.report.narrate import wording
    from bakeoff.report.narrate.figures.cells import longest_or_p99, size

    console_table = ConsoleTable()
    _start(console_table, form, run)
    console_table.column(form.axes[0].name)
    console_table.column(form.rate_unit)
    console_table.column("least – most", spare=2)
    console_table.column(form.transfers or "transfers/s", spare=1)
    console_table.column("p50 ms")
    console_table.column("p99 ms")
    for level in levels:
        rate, least, most = (form.rate_scale * r for r in (level.kib_s.centre, level.kib_s.least, level.kib_s.most))
        console_table.row(
            *_named(level, run),
            size(level.record_kib),
            wording.figures(rate) + wording.forfeits_of(level.forfeited, level.tried),
            f"{wording.figures(least, 3)} – {wording.figures(most, 3)}",
            wording.rate(level.transfers_s.centre),
            wording.figures(level.p50_ms.centre, 3),
            longest_or_p99(level),
        )
    return console_table


def _by_test(levels: tuple[CellLevel, ...], form: CellForm, run: RunRecord) -> ConsoleTable:
    from bakeoff.report.narrate import wording
    from bakeoff.report.narrate.figures.cells import ranges

    console_table = ConsoleTable()
    _start(console_table, form, run)
    for what in ("cells", f"mean {form.rate_unit}", "minimum", "maximum"):
        console_table.column(what)
    for group in ranges(levels):
        rates = (wording.figures(form.rate_scale * kib_s) for kib_s in group.rates_kib_s)
        console_table.row(*_named(group.lowest, run), str(group.cells), *rates)
    return console_table
