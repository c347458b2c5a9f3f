"""Did all clients get their share?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from bakeoff.compare.cube.cells import cells_of, idle_clients, key_of
from bakeoff.report.blocks.tree import Chart, Column, Section, Table, Text
from bakeoff.report.charts.axes import Shares, by_load_step
from bakeoff.report.charts.bars import bars
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import title
from bakeoff.store.records.figures import CellFigures
from bakeoff.store.records.run_records import TrialRecord


# Connections of an open-loop load stand in for each other.
@report_section("fairness", in_full=True)
def section(context: Context) -> Section | None:
    """The least and the most served client of any trial, relative to the mean client of that trial; nothing for a
    client alone.
    """
    if context.comparison.run.load_steps[0].is_one and len(context.comparison.run.load_steps) == 1:
        return None
    rows: list[Row] = []
    cells = []
    for load_step in context.comparison.run.load_steps:
        line = [f"{load_step}"]
        for name in context.names:
            # A rate has connections in place of clients, used as needed: shares of them would say nothing.
            trials = [t for t in context.at(name, load_step) if t.per_client and t.operations and t.starts is None]
            if not trials:
                line += [wording.MISSING] * 3
                continue
            low, high = min(_extreme(t, min) for t in trials), max(_extreme(t, max) for t in trials)
            jain = min(trial.fairness_jain for trial in trials)
            rows.append({"contender": name, "load_step": str(load_step), "low": known(low), "high": known(high)})
            line += [f"{low:.0%}", f"{high:.0%}", f"{jain:.4f}"]
        cells.append(tuple(line))
    if not rows:
        return None
    columns = [Column(context.load_step_title)]
    for name in context.names:
        columns += [
            Column("least", group=name),
            Column("most", group=name),
            Column("lowest Jain index", group=name),
        ]
    of_cells = _in_cells(context)
    table = Table("Operations of a client, relative to the mean client of its trial", tuple(columns), tuple(cells))
    spec = bars(
        rows,
        context.names,
        by_load_step(context.comparison.run.load_steps),
        Shares("operations, mean client = 100 %"),
        ("Least and most served client", "of each trial, relative to its mean client; worst block"),
    )
    description = "Range of operations over the clients of a trial, relative to the mean, at each load step."
    note = Text(
        "A server can look fast by serving some clients and starving others. 100 % is an equal share.", explains=True
    )
    chart = Chart("chart-fairness", "Fairness over clients", description, spec, table)
    return Section("Fairness", (note, chart, *of_cells))


def _in_cells(context: Context) -> list[Table]:
    """How the clients of single cells fared, where trials are made of cells."""
    rows = []
    for load_step in context.comparison.run.load_steps:
        for name in context.names:
            by_test: dict[str, list[CellFigures]] = defaultdict(list)
            for trial in context.at(name, load_step):
                for cell in cells_of(trial):
                    if not cell.skipped and len(cell.per_client) > 1:
                        by_test[key_of(cell)[0]].append(cell)
            rows += [(f"{load_step}", name, title(test), *_clients(cells)) for test, cells in by_test.items()]
    columns = (
        Column(context.load_step_title),
        Column("Contender", numeric=False),
        Column("Test", numeric=False),
        Column("Cells of all blocks"),
        Column("with a starved client"),
        Column("with an idle one"),
        Column("Slowest ÷ fastest client"),
        Column("Last ÷ first done"),
    )
    note = (
        "Starved: (next to) nothing in a cell in which the others were served; it counts as a loss of that cell. Idle: "
        "not one transfer, for whatever reason. The last two columns: the most uneven cell."
    )
    return [Table("Clients in single cells", columns, tuple(rows), note, folded=True)] if rows else []


def _clients(cells: list[CellFigures]) -> tuple[str, ...]:
    starved = sum(bool(idle_clients(cell)) for cell in cells)
    idle = sum(bool(cell.idle_clients) or any(not moved_bytes for moved_bytes, _ in cell.per_client) for cell in cells)
    even = [(cell.slowest_kib_s or 0.0) / cell.fastest_kib_s for cell in cells if cell.fastest_kib_s]
    late = [(cell.last_done_s or 0.0) / cell.first_done_s for cell in cells if cell.first_done_s]
    return (
        f"{len(cells):,}",
        f"{starved:,}",
        f"{idle:,}",
        f"{min(even):.0%}" if even else wording.MISSING,
        f"{max(late):.2f}×" if late else wording.MISSING,
    )


def _extreme(trial: TrialRecord, pick: Callable[[list[int]], int]) -> float:
    counts = [client.operations for client in trial.per_client]
    mean = sum(counts) / len(counts)
    return float(pick(counts)) / mean if mean else 0.0
