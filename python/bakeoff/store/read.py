"""Read a run file into records. Reading never changes the file and works while a run is being written."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from bakeoff.errors import RunFileError
from bakeoff.store.records import (
    ClientRecord,
    ContenderRecord,
    EventRecord,
    OperationRecord,
    PlannedTrial,
    RunRecord,
    SecondRecord,
    StepRecord,
    Summary,
    TrialRecord,
)
from bakeoff.store.schema import SUMMARY_COLUMNS, connect, explained, wal_of

T = TypeVar("T")

# The latest attempt of each planned trial; earlier ones were interrupted and then repeated by a resume.
_LATEST = "SELECT max(id) FROM trials GROUP BY position"


def read_run(path: Path) -> RunRecord:
    """The whole run file as one record.

    Raises RunFileError when the file is missing, not a run file, damaged or of a newer version.
    """
    return _read(path, lambda connection: _run(path, connection))


def histogram(path: Path, trial_id: int, name: str) -> bytes:
    """One histogram of a trial (HdrHistogram V2, nanoseconds), such as `service` or `op/static/223`.

    Raises RunFileError when the trial has no histogram of that name.
    """
    query = "SELECT hdr FROM histograms WHERE trial_id = ? AND name = ?"
    row = _read(path, lambda connection: connection.execute(query, (trial_id, name)).fetchone())
    if row is None:
        raise RunFileError(f"{path}: trial {trial_id} has no histogram {name!r}")
    return bytes(row[0])


def pending(path: Path) -> tuple[PlannedTrial, ...]:
    """The planned trials that are still to do: never stored, or interrupted; in the order of the plan."""
    query = (
        "SELECT position, contender, mix_clients, block, seed FROM planned WHERE position NOT IN"
        " (SELECT position FROM trials WHERE state <> 'interrupted') ORDER BY position"
    )
    return tuple(PlannedTrial(*row) for row in _read(path, lambda connection: connection.execute(query).fetchall()))


def _read(path: Path, work: Callable[[sqlite3.Connection], T]) -> T:
    """`work` on one consistent view of the file; done again if a writer came while it was read quietly."""
    quiet = not wal_of(path).exists()
    result = _read_once(path, work, quiet)
    return _read_once(path, work, quiet=False) if quiet and wal_of(path).exists() else result


def _read_once(path: Path, work: Callable[[sqlite3.Connection], T], quiet: bool) -> T:
    connection = connect(path, write=False, quiet=quiet)
    connection.row_factory = sqlite3.Row
    try:
        with explained(path):
            connection.execute("BEGIN")
            return work(connection)
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise RunFileError(f"{path} is damaged ({error}): restore it from a copy, or run the plan again") from error
    finally:
        connection.close()


def _run(path: Path, connection: sqlite3.Connection) -> RunRecord:
    run = _row(connection, "SELECT * FROM run")
    if run is None:
        raise RunFileError(f"{path} holds no run: it was cut off while being created; delete it and run again")
    return RunRecord(
        path=path,
        schema_version=connection.execute("PRAGMA user_version").fetchone()[0],
        name=run["name"],
        suite=run["suite"],
        kind=run["kind"],
        plan=json.loads(run["plan"]),
        plan_hash=run["plan_hash"],
        created_at=run["created_at"],
        finished_at=run["finished_at"],
        tool=json.loads(run["tool"]),
        environment=json.loads(run["environment"]),
        contenders=_contenders(connection),
        mixes=tuple(json.loads(run["mixes"])),
        blocks_planned=run["blocks_planned"],
        delta=run["delta"],
        null_operations_per_s=run["null_operations_per_s"],
        trials_planned=connection.execute("SELECT count(*) FROM planned").fetchone()[0],
        trials=_trials(connection),
        events=_events(connection),
    )


def _row(connection: sqlite3.Connection, query: str) -> Any:
    return connection.execute(query).fetchone()


def _contenders(connection: sqlite3.Connection) -> tuple[ContenderRecord, ...]:
    rows = connection.execute("SELECT name, address, reset FROM contenders ORDER BY position")
    return tuple(ContenderRecord(*row) for row in rows)


def _events(connection: sqlite3.Connection) -> tuple[EventRecord, ...]:
    rows = connection.execute("SELECT at, level, text, trial_id FROM events ORDER BY id")
    return tuple(EventRecord(*row) for row in rows)


def _summary(row: sqlite3.Row) -> Summary:
    return Summary(*(row[column] for column in SUMMARY_COLUMNS))


def _parts(connection: sqlite3.Connection, table: str, by: str) -> dict[int, list[sqlite3.Row]]:
    """All rows of `table` that belong to a latest attempt, grouped by trial: one query, not one per trial."""
    found: dict[int, list[sqlite3.Row]] = defaultdict(list)
    for row in connection.execute(f"SELECT * FROM {table} WHERE trial_id IN ({_LATEST}) ORDER BY trial_id, {by}"):
        found[row["trial_id"]].append(row)
    return found


def _trials(connection: sqlite3.Connection) -> tuple[TrialRecord, ...]:
    summaries = _parts(connection, "summaries", "series")
    operations = _parts(connection, "operations", "position")
    steps = _parts(connection, "steps", "position")
    seconds = _parts(connection, "seconds", "second")
    clients = _parts(connection, "clients", "client")
    rows = connection.execute(
        "SELECT t.*, p.contender, p.mix_clients, p.block, p.seed FROM trials t JOIN planned p USING "
        "(position)"
        f" WHERE t.id IN ({_LATEST}) ORDER BY t.position"
    )
    return tuple(
        _trial(
            row,
            {s["series"]: _summary(s) for s in summaries[row["id"]]},
            tuple(_operation(o) for o in operations[row["id"]]),
            tuple(StepRecord(s["name"], _summary(s)) for s in steps[row["id"]]),
            tuple(_second(s) for s in seconds[row["id"]]),
            tuple(_client(c) for c in clients[row["id"]]),
        )
        for row in rows
    )


def _operation(row: sqlite3.Row) -> OperationRecord:
    return OperationRecord(
        row["name"],
        row["operations"],
        json.loads(row["errors"]),
        row["bytes_in"],
        row["bytes_out"],
        _summary(row),
    )


def _second(row: sqlite3.Row) -> SecondRecord:
    return SecondRecord(
        row["second"],
        row["phase"],
        row["operations"],
        row["errors"],
        row["bytes_in"],
        _summary(row),
        row["width_s"],
    )


def _client(row: sqlite3.Row) -> ClientRecord:
    return ClientRecord(row["client"], row["operations"], row["errors"], row["bytes_in"], row["busy_s"])


def _trial(
    row: sqlite3.Row,
    series: dict[str, Summary],
    per_operation: tuple[OperationRecord, ...],
    steps: tuple[StepRecord, ...],
    per_second: tuple[SecondRecord, ...],
    per_client: tuple[ClientRecord, ...],
) -> TrialRecord:
    return TrialRecord(
        id=row["id"],
        contender=row["contender"],
        mix_clients=row["mix_clients"],
        block=row["block"],
        order=row["position"],
        seed=row["seed"],
        state=row["state"],
        reason=row["reason"],
        marks=tuple(json.loads(row["marks"])),
        started_at=row["started_at"],
        window_s=row["window_s"],
        operations=row["operations"],
        operations_per_s=row["operations_per_s"],
        bytes_in=row["bytes_in"],
        bytes_out=row["bytes_out"],
        bytes_per_s=row["bytes_per_s"],
        errors=json.loads(row["errors"]),
        statuses=json.loads(row["statuses"]),
        service=series["service"],
        per_operation=per_operation,
        steps=steps,
        per_second=per_second,
        per_client=per_client,
        connections=json.loads(row["connections"]),
        generator_cpu_share=row["generator_cpu_share"],
        generator_cpu_us_per_operation=row["generator_cpu_us_per_operation"],
        generator_late_start=series["late_start"],
        generator_lag=series["lag"],
        generator_rss_bytes=row["generator_rss_bytes"],
        fairness_jain=row["fairness_jain"],
        workload=json.loads(row["workload"]),
        # Files of version 1 have no such column.
        generator_run_delay_share=dict(row).get("generator_run_delay_share", 0.0),
    )
