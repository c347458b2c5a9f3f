"""The rows of one trial in a run file, but for its histograms, events and seal."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from bakeoff.store import judged, shares, starts, telemetry
from bakeoff.store.canonical import printable, to_json
from bakeoff.store.records import TrialRecord
from bakeoff.store.schema import SUMMARY_COLUMNS
from bakeoff.store.trial_parts import Summary


def insert_trial(connection: sqlite3.Connection, trial: TrialRecord) -> int:
    """Write the rows of a trial; the number that the file gave it."""
    trial_id = _insert_itself(connection, trial)
    _insert_parts(connection, trial_id, trial)
    return trial_id


def insert_row(connection: sqlite3.Connection, table: str, columns: Mapping[str, Any]) -> None:
    """Write a row, each value to its column."""
    names, marks = ", ".join(columns), ", ".join("?" for _ in columns)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(columns.values()))


def _insert_itself(connection: sqlite3.Connection, t: TrialRecord) -> int:
    cursor = connection.execute(
        "INSERT INTO trials (position, state, reason, code, marks, started_at, window_s, operations, "
        "bytes_in, bytes_out,"
        " operations_per_s, bytes_per_s, errors, statuses, connections, generator_cpu_share,"
        " generator_cpu_us_per_operation, generator_rss_bytes, fairness_jain, workload,"
        " generator_run_delay_share, starts, judged, found, control_cpu_share, control_longest_s, sha256)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')",
        (
            t.order,
            t.state,
            printable(t.reason),
            t.code,
            to_json(list(t.marks)),
            t.started_at,
            t.window_s,
            t.operations,
            t.bytes_in,
            t.bytes_out,
            t.operations_per_s,
            t.bytes_per_s,
            to_json(t.errors),
            to_json(t.statuses),
            to_json(t.connections),
            t.generator_cpu_share,
            t.generator_cpu_us_per_operation,
            t.generator_rss_bytes,
            t.fairness_jain,
            to_json(t.workload),
            t.generator_run_delay_share,
            None if t.starts is None else to_json(starts.counts_of(t.starts)),
            None if t.judged is None else to_json(judged.to_table(t.judged)),
            None if t.found is None else to_json(t.found),
            t.control_cpu_share,
            t.control_longest_s,
        ),
    )
    trial_id = cursor.lastrowid
    assert trial_id is not None
    return trial_id


def _insert_parts(connection: sqlite3.Connection, trial_id: int, t: TrialRecord) -> None:
    marks = ", ".join("?" for _ in SUMMARY_COLUMNS)
    series = {"service": t.service, "late_start": t.generator_late_start, "lag": t.generator_lag}
    if t.response is not None:
        series["response"] = t.response
    if t.tried is not None:
        series["tried"] = t.tried
    if t.starts is not None:
        series["late"] = t.starts.late
    connection.executemany(
        f"INSERT INTO summaries VALUES (?, ?, {marks})",
        [(trial_id, name, *_figures(summary)) for name, summary in series.items()],
    )
    connection.executemany(
        f"INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, ?, {marks})",
        [
            (
                trial_id,
                i,
                o.name,
                o.operations,
                to_json(o.errors),
                o.bytes_in,
                o.bytes_out,
                *_figures(o.service),
            )
            for i, o in enumerate(t.per_operation)
        ],
    )
    connection.executemany(
        f"INSERT INTO steps VALUES (?, ?, ?, {marks})",
        [(trial_id, i, s.name, *_figures(s.summary)) for i, s in enumerate(t.steps)],
    )
    connection.executemany(
        f"INSERT INTO seconds VALUES (?, ?, ?, ?, ?, ?, {marks}, ?)",
        [
            (
                trial_id,
                s.second,
                s.phase,
                s.operations,
                s.errors,
                s.bytes_in,
                *_figures(s.service),
                s.width_s,
            )
            for s in t.per_second
        ],
    )
    connection.executemany(
        "INSERT INTO clients VALUES (?, ?, ?, ?, ?, ?)",
        [(trial_id, c.client, c.operations, c.errors, c.bytes_in, c.busy_s) for c in t.per_client],
    )
    places = {row["name"]: row["position"] for row in connection.execute("SELECT name, position FROM agents")}
    for share in t.per_agent:
        place = {"trial_id": trial_id, "agent": places[share.agent]}
        insert_row(connection, "shares", {**place, **shares.to_columns(share)})
    for number, seen in enumerate(t.telemetry):
        insert_row(connection, "telemetry", {"trial_id": trial_id, "position": number, **telemetry.to_columns(seen)})


def _figures(summary: Summary) -> tuple[Any, ...]:
    return tuple(getattr(summary, column) for column in SUMMARY_COLUMNS)
