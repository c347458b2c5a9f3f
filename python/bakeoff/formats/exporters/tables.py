"""A run as tables of tidy rows: in each table every row is one thing, every column one figure, units last in names.

The first columns are those of the trial, in all tables, so that they can be joined. A figure that a trial does not have
is None.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from bakeoff.core.errors import PlanError
from bakeoff.core.times import ms_of
from bakeoff.formats.exporters.csv_text import Value
from bakeoff.load.load_step import InFlight, LoadStep, OfCapacity, Rate, StatedLoad
from bakeoff.store.records.figure import fields_of
from bakeoff.store.records.figures import CellFigures, Figures, Shape, figures_of
from bakeoff.store.records.run_records import AROUND, RunRecord, SoakIntervalRecord, TrialRecord
from bakeoff.store.records.trial_parts import START_COUNTS, AgentResultRecord, Summary

Row = dict[str, Value]
MOST_COLUMNS = 2_000
# Names that become columns; those of paths and mailboxes do not.
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
# Columns that have another name than the figure of a trial's record.
COLUMNS = {"bytes_in": "in_bytes", "bytes_out": "out_bytes", "bytes_per_s": "in_bytes_per_s"}
# Numbers of a trial that stand at the front of its row, and those that lead the others.
AT_THE_FRONT = ("window_s", "operations", "operations_per_s", "bytes_in", "bytes_out", "bytes_per_s")
FIRST = ("fairness_jain", "generator_cpu_share", "generator_cpu_us_per_operation", "generator_run_delay_share")
_NUMBERS = (one.name for one in fields_of(TrialRecord) if one.figure is not None and one.hint in (int, float))
NUMBERS = tuple(dict.fromkeys((*FIRST, *(name for name in _NUMBERS if name not in (*AT_THE_FRONT, *AROUND)))))
# Figures of any kind that have tables of their own, or stand in the columns of the trial.
ELSEWHERE = frozenset({"began_at", "cells", "failed", "stated", "not_stated"})


@dataclass(frozen=True)
class Table:
    """`rows` have a value for each of the `columns`."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


def table_of(run: RunRecord, name: str | None = None) -> Table:
    """A table of `TABLES`; without a name that of cells for a run whose trials are made of them, else that of trials.

    Raises PlanError when it has too many columns to be of a run.
    """
    name = name or ("cells" if any(_cells(trial) for trial in run.trials) else "trials")
    rows = list(TABLES[name].rows(run))
    columns = tuple(dict.fromkeys(column for row in rows or [dict.fromkeys(of_trial(None))] for column in row))
    if len(columns) > MOST_COLUMNS:
        raise PlanError(f"the trials tell more than {MOST_COLUMNS:,} different figures: use --to json")
    return Table(name, columns, tuple(tuple(row.get(column) for column in columns) for row in rows))


def of_trial(trial: TrialRecord | SoakIntervalRecord | None) -> Row:
    """By which a row is found again: the columns that all tables begin with."""
    load_step = None if trial is None else trial.load_step
    own: Row = dict.fromkeys(("contender", "block", "order"))
    if trial is not None:
        own |= {"contender": trial.contender, "block": trial.block, "order": trial.order}
    return {**own, **of_load_step(load_step)}


def of_load_step(load_step: LoadStep | None) -> Row:
    """The load: clients and how much each has in flight, or what is offered a second and how."""
    found: Row = dict.fromkeys(
        ("clients", "outstanding", "offered_per_s", "arrivals", "most_connections", "share_of_capacity")
    )
    if isinstance(load_step, OfCapacity):
        return {
            **found,
            **({} if load_step.of is None else of_load_step(load_step.of)),
            "share_of_capacity": load_step.share,
        }
    if isinstance(load_step, Rate):
        shape = load_step.to_json()["rate"]["arrivals"]["shape"]
        return {
            **found,
            "offered_per_s": load_step.per_s,
            "arrivals": shape,
            "most_connections": load_step.most_connections,
        }
    if isinstance(load_step, StatedLoad):
        return {**found, "load": load_step.words if load_step.name else None}
    if isinstance(load_step, InFlight):
        found["outstanding"] = load_step.outstanding
    return found if load_step is None else {**found, "clients": load_step.clients}


