"""Run files of earlier versions as this version would have written them: in memory, the files stay as they are.

Nothing is lost: every row is taken over, what an earlier version did not know gets the value that it stood for, and the
one agent that there was gets the figures of its trials. A file that was sealed is checked by its seals first. What is
made is sealed, and says from which version: the seals of a file that had none only say what was read.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

from bakeoff.store import checked, seal
from bakeoff.store.canonical import to_json
from bakeoff.store.fields import Fields
from bakeoff.store.older import SEALED_FROM
from bakeoff.store.schema import APPLICATION_ID, MOST_BYTES, SCHEMA_VERSION, SUMMARY_COLUMNS, TABLES, version_of

# The name of the one agent of runs that knew of none.
ONLY_AGENT = "local"
# Tables that a version had no rows of its own for, and the version that brought them.
_SINCE = {"agents": 4, "shares": 4, "searches": 5, "soak_rows": 5, "amendments": 7, "telemetry": 8}
# In the order in which rows need those of others.
_TABLES = (
    "run",
    "agents",
    "contenders",
    "planned",
    "searches",
    "amendments",
    "trials",
    *seal.PARTS,
    "events",
    "soak_rows",
)


def upgraded(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A run file in the tables of this version: the same connection, or one to a copy in memory.

    Raises DamagedError, ValueError, TypeError or sqlite3.Error for a file that does not hold what its version must.
    """
    version = version_of(connection)
    if version == SCHEMA_VERSION:
        return connection
    if version >= SEALED_FROM:
        _check_seals(connection, version)
    return _copy(connection, version)


def _known(tables: Iterable[str], version: int) -> list[str]:
    return [table for table in tables if _SINCE.get(table, 1) <= version]


def _check_seals(connection: sqlite3.Connection, version: int) -> None:
    run = checked.run_row(connection)
    for table in _known(seal.LISTS, version):
        checked.table_rows(connection, run, table)
    for _ in checked.trial_rows(connection, run, _known(seal.PARTS, version)):
        pass
    checked.event_rows(connection, run)
    if version >= _SINCE["soak_rows"]:
        checked.soak_rows(connection, run)


def _copy(old: sqlite3.Connection, version: int) -> sqlite3.Connection:
    new = sqlite3.connect(":memory:", isolation_level=None)
    try:
        new.row_factory = sqlite3.Row
        new.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
        new.executescript(f"PRAGMA application_id = {APPLICATION_ID};PRAGMA user_version = {SCHEMA_VERSION};{TABLES}")
        new.execute("BEGIN")
        for table in _known(_TABLES, version):
            with closing(old.execute(f"SELECT * FROM {table}")) as rows:
                for row in rows:
                    _insert(new, table, _row(table, dict(row), version))
        if version < _SINCE["agents"]:
            _give_agent(new)
        if new.execute("SELECT count(*) FROM run").fetchone()[0]:
            seal.renew(new)
        new.execute("COMMIT")
    except BaseException:
        new.close()
        raise
    return new


def _insert(new: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    names, marks = ", ".join(row), ", ".join("?" for _ in row)
    new.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))


def _run(run: dict[str, Any], version: int) -> dict[str, Any]:
    ends = {"trials": 0, "events": 0, "soak_rows": 0}
    unsealed = {f"{table}_sha256": "" for table in (*seal.LISTS, *ends)}
    return {**unsealed, **run, "upgraded_from": version, "sha256": "", **ends}


def _row(table: str, row: dict[str, Any], version: int) -> dict[str, Any]:
    """A row with what its table has got since."""
    if table == "run":
        if version < _SINCE["agents"]:
            row["mixes"] = to_json([{"clients": number} for number in Fields("run", row).numbers("mixes")])
        return _run(row, version)
    if table == "planned":
        if "mix_clients" in row:
            row["mix"] = to_json({"clients": row.pop("mix_clients")})
        return {"purpose": "", **row}
    if table == "trials":
        if "connections_opened" in row:
            row["connections"] = to_json({"opened": row.pop("connections_opened")})
        return {"generator_run_delay_share": 0.0, **row, "sha256": ""}
    if table == "seconds":
        return {"width_s": 1.0, **row}
    if table == "shares":
        return {"links": "[]", **row}
    if table == "histograms" and "sha256" not in row:
        return {**row, "sha256": seal.blob_seal(row["hdr"])}
    return row


def _give_agent(new: sqlite3.Connection) -> None:
    """What was found of the contenders stays with the run, the facts of the machine go to its one agent."""
    for run in checked.rows(new, "SELECT * FROM run"):
        facts = Fields("run", run).table("environment")
        environment = {name: facts.pop(name) for name in ("content",) if name in facts}
        new.execute("UPDATE run SET environment = ?", (to_json(environment),))
        _insert(new, "agents", {"position": 0, "name": ONLY_AGENT, "facts": to_json(facts)})
    _give_shares(new)


def _give_shares(new: sqlite3.Connection) -> None:
    """The one agent did all of every trial that has a result."""
    figures = ", ".join(f"service.{name}" for name in SUMMARY_COLUMNS)
    new.execute(
        "INSERT INTO shares (trial_id, agent, clients, lost, window_s, operations, errors, bytes_in, bytes_out,"
        " cpu_share, cpu_us_per_operation, run_delay_share, rss_bytes, late_start_p99_ns, lag_p99_ns, disturbances,"
        f" links, {', '.join(SUMMARY_COLUMNS)})"
        " SELECT t.id, 0, json_extract(p.mix, '$.clients'), '', t.window_s, t.operations, t.errors, t.bytes_in,"
        " t.bytes_out, t.generator_cpu_share, t.generator_cpu_us_per_operation, t.generator_run_delay_share,"
        " t.generator_rss_bytes, late_start.p99_ns, lag.p99_ns,"
        f" coalesce(json_extract(t.workload, '$.disturbances'), '{{}}'), '[]', {figures}"
        " FROM trials t JOIN planned p ON p.position = t.position"
        " JOIN summaries service ON service.trial_id = t.id AND service.series = 'service'"
        " JOIN summaries late_start ON late_start.trial_id = t.id AND late_start.series = 'late_start'"
        " JOIN summaries lag ON lag.trial_id = t.id AND lag.series = 'lag'"
        " WHERE t.window_s > 0"
    )
