"""`bakeoff show`: the trials of a run file, for people or for programs."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bakeoff.cli.console import make_console
from bakeoff.cli.shares import agents_sheet, share_objects
from bakeoff.mix import named
from bakeoff.report.fit import Sheet, fitted
from bakeoff.store.read import read_run
from bakeoff.store.records import OK, START_COUNTS, RunRecord, StartsRecord, Summary, TrialRecord
from bakeoff.units import format_size

# Requests that failed, of each contender; all are in --json.
FAILED_SHOWN = 10
# What only Bakeoff states of a trial that it measured itself.
OF_THE_GENERATOR = (
    "seed",
    "fairness_jain",
    "generator_cpu_us_per_operation",
    "generator_cpu_share",
    "generator_run_delay_share",
    "generator_rss_bytes",
    "generator_lag_ms",
    "generator_late_start_ms",
)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("show")(show)


def show(
    path: Annotated[Path, typer.Argument(metavar="RUN.bakeoff", help="Run file.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON array with one object per trial.")] = False,
    events: Annotated[bool, typer.Option("--events", help="List events too.")] = False,
) -> None:
    """List the trials of a run file."""
    run = read_run(path)
    if as_json:
        not_stated = {} if run.imported_from is None else dict.fromkeys(OF_THE_GENERATOR)
        lines = [json.dumps(trial_object(t) | not_stated, allow_nan=False) for t in run.trials]
        typer.echo("[\n" + ",\n".join(lines) + "\n]" if lines else "[]")
        return
    console = make_console()
    _print_head(console, run)
    console.print(fitted(_table(run), console))
    if (agents := agents_sheet(run)) is not None:
        console.print(fitted(agents, console))
    if any(t.marks for t in run.trials):
        console.print("what a mark means: bakeoff explain MARK", markup=False)
    for t in run.trials:
        if t.state != OK:
            where = f"block {t.block}, {t.contender}, {t.mix} {t.mix.unit}"
            console.print(f"{where}: {t.state}: {t.reason}", markup=False, soft_wrap=True)
    _print_failed(console, run)
    if events:
        for event in run.events:
            console.print(f"{event.at} {event.level}: {event.text}", markup=False, soft_wrap=True)


def _print_failed(console: Console, run: RunRecord) -> None:
    """Which requests failed: the first of each contender."""
    from bakeoff.compare.failed import failed_requests  # the package loads NumPy

    for contender in run.contenders:
        failed = failed_requests([t for t in run.trials if t.contender == contender.name])
        for row in failed.rows[:FAILED_SHOWN]:
            text = f"{contender.name}: failed: {row.request}: {row.told({})}"
            console.print(text, markup=False, soft_wrap=True)
        more = failed.others + sum(row.count for row in failed.rows[FAILED_SHOWN:])
        if more:
            console.print(f"{contender.name}: failed: {more:,} of other requests; --json has them", markup=False)


def milliseconds(s: Summary) -> dict[str, float | None]:
    """A summary as JSON values in milliseconds; null where there was no operation."""
    values = {
        "mean": s.mean_ns,
        "p50": s.p50_ns,
        "p95": s.p95_ns,
        "p99": s.p99_ns,
        "p999": s.p999_ns,
        "max": s.max_ns,
    }
    return {name: None if value is None else value / 1e6 for name, value in values.items()}


def trial_object(t: TrialRecord) -> dict[str, Any]:
    """One trial as JSON values; times in ms, rates per second, counts of the measured window."""
    return {
        "id": t.id,
        "contender": t.contender,
        **named(t.mix, "mix_"),
        "block": t.block,
        "order": t.order,
        "seed": t.seed,
        "state": t.state,
        "reason": t.reason,
        "marks": list(t.marks),
        "started_at": t.started_at,
        "window_s": t.window_s,
        "operations": t.operations,
        "operations_per_s": t.operations_per_s,
        "bytes_in": t.bytes_in,
        "bytes_out": t.bytes_out,
        "bytes_per_s": t.bytes_per_s,
        "errors": t.errors,
        "statuses": t.statuses,
        "service_ms": milliseconds(t.service),
        "per_operation": {
            o.name: {
                "operations": o.operations,
                "errors": o.errors,
                "bytes_in": o.bytes_in,
                "service_ms": milliseconds(o.service),
            }
            for o in t.per_operation
        },
        "steps_ms": {s.name: milliseconds(s.summary) for s in t.steps},
        "connections": t.connections,
        "fairness_jain": t.fairness_jain,
        "generator_cpu_us_per_operation": t.generator_cpu_us_per_operation,
        "generator_cpu_share": t.generator_cpu_share,
        "generator_run_delay_share": t.generator_run_delay_share,
        "generator_rss_bytes": t.generator_rss_bytes,
        "generator_lag_ms": milliseconds(t.generator_lag),
        "generator_late_start_ms": milliseconds(t.generator_late_start),
        "per_agent": share_objects(t),
        "workload": t.workload,
        **({} if t.starts is None else _planned(t.starts, t.response)),
    }


def _planned(starts: StartsRecord, response: Summary | None) -> dict[str, Any]:
    """What a trial at a rate has besides; `late_ms` are the starts that found every connection busy."""
    return {
        "response_ms": None if response is None else milliseconds(response),
        "starts": {
            **{name: getattr(starts, name) for name in START_COUNTS},
            "late_ms": milliseconds(starts.late),
        },
    }


def _print_head(console: Console, run: RunRecord) -> None:
    missing = run.trials_planned - len(run.trials)
    state = "complete" if run.finished_at else f"not complete, {missing} of {run.trials_planned} trials missing"
    size = f"size {run.plan.get('size')}, " if run.imported_from is None else ""
    by = f"plan {run.plan_hash[:12]}, seed {run.plan.get('seed')}"
    if run.imported_from is not None:
        by = f"imported from {run.imported_from}, without a plan"
    lines = [
        f"{run.name}: suite {run.suite}, {size}{run.created_at}, {state}",
        f"{by}, {run.blocks_planned} blocks, mixes " + ", ".join(map(str, run.mixes)),
    ]
    lines += [f"contender {c.name}: {c.address}" + (f" (reset: {c.reset})" if c.reset else "") for c in run.contenders]
    if run.upgraded_from is not None:
        lines.append(
            f"read from run file version {run.upgraded_from}"
            + ("" if run.upgraded_from >= 3 else ", which had no seals: whether it is as it was written cannot be seen")
        )
    if run.null_operations_per_s:
        lines.append(f"the generator's own ceiling (null workload): {run.null_operations_per_s:,.0f} operations/s")
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _table(run: RunRecord) -> Sheet:
    table = Sheet()
    table.column("order", spare=5)
    table.column("block", spare=1)
    table.column("contender", numeric=False)
    table.column(run.mixes[0].unit)
    table.column("operations/s")
    table.column("bytes/s", spare=3)
    table.column("mean ms", spare=2)
    table.column("p50 ms", spare=4)
    table.column("p99 ms")
    table.column("errors")
    table.column("CPU µs/op", spare=6)
    table.column("state", numeric=False)
    for t in run.trials:
        ms = milliseconds(t.service)
        table.row(
            str(t.order),
            str(t.block),
            t.contender,
            str(t.mix),
            f"{t.operations_per_s:,.1f}",
            format_size(t.bytes_per_s),
            _figure(ms["mean"]),
            _figure(ms["p50"]),
            _figure(ms["p99"]),
            f"{t.errors_total:,}",
            f"{t.generator_cpu_us_per_operation:.1f}" if run.imported_from is None else "-",
            " ".join([t.state, *t.marks]),
        )
    return table


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