def times_ms(summary: Summary | None, prefix: str) -> Row:
    """The figures of a histogram in milliseconds."""
    figures = ("mean", "p50", "p95", "p99", "p999", "max", "min")
    values = {name: None if summary is None else getattr(summary, f"{name}_ns") for name in figures}
    return {f"{prefix}_{name}_ms": ms_of(value) for name, value in values.items()}


def counts(prefix: str, values: Mapping[str, Any]) -> Row:
    """Counts by name, each in a column."""
    return {f"{prefix}_{name}": count for name, count in values.items() if PLAIN.fullmatch(name)}


def left_out(run: RunRecord) -> dict[int, str]:
    """By order of the trial, why its figures are in no statistic of the comparison; what counts is not there."""
    from bakeoff.compare.cube.cube import build_cube, why_unusable  # NumPy takes a moment
    from bakeoff.compare.shapes import shape_of
    from bakeoff.report.narrate.sentences import sentence

    reasons = {trial.order: reason for trial in run.trials if (reason := why_unusable(trial)) is not None}
    if run.contenders and run.trials:
        cube = build_cube(shape_of(run).view(run), run.contenders[0].name)
        reasons |= {one.order: one.reason for one in cube.left_out}
    return {order: sentence(reason) for order, reason in reasons.items()}


def _state(trial: TrialRecord, reasons: Mapping[int, str]) -> Row:
    return {
        "state": trial.state,
        "reason": trial.reason or None,
        "marks": " ".join(trial.marks) or None,
        "left_out": reasons.get(trial.order),
        "started_at": trial.started_at,
        "traffic_began_at": trial.figures(Figures).began_at,
    }


def _trials(run: RunRecord) -> Iterator[Row]:
    reasons, stated, scopes = left_out(run), run.imported_from is None, _scopes(run)
    for trial in run.trials:
        yield {
            **of_trial(trial),
            **_state(trial, reasons),
            "trial": trial.id,
            "purpose": trial.purpose or None,
            "share_of_capacity": trial.share
            if trial.share is not None
            else of_load_step(trial.load_step)["share_of_capacity"],
            "met_objective": None if trial.judged is None else trial.judged.met,
            "seed": trial.seed if stated else None,
            "window_s": trial.window_s,
            "operations": trial.operations,
            "operations_per_s": trial.operations_per_s,
            "in_bytes": trial.bytes_in,
            "out_bytes": trial.bytes_out,
            "in_bytes_per_s": trial.bytes_per_s,
            "errors": trial.errors_total if trial.figures(Figures).errors_stated else None,
            **counts("errors", trial.errors),
            **counts("statuses", trial.statuses),
            **counts("connections", trial.connections),
            **times_ms(trial.service, "service"),
            **times_ms(trial.response, "response"),
            **{name: None if trial.starts is None else getattr(trial.starts, name) for name in START_COUNTS},
            **times_ms(None if trial.starts is None else trial.starts.late, "late"),
            **(_of_the_generator(trial) if stated else dict.fromkeys(_of_the_generator(trial))),
            **_of_the_contender(trial, scopes.get(trial.contender, "")),
            **own_figures(trial.figures(figures_of(run.kind)), without=ELSEWHERE),
            **dict.fromkeys(COLUMNS.get(name, name) for name in trial.figures(Figures).not_stated),
            **_stated(trial),
        }


def _stated(trial: TrialRecord) -> Row:
    """The figures that the file of another tool states, each with its unit in the name of its column."""
    figures = (trial.figures(Figures).stated or {}).items()
    return {re.sub(r"[^A-Za-z0-9]+", "_", f"stated {key} {one.unit}").strip("_"): one.value for key, one in figures}


def _scopes(run: RunRecord) -> Mapping[str, str]:
    """Of contenders that were watched, whose processor time is known."""
    from bakeoff.compare.resources.telemetry_cost import scopes  # NumPy takes a moment

    return {name: scope for name, (scope, _) in scopes(run).items()}


def _of_the_contender(trial: TrialRecord, scope: str) -> Row:
    """What it needed in the window, where it was watched."""
    from bakeoff.compare.resources.telemetry_cost import seconds_per_1000
    from bakeoff.compare.resources.telemetry_window import level, of_contender

    seen = of_contender(trial)
    found = {
        "contender_cpu_s_per_1000": seconds_per_1000(trial, scope),
        "contender_memory_bytes": math.nan if seen is None else level(seen, "own_memory_bytes"),
    }
    return {name: value if math.isfinite(value) else None for name, value in found.items()}


