"""Seals: how a run file shows that it still says what was written.

A row's canonical form is the JSON array of its columns in the order of the table, without the columns named
`sha256`. From it come

* the seal of a trial: over its row and the rows of its parts, in the order of `ORDERS` and of their keys; of a
  histogram the name and the hash of the blob, which is checked when the blob is read;
* the chains of trials, events and intervals of soaks: each link is the hash of the link before it and of the trial's
seal or the row, so that a row that is missing, doubled or in another place breaks the chain;
* the seal of the run: over its row, which holds the ends and lengths of the chains and the hashes of the tables that
  are sealed as a whole. It is renewed in every transaction.

Seals find damage, not forgery: whoever writes a file can seal it. Nothing in a run file is believed to be harmless
because its seals are whole (see bakeoff.run.checks.trust).
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from bakeoff.store.sqlite.schema import LISTS, PARTS, columns_of

# Tables with a trial's parts, and the columns that give their rows an order.
ORDERS = {**{part.shape.table: part.key for part in PARTS}, "histograms": "name"}
START = hashlib.sha256(b"bakeoff run file").hexdigest()
_LEFT_OUT = frozenset({"sha256", "hdr", "response_hdr"})  # a histogram's hash stands for it


def blob_seal(blob: bytes) -> str:
    """The seal of a histogram."""
    return hashlib.sha256(blob).hexdigest()


def parts_query(table: str) -> str:
    """The query of all rows of one part of one trial, without blobs."""
    columns = "trial_id, name, hdr_sha256" if table == "histograms" else "*"
    return f"SELECT {columns} FROM {table} WHERE trial_id = ? ORDER BY {ORDERS[table]}"


def soak_intervals_query() -> str:
    """The query of intervals of soaks, without blobs and conditions."""
    names = columns_of("soak_intervals")
    return f"SELECT {', '.join(name for name in names if name not in _LEFT_OUT)} FROM soak_intervals"


def trial_seal(trial: sqlite3.Row, parts: Iterable[tuple[str, Iterable[sqlite3.Row]]]) -> str:
    """The seal of a trial; `parts` are the rows of each table of `ORDERS`, in that order."""
    digest = hashlib.sha256(_canonical(trial))
    for table, rows in parts:
        digest.update(f"\n{table}".encode())
        for row in rows:
            digest.update(b"\n" + _canonical(row))
    return digest.hexdigest()


def stored_trial_seal(connection: sqlite3.Connection, trial_id: int) -> str:
    """The seal of a trial as it is in the file now."""
    trial = connection.execute("SELECT * FROM trials WHERE id = ?", (trial_id,)).fetchone()
    return trial_seal(trial, _stored_parts(connection, trial_id))


def renew(connection: sqlite3.Connection) -> None:
    """Seal all that is in a file again, inside the caller's transaction."""
    link, trials = START, [row["id"] for row in connection.execute("SELECT id FROM trials ORDER BY id")]
    for trial_id in trials:
        sealed = stored_trial_seal(connection, trial_id)
        connection.execute("UPDATE trials SET sha256 = ? WHERE id = ?", (sealed, trial_id))
        link = next_link(link, sealed)
    connection.execute("UPDATE run SET trials = ?, trials_sha256 = ?", (len(trials), link))
    link, count = START, 0
    for row in connection.execute("SELECT * FROM events ORDER BY id"):
        link, count = next_link(link, row_seal(row)), count + 1
    connection.execute("UPDATE run SET events = ?, events_sha256 = ?", (count, link))
    link, count = START, 0
    for row in connection.execute(f"{soak_intervals_query()} ORDER BY id"):
        link, count = next_link(link, row_seal(row)), count + 1
    connection.execute("UPDATE run SET soak_intervals = ?, soak_intervals_sha256 = ?", (count, link))
    for table in LISTS:
        seal_list(connection, table)
    sealed = run_seal(connection.execute("SELECT * FROM run").fetchone())
    connection.execute("UPDATE run SET sha256 = ?", (sealed,))


def seal_list(connection: sqlite3.Connection, table: str) -> None:
    """Seal a table of `schema.LISTS` again, inside the caller's transaction."""
    rows = connection.execute(f"SELECT * FROM {table} ORDER BY position")
    connection.execute(f"UPDATE run SET {table}_sha256 = ?", (rows_seal(rows),))


def _stored_parts(connection: sqlite3.Connection, trial_id: int) -> Iterator[tuple[str, Iterable[sqlite3.Row]]]:
    for table in ORDERS:
        yield table, connection.execute(parts_query(table), (trial_id,))


def next_link(link: str, seal: str) -> str:
    """The link of a chain that follows `link`."""
    return hashlib.sha256(f"{link}\n{seal}".encode()).hexdigest()


def row_seal(row: sqlite3.Row) -> str:
    """The seal of an event, or of an interval of a soak."""
    return hashlib.sha256(_canonical(row)).hexdigest()


def rows_seal(rows: Iterable[sqlite3.Row]) -> str:
    """The seal of a whole table."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(_canonical(row) + b"\n")
    return digest.hexdigest()


def run_seal(run: sqlite3.Row) -> str:
    """The seal of the run's row, and so of everything."""
    return hashlib.sha256(_canonical(run)).hexdigest()


def _canonical(row: sqlite3.Row) -> bytes:
    names: Sequence[str] = row.keys()
    values = [value for name, value in zip(names, tuple(row), strict=True) if name not in _LEFT_OUT]
    return json.dumps(values, separators=(",", ":"), allow_nan=False).encode()
