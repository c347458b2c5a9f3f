"""Rows of a run file that stood the check of their seals (`seal.py`); DamagedError where they do not."""

import sqlite3
from collections.abc import Iterator, Sequence

from bakeoff.store.records.values import DamagedError
from bakeoff.store.sqlite import seal

MOST_ROWS = 2_000_000  # of one table, or of one part of one trial: refused before they are all read
TrialRows = tuple[sqlite3.Row, dict[str, list[sqlite3.Row]]]


def rows(connection: sqlite3.Connection, query: str, *values: int) -> list[sqlite3.Row]:
    """The rows of a query, unless there are more than a file may have."""
    fetched = connection.execute(query, values).fetchmany(MOST_ROWS + 1)
    if len(fetched) > MOST_ROWS:
        raise DamagedError(f"a table has more than {MOST_ROWS:,} rows")
    return fetched


def run_row(connection: sqlite3.Connection) -> sqlite3.Row:
    """The row of the run."""
    runs = rows(connection, "SELECT * FROM run")
    if not runs:
        raise DamagedError("it holds no run: it was cut off while being created")
    if seal.run_seal(runs[0]) != runs[0]["sha256"]:
        raise DamagedError("the seal of its run is broken")
    return runs[0]


def table_rows(connection: sqlite3.Connection, run: sqlite3.Row, table: str) -> list[sqlite3.Row]:
    """The rows of a table that is sealed as a whole."""
    entries = rows(connection, f"SELECT * FROM {table} ORDER BY position")
    if seal.rows_seal(entries) != run[f"{table}_sha256"]:
        raise DamagedError(f"the seal of its table {table} is broken")
    return entries


def trial_rows(connection: sqlite3.Connection, run: sqlite3.Row, tables: Sequence[str]) -> Iterator[TrialRows]:
    """Every trial that was stored, in the order in which they were, with its rows in `tables`."""
    link, count = seal.START, 0
    for row in connection.execute("SELECT * FROM trials ORDER BY id"):
        parts = {table: rows(connection, seal.parts_query(table), row["id"]) for table in tables}
        sealed = seal.trial_seal(row, parts.items())
        if sealed != row["sha256"]:
            raise DamagedError(f"the seal of trial {row['id']} is broken")
        link, count = seal.next_link(link, sealed), count + 1
        yield row, parts
    if (count, link) != (run["trials"], run["trials_sha256"]):
        raise DamagedError("the chain of its trials is broken: some are missing, or there are too many")


def event_rows(connection: sqlite3.Connection, run: sqlite3.Row) -> list[sqlite3.Row]:
    """Every event."""
    events, link = rows(connection, "SELECT * FROM events ORDER BY id"), seal.START
    for row in events:
        link = seal.next_link(link, seal.row_seal(row))
    if (len(events), link) != (run["events"], run["events_sha256"]):
        raise DamagedError("the chain of its events is broken")
    return events


def soak_intervals(connection: sqlite3.Connection, run: sqlite3.Row) -> list[sqlite3.Row]:
    """Every interval of a soak, without its histograms."""
    found, link = rows(connection, f"{seal.soak_intervals_query()} ORDER BY id"), seal.START
    for row in found:
        link = seal.next_link(link, seal.row_seal(row))
    if (len(found), link) != (run["soak_intervals"], run["soak_intervals_sha256"]):
        raise DamagedError("the chain of the rows of its soaks is broken: some are missing, or there are too many")
    return found


class Sealed:
    """The rows of a file that stood the check (bakeoff.store.sqlite.rows.Rows)."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection, self._run = connection, run_row(connection)

    def run(self) -> sqlite3.Row:
        """The row of the run."""
        return self._run

    def table(self, name: str) -> list[sqlite3.Row]:
        return table_rows(self._connection, self._run, name)

    def events(self) -> list[sqlite3.Row]:
        return event_rows(self._connection, self._run)

    def soak_intervals(self) -> list[sqlite3.Row]:
        return soak_intervals(self._connection, self._run)

    def trials(self) -> Iterator[TrialRows]:
        return trial_rows(self._connection, self._run, tuple(seal.ORDERS))