def _of_the_generator(trial: TrialRecord) -> Row:
    return {
        **{name: getattr(trial, name) for name in NUMBERS},
        "generator_lag_p99_ms": times_ms(trial.generator_lag, "lag")["lag_p99_ms"],
        "generator_late_start_p99_ms": times_ms(trial.generator_late_start, "late")["late_p99_ms"],
    }


def own_figures(figures: Shape, prefix: str = "", without: frozenset[str] = frozenset()) -> Row:
    """What a kind of suite tells of a trial: single values, those of inner objects with the outer name in front."""
    found: Row = {}
    for name, field in type(figures).model_fields.items():
        value = getattr(figures, name)
        if name in without:
            continue
        if isinstance(value, Shape):
            found |= own_figures(value, f"{prefix}{name}_")
        elif isinstance(value, Mapping):
            for key, inner in value.items():
                if isinstance(inner, Shape) and PLAIN.fullmatch(key):
                    found |= own_figures(inner, f"{prefix}{name}_{key}_")
                elif isinstance(inner, int | float) and PLAIN.fullmatch(key):
                    found[f"{prefix}{name}_{key}"] = inner
        elif isinstance(value, bool | int | float | str) or (value is None and not _holds_objects(field.annotation)):
            found[f"{prefix}{name}"] = value
    return found


def _holds_objects(hint: Any) -> bool:
    """Whether a field has an inner object, where it has anything."""
    return any(isinstance(part, type) and issubclass(part, Shape) for part in (hint, *get_args(hint)))


def _cells(trial: TrialRecord) -> Sequence[CellFigures]:
    return trial.figures(Figures).cells or ()


def _cell_rows(run: RunRecord) -> Iterator[Row]:
    """A trial without cells has one row, which says why."""
    reasons, model = left_out(run), figures_of(run.kind)
    for trial in run.trials:
        for cell in trial.figures(model).cells or (CellFigures(),):
            figures = own_figures(cell)
            test = {"test": figures.pop("test") or None, "operation": figures.pop("operation") or None}
            yield {
                **of_trial(trial),
                **test,
                **figures,
                "clients_served": len(cell.per_client),
                **_state(trial, reasons),
            }


def _operations(run: RunRecord) -> Iterator[Row]:
    for trial in run.trials:
        for one in trial.per_operation:
            yield {
                **of_trial(trial),
                "operation": one.name,
                "operations": one.operations,
                "operations_per_s": one.operations / trial.window_s if trial.window_s > 0 else None,
                "in_bytes": one.bytes_in,
                "out_bytes": one.bytes_out,
                "errors": sum(one.errors.values()),
                **counts("errors", one.errors),
                **times_ms(one.service, "service"),
            }


def _steps(run: RunRecord) -> Iterator[Row]:
    for trial in run.trials:
        for step in trial.steps:
            yield {**of_trial(trial), "step": step.name, "times": step.summary.count, **times_ms(step.summary, "step")}


def _seconds(run: RunRecord) -> Iterator[Row]:
    for trial in run.trials:
        for one in trial.per_second:
            yield {
                **of_trial(trial),
                "second": one.second,
                "phase": one.phase,
                "width_s": one.width_s,
                "operations": one.operations,
                "errors": one.errors,
                "in_bytes": one.bytes_in,
                **times_ms(one.service, "service"),
            }


def _clients(run: RunRecord) -> Iterator[Row]:
    for trial in run.trials:
        for one in trial.per_client:
            figures = {"client": one.client, "operations": one.operations, "errors": one.errors}
            yield {**of_trial(trial), **figures, "in_bytes": one.bytes_in, "busy_s": one.busy_s}


def _agents(run: RunRecord) -> Iterator[Row]:
    for trial in run.trials:
        for share in trial.per_agent:
            yield {**of_trial(trial), **_share(share)}


