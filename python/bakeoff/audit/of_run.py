"""A run of Bakeoff held to the same arithmetic as results of others, and to the audits of its own trials."""

from __future__ import annotations

from collections.abc import Iterator

from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.table import Place
from bakeoff.compare.model.comparison import Audit, Comparison
from bakeoff.core.times import s_of
from bakeoff.formats.foreign.printed import counted
from bakeoff.formats.foreign.table import (
    BYTES_IN,
    DURATION,
    ERRORS,
    MAXIMUM,
    MEAN,
    MINIMUM,
    OPERATIONS,
    RATE,
    ForeignRow,
    ForeignTable,
    ForeignValue,
    percentile,
)
from bakeoff.formats.foreign.units import BYTES as BYTE
from bakeoff.formats.foreign.units import COUNT, PER_S, SECONDS, Unit
from bakeoff.store.records.run_records import OK, RunRecord, TrialRecord

FORMAT = "bakeoff"
# A load of trials, which the run's own audits hold to Little's law: they know virtual users, pauses and edges.
LOAD_STEP = "load step"
# The names of its own audits begin so.
OWN = "trials: "


def table_of(run: RunRecord, path: str) -> ForeignTable:
    """The trials that count, one row each; parts are their operations."""
    rows = tuple(row for trial in run.trials if trial.state == OK for row in _rows(trial))
    return ForeignTable(FORMAT, f"Bakeoff {run.tool.get('version', '')}".strip(), rows, path=path)


def _rows(trial: TrialRecord) -> Iterator[ForeignRow]:
    load = {
        LOAD_STEP: _value(trial.load_step.x, COUNT, trial, "load step"),
        "block": _value(trial.block, COUNT, trial, "block"),
    }
    line = trial.order + 1
    yield ForeignRow(trial.contender, load, _values(trial), line)
    for part in trial.per_operation:
        values = {
            OPERATIONS: _value(part.operations, COUNT, trial, OPERATIONS),
            ERRORS: _value(sum(part.errors.values()), COUNT, trial, ERRORS),
            BYTES_IN: _value(part.bytes_in, BYTE, trial, BYTES_IN),
        }
        yield ForeignRow(trial.contender, load, values, line, part.name)


def _values(trial: TrialRecord) -> dict[str, ForeignValue]:
    stated: dict[str, tuple[float, Unit]] = {
        OPERATIONS: (trial.operations, COUNT),
        ERRORS: (trial.errors_total, COUNT),
        DURATION: (trial.window_s, SECONDS),
        RATE: (trial.operations_per_s, PER_S),
        BYTES_IN: (trial.bytes_in, BYTE),
    }
    service = trial.service
    times = {
        MINIMUM: service.min_ns,
        MEAN: service.mean_ns,
        percentile(50): service.p50_ns,
        percentile(95): service.p95_ns,
        percentile(99): service.p99_ns,
        percentile(99.9): service.p999_ns,
        MAXIMUM: service.max_ns,
    }
    # A report leaves them out, too.
    few = {percentile(share) for share in (95, 99, 99.9) if trial.operations * (100 - share) < 100}
    stated |= {name: (s_of(value), SECONDS) for name, value in times.items() if value is not None and name not in few}
    return {name: _value(value, unit, trial, name) for name, (value, unit) in stated.items()}


def _value(value: float, unit: Unit, trial: TrialRecord, name: str) -> ForeignValue:
    return ForeignValue(counted(value), unit, trial.order + 1, 0, name)


def own_outcomes(found: Comparison, path: str) -> tuple[Outcome, ...]:
    """What the audits of trials say, which know more of a run than its numbers (pauses, planned starts)."""
    return tuple(Outcome(f"{OWN}{audit.name}", path, audit.checked, _deviating(audit, path)) for audit in found.audits)


def _deviating(audit: Audit, path: str) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            f"{OWN}{audit.name}",
            "off",
            (
                Place(
                    path,
                    0,
                    ", ".join((trial.contender, f"load step {trial.load_step}", f"block {trial.block}")),
                    "",
                    "",
                ),
            ),
            trial.found[0],
        )
        for trial in audit.deviating
    )
