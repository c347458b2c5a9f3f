"""`bakeoff show`: the trials of a run file, for people or for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from bakeoff.cli.complete import run_files
from bakeoff.cli.console import make_console, print_line
from bakeoff.cli.read.agent_results import agent_table
from bakeoff.cli.read.cell_figures import cell_table, cells_in
from bakeoff.core.errors import PlanError
from bakeoff.core.redact import hidden
from bakeoff.core.times import ms_of
from bakeoff.core.units import format_size, plural
from bakeoff.report.blocks.fit import ConsoleTable, fitted
from bakeoff.report.embed.redacted_rows import HiddenRows
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.mark_docs import legend
from bakeoff.store.records.run_records import OK, RunRecord, TrialRecord
from bakeoff.store.records.unresponsive import unresponsive_contenders, unresponsive_text
from bakeoff.store.sqlite.read import read_run

if TYPE_CHECKING:
    from bakeoff.compare.metrics.metric import Metric

# Requests that failed, of each contender; all are in --json.
FAILED_SHOWN = 10


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("show")(show)


def show(
    path: Annotated[
        Path | None, typer.Argument(metavar="RUN.bakeoff", help="Run file.", autocompletion=run_files)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="All that the run file holds but histograms, as one JSON document.")
    ] = False,
    schema: Annotated[
        bool, typer.Option("--json-schema", help="Print the JSON Schema of that document instead; needs no run file.")
    ] = False,
    events: Annotated[bool, typer.Option("--events", help="List events too.")] = False,
) -> None:
    """List the trials of a run file.

    `trial` is the number that reports call a trial by. `order` is its place in the run, counted from 0, as in the
    report, in JSON and in exported tables.
    """
    if schema:
        from bakeoff.formats.exporters.document_model import json_schema

        typer.echo(json.dumps(json_schema(), indent=2))
        return
    if path is None:
        raise PlanError("name a run file: bakeoff show RUN.bakeoff")
    run = HiddenRows().run(read_run(path))
    if as_json:
        from bakeoff.formats.exporters.document import document_lines  # loads NumPy

        typer.echo("\n".join(document_lines(run)))
        return
    console = make_console()
    _print_head(console, run)
    console.print(fitted(_table(run), console))
    if (cells := cell_table(run)) is not None:
        console.print(fitted(cells, console))
    if (agents := agent_table(run)) is not None:
        console.print(fitted(agents, console))
    for line in legend(mark for t in run.trials for mark in t.marks):
        print_line(console, line)
    for t in run.trials:
        if t.state != OK:
            where = f"block {t.block}, {t.contender}, {t.load_step.words}"
            print_line(console, f"{where}: {t.state}: {t.reason}")
    for name, why in unresponsive_contenders(run).items():
        print_line(console, unresponsive_text(name, why))
    _print_failed(console, run)
    if events:
        for event in run.events:
            print_line(console, f"{event.at} {event.level}: {event.text}")


def _print_failed(console: Console, run: RunRecord) -> None:
    """Which requests failed: the first of each contender."""
    from bakeoff.compare.failures.failed_requests import failed_requests  # the package loads NumPy
    from bakeoff.report.narrate.validity.failed_requests import faults

    for contender in run.contenders:
        failed = failed_requests([t for t in run.trials if t.contender == contender.name])
        for row in failed.rows[:FAILED_SHOWN]:
            text = f"{contender.name}: failed: {row.request}: {faults(row, {})}"
            print_line(console, text)
        more = failed.others + sum(row.count for row in failed.rows[FAILED_SHOWN:])
        if more:
            console.print(f"{contender.name}: failed: {more:,} of other requests; --json has them", markup=False)


def _print_head(console: Console, run: RunRecord) -> None:
    from bakeoff.compare.failures.content import changed_of  # takes a moment to load
    from bakeoff.compare.model.settings import of_single
    from bakeoff.report.narrate.validity.content import changed_sentences

    missing = f"{len(run.pending)} of {run.trials_planned} trials missing" if run.pending else "it did not end"
    state = "complete" if run.is_complete and run.finished_at else f"not complete, {missing}"
    size = f"size {run.planned.size}, " if run.imported_from is None else ""
    by = f"plan {run.plan_hash[:12]}, seed {run.planned.seed}"
    if run.imported_from is not None:
        by = f"imported from {run.imported_from}, without a plan"
    lines = [
        f"{run.name}: suite {run.suite}, {size}{run.created_at}, {state}",
        f"{by}, {plural(run.blocks_planned, 'block')}, load steps " + ", ".join(map(str, run.load_steps)),
    ]
    lines += [f"{a.at} {a.contender or 'the plan'}: {a.text}, after {a.blocks_seen} blocks" for a in run.amendments]
    lines += [f"contender {c.name}: {c.address}" + (f" (reset: {c.reset})" if c.reset else "") for c in run.contenders]
    lines[2:2] = changed_sentences(changed_of(run))
    lines += [f"settings of {name} alone: {_plain(own)}" for name, own in of_single(run.plan).items()]
    for line in (*lines, *_generator_capacities(run)):
        print_line(console, line)


def _generator_capacities(run: RunRecord) -> list[str]:
    """What the generator can ask at most, for each way of asking."""
    from bakeoff.compare.validity.generator_capacity import (  # takes a moment to load
        GeneratorCapacity,
        generator_capacities,
    )

    by_way: dict[GeneratorCapacity, list[str]] = {}
    for name, capacity in generator_capacities(run).items():
        by_way.setdefault(capacity, []).append(name)
    lines = []
    for capacity, names in by_way.items():
        whose = "" if len(names) == len(run.contenders) else f", for {', '.join(names)}"
        asked = f"the null server on loopback, {capacity.words}{whose}"
        rate = f"{capacity.at_least}{capacity.operations_per_s:,.0f} operations/s"
        lines.append(f"the generator's own capacity ({asked}): {rate}")
    return lines


def _plain(own: Mapping[str, Any]) -> str:
    """Settings on a line, without secrets."""
    return ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in hidden(dict(own)).items())


def _decides(run: RunRecord) -> Metric | None:
    """The rate that is compared, where that is not of operations: mail is told in messages, files in bytes."""
    if not run.trials:
        return None
    from bakeoff.compare.cube.cube import build_cube  # the package loads NumPy
    from bakeoff.compare.metrics.metrics import rate_of
    from bakeoff.compare.shapes import shape_of

    cube = build_cube(run, run.contenders[0].name)
    rate = rate_of(shape_of(run).endpoints(run, cube))
    return None if rate.unit == f"{cube.kind.work}/s" else rate


def _table(run: RunRecord) -> ConsoleTable:
    table = ConsoleTable()
    table.column("trial", spare=5)
    table.column("order", spare=7)
    table.column("block", spare=1)
    table.column("contender", numeric=False)
    # A search names no loads beforehand.
    table.column(next((load_step.unit for load_step in (*run.load_steps, *(t.load_step for t in run.trials))), "load"))
    of_cells = any(map(cells_in, run.trials))
    rate = None if of_cells else _decides(run)
    if rate is not None:
        table.column(rate.unit)
    if of_cells:
        table.column("cells")
    else:
        table.column("operations/s")
        table.column("bytes/s", spare=3)
        table.column("mean ms", spare=2)
        table.column("p50 ms", spare=4)
        table.column("p99 ms")
    table.column("errors")
    table.column("CPU µs/op", spare=6)
    table.column("state", numeric=False)
    for t in run.trials:
        table.row(
            str(t.id),
            str(t.order),
            str(t.block),
            t.contender,
            str(t.load_step),
            *([] if rate is None else [_number(rate.extract(t))]),
            *([f"{cells_in(t):,}"] if of_cells else _of_whole(t)),
            f"{t.errors_total:,}" if t.figures(Figures).errors_stated else "-",
            f"{t.generator_cpu_us_per_operation:.1f}" if run.imported_from is None else "-",
            " ".join([t.state, *t.marks]),
        )
    return table


def _of_whole(t: TrialRecord) -> tuple[str, ...]:
    times = (t.service.mean_ns, t.service.p50_ns, t.service.p99_ns)
    nobody = t.figures(Figures).not_stated
    rate = "-" if "operations_per_s" in nobody else f"{t.operations_per_s:,.1f}"
    return (rate, "-" if "bytes_per_s" in nobody else format_size(t.bytes_per_s), *map(_figure, times))


def _number(value: float) -> str:
    return f"{value:,.1f}" if math.isfinite(value) else "-"


def _figure(time_ns: float | None) -> str:
    return "-" if time_ns is None else f"{ms_of(time_ns):.3f}"