def _share(share: AgentResultRecord) -> Row:
    shares = [link.share for link in share.links if link.share is not None]
    return {
        "agent": share.agent,
        "agent_clients": share.clients,
        "lost": share.lost or None,
        "window_s": share.window_s,
        "operations": share.operations,
        "operations_per_s": share.operations_per_s,
        "in_bytes": share.bytes_in,
        "out_bytes": share.bytes_out,
        "errors": sum(share.errors.values()),
        **counts("errors", share.errors),
        **times_ms(share.service, "service"),
        **times_ms(share.response, "response"),
        **{name: None if share.starts is None else getattr(share.starts, name) for name in START_COUNTS},
        "cpu_share": share.cpu_share,
        "cpu_us_per_operation": share.cpu_us_per_operation,
        "run_delay_share": share.run_delay_share,
        "rss_bytes": share.rss_bytes,
        "late_start_p99_ms": ms_of(share.late_start_p99_ns),
        "lag_p99_ms": ms_of(share.lag_p99_ns),
        "start_offset_ms": ms_of(share.start_offset_ns),
        "clock_error_ms": ms_of(share.clock_error_ns),
        "fullest_link_share": max(shares, default=None),
    }


def _telemetry(run: RunRecord) -> Iterator[Row]:
    for trial in run.trials:
        for seen in trial.telemetry:
            for place, at_s in enumerate(seen.at_s):
                yield {
                    **of_trial(trial),
                    "watched": seen.role,
                    "name": seen.name,
                    "at_s": at_s,
                    "width_s": seen.width_s[place],
                    **{_column(name): values[place] for name, values in seen.series.items()},
                }


def _column(series: str) -> str:
    """`disk_sda_busy_s` for `disk/sda/busy_s`."""
    return re.sub(r"[^A-Za-z0-9]", "_", series)


def _failed(run: RunRecord) -> Iterator[Row]:
    for trial in run.trials:
        failed = trial.figures(Figures).failed
        for request, faults in failed.requests.items():
            for fault, count in faults.items():
                yield {**of_trial(trial), "request": request, "fault": fault, "times": count}
        if failed.others:
            yield {**of_trial(trial), "request": None, "fault": "others", "times": failed.others}


def _soak(run: RunRecord) -> Iterator[Row]:
    for row in run.soak_intervals:
        yield {
            **of_trial(row),
            "interval": row.number,
            "segment": row.segment,
            "started_at": row.started_at,
            "length_s": row.length_s,
            "operations": row.operations,
            "operations_per_s": row.operations_per_s,
            "in_bytes": row.bytes_in,
            "out_bytes": row.bytes_out,
            "errors": row.errors_total,
            **counts("errors", row.errors),
            **times_ms(row.service, "service"),
            **times_ms(row.response, "response"),
            "offered": row.offered,
            "started": row.started,
            "never_started": row.never_started,
            "cpu_share": row.cpu_share,
            "run_delay_share": row.run_delay_share,
            "stolen_s": row.stolen_s,
            "stopped_s": row.stopped_s,
            "rss_bytes": row.rss_bytes,
        }


def _searches(run: RunRecord) -> Iterator[Row]:
    loads = {trial.order: trial.load_step for trial in run.trials}
    for one in run.searches:
        row: Row = {
            "contender": one.contender,
            "block": one.block,
            "outcome": one.outcome,
            "reason": one.reason or None,
        }
        for name, order in (("met", one.met), ("missed", one.missed)):
            load = of_load_step(None if order is None else loads.get(order))
            row |= {f"{name}_order": order, f"{name}_clients": load["clients"]}
            row |= {f"{name}_offered_per_s": load["offered_per_s"]}
        yield row


@dataclass(frozen=True)
class ExportTable:
    """What makes a table, and what one of its rows is."""

    row: str
    rows: Callable[[RunRecord], Iterable[Row]]


TABLES: Mapping[str, ExportTable] = {
    "trials": ExportTable("a trial", _trials),
    "cells": ExportTable("a cell of a trial: one test at one size", _cell_rows),
    "operations": ExportTable("an operation of a trial, such as a class of requests", _operations),
    "steps": ExportTable("a step of the operations of a trial, such as connect", _steps),
    "seconds": ExportTable("a second of a trial", _seconds),
    "clients": ExportTable("a client of a trial", _clients),
    "agents": ExportTable("what a machine did of a trial", _agents),
    "failed": ExportTable("how often a request of a trial failed with one status or class of error", _failed),
    "telemetry": ExportTable("an interval in which a machine or a contender was watched", _telemetry),
    "soak": ExportTable("an interval of a soak", _soak),
    "searches": ExportTable("a search for the capacity", _searches),
}
