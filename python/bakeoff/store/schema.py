"""Tables of the run file, and how a connection to one is opened.

`application_id` says that an SQLite file is a run file, `user_version` is the schema version. The version rises with
every released change of a table. Files of another version are refused, and so are files whose tables are not exactly
these: a view or a trigger in a file that came from elsewhere would be a program.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from bakeoff.errors import RunFileError

APPLICATION_ID = 0x62616B65  # "bake"
SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 10.0
MOST_BYTES = 64 << 20  # of one row, text or histogram: refused before room is made for it
SUMMARY_COLUMNS = ("count", "mean_ns", "p50_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns", "min_ns")
_SUMMARY = (
    "count INTEGER NOT NULL, mean_ns REAL, p50_ns INTEGER, p95_ns INTEGER, p99_ns INTEGER, p999_ns INTEGER, "
    "max_ns INTEGER, min_ns INTEGER"
)

TABLES = f"""
CREATE TABLE run (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL, suite TEXT NOT NULL, kind TEXT NOT NULL,
  plan TEXT NOT NULL, plan_hash TEXT NOT NULL,
  created_at TEXT NOT NULL, finished_at TEXT,
  tool TEXT NOT NULL, environment TEXT NOT NULL,
  mixes TEXT NOT NULL, blocks_planned INTEGER NOT NULL, delta REAL NOT NULL,
  null_operations_per_s REAL,
  writer TEXT, started_here TEXT,
  agents_sha256 TEXT NOT NULL, contenders_sha256 TEXT NOT NULL, planned_sha256 TEXT NOT NULL,
  searches_sha256 TEXT NOT NULL, amendments_sha256 TEXT NOT NULL,
  trials INTEGER NOT NULL, trials_sha256 TEXT NOT NULL,
  events INTEGER NOT NULL, events_sha256 TEXT NOT NULL,
  soak_rows INTEGER NOT NULL, soak_rows_sha256 TEXT NOT NULL,
  sha256 TEXT NOT NULL
);
CREATE TABLE agents (
  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, facts TEXT NOT NULL, null_operations_per_s REAL
);
CREATE TABLE contenders (
  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, address TEXT NOT NULL, reset TEXT
);
CREATE TABLE planned (
  position INTEGER PRIMARY KEY, contender TEXT NOT NULL REFERENCES contenders(name),
  mix TEXT NOT NULL, block INTEGER NOT NULL, seed INTEGER NOT NULL, purpose TEXT NOT NULL, share REAL
);
CREATE TABLE searches (
  position INTEGER PRIMARY KEY, contender TEXT NOT NULL REFERENCES contenders(name), block INTEGER NOT NULL,
  outcome TEXT NOT NULL, reason TEXT NOT NULL, code TEXT NOT NULL,
  met INTEGER REFERENCES planned(position), missed INTEGER REFERENCES planned(position)
);
CREATE TABLE amendments (
  position INTEGER PRIMARY KEY, at TEXT NOT NULL,
  sort TEXT NOT NULL CHECK (sort IN ('blocks', 'retry', 'clear', 'left_out')), text TEXT NOT NULL,
  blocks_seen INTEGER NOT NULL, blocks_before INTEGER NOT NULL, blocks INTEGER NOT NULL,
  contender TEXT REFERENCES contenders(name), plan_hash TEXT NOT NULL
);
CREATE TABLE trials (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  position INTEGER NOT NULL REFERENCES planned(position),
  state TEXT NOT NULL CHECK (state IN ('ok', 'failed', 'voided', 'interrupted')),
  reason TEXT NOT NULL, code TEXT NOT NULL, marks TEXT NOT NULL, started_at TEXT NOT NULL, window_s REAL NOT NULL,
  operations INTEGER NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  operations_per_s REAL NOT NULL, bytes_per_s REAL NOT NULL,
  errors TEXT NOT NULL, statuses TEXT NOT NULL, connections TEXT NOT NULL,
  generator_cpu_share REAL NOT NULL, generator_cpu_us_per_operation REAL NOT NULL,
  generator_rss_bytes INTEGER NOT NULL, fairness_jain REAL NOT NULL, workload TEXT NOT NULL,
  generator_run_delay_share REAL, starts TEXT, judged TEXT, found TEXT,
  control_cpu_share REAL, control_longest_s REAL,
  sha256 TEXT NOT NULL
);
CREATE TABLE summaries (
  trial_id INTEGER NOT NULL REFERENCES trials(id), series TEXT NOT NULL, {_SUMMARY},
  PRIMARY KEY (trial_id, series)
) WITHOUT ROWID;
CREATE TABLE operations (
  trial_id INTEGER NOT NULL REFERENCES trials(id), position INTEGER NOT NULL, name TEXT NOT NULL,
  operations INTEGER NOT NULL, errors TEXT NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  {_SUMMARY},
  PRIMARY KEY (trial_id, position)
) WITHOUT ROWID;
CREATE TABLE steps (
  trial_id INTEGER NOT NULL REFERENCES trials(id), position INTEGER NOT NULL, name TEXT NOT NULL, {_SUMMARY},
  PRIMARY KEY (trial_id, position)
) WITHOUT ROWID;
CREATE TABLE seconds (
  trial_id INTEGER NOT NULL REFERENCES trials(id), second INTEGER NOT NULL, phase TEXT NOT NULL,
  operations INTEGER NOT NULL, errors INTEGER NOT NULL, bytes_in INTEGER NOT NULL, {_SUMMARY},
  width_s REAL NOT NULL,
  PRIMARY KEY (trial_id, second)
) WITHOUT ROWID;
CREATE TABLE clients (
  trial_id INTEGER NOT NULL REFERENCES trials(id), client INTEGER NOT NULL,
  operations INTEGER NOT NULL, errors INTEGER NOT NULL, bytes_in INTEGER NOT NULL, busy_s REAL NOT NULL,
  PRIMARY KEY (trial_id, client)
) WITHOUT ROWID;
CREATE TABLE shares (
  trial_id INTEGER NOT NULL REFERENCES trials(id), agent INTEGER NOT NULL REFERENCES agents(position),
  clients INTEGER NOT NULL, lost TEXT NOT NULL, window_s REAL NOT NULL,
  operations INTEGER NOT NULL, errors TEXT NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  cpu_share REAL NOT NULL, cpu_us_per_operation REAL NOT NULL, run_delay_share REAL,
  rss_bytes INTEGER NOT NULL, late_start_p99_ns INTEGER, lag_p99_ns INTEGER, disturbances TEXT NOT NULL,
  start_offset_ns INTEGER, links TEXT NOT NULL, starts TEXT, response TEXT,
  {_SUMMARY},
  PRIMARY KEY (trial_id, agent)
) WITHOUT ROWID;
CREATE TABLE telemetry (
  trial_id INTEGER NOT NULL REFERENCES trials(id), position INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('generator', 'contender')), name TEXT NOT NULL, source TEXT NOT NULL,
  window_from_s REAL NOT NULL, window_to_s REAL NOT NULL, intervals INTEGER NOT NULL,
  series TEXT NOT NULL, facts TEXT NOT NULL, gaps TEXT NOT NULL,
  looks INTEGER NOT NULL, cpu_s REAL NOT NULL, remote_cpu_s REAL, out_bytes INTEGER NOT NULL, in_bytes INTEGER NOT NULL,
  PRIMARY KEY (trial_id, position)
) WITHOUT ROWID;
CREATE TABLE histograms (
  trial_id INTEGER NOT NULL REFERENCES trials(id), name TEXT NOT NULL, hdr BLOB NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (trial_id, name)
);
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, level TEXT NOT NULL, text TEXT NOT NULL,
  trial_id INTEGER REFERENCES trials(id),
  code TEXT NOT NULL, contender TEXT REFERENCES contenders(name), reason TEXT NOT NULL
);
CREATE TABLE soak_rows (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  position INTEGER NOT NULL REFERENCES planned(position),
  stretch INTEGER NOT NULL, number INTEGER NOT NULL,
  started_at TEXT NOT NULL, length_s REAL NOT NULL,
  operations INTEGER NOT NULL, errors TEXT NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  cpu_share REAL NOT NULL, run_delay_share REAL, stolen_s REAL, stopped_s REAL, rss_bytes INTEGER NOT NULL,
  offered INTEGER, started INTEGER, never_started INTEGER,
  {_SUMMARY}, response TEXT,
  hdr BLOB NOT NULL, hdr_sha256 TEXT NOT NULL, response_hdr BLOB, response_hdr_sha256 TEXT
);
CREATE INDEX trials_by_position ON trials(position, id);
"""


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn every fault of SQLite on `path` into a RunFileError: one sentence that says what to do."""
    try:
        yield
    except (sqlite3.Error, OverflowError, UnicodeError, MemoryError) as error:
        raise RunFileError(_explain(path, error)) from error


def damaged(path: Path, what: object) -> RunFileError:
    """The error for a file that is not as it was written."""
    return RunFileError(f"{path} is damaged ({what}): restore it from a copy, or run the plan again")


def _explain(path: Path, error: Exception) -> str:
    text = str(error).partition(" with text ")[0]  # what follows is the column as it is stored
    if "disk is full" in text:
        return (
            f"{path}: the disk is full, what was measured so far is kept: free some space, then `bakeoff resume {path}`"
        )
    if "disk I/O error" in text:
        return f"{path}: the disk reports an input/output error: check its space and health, then try again"
    if "locked" in text:
        return f"{path} is in use by another process: wait until it ends"
    if "not a database" in text:
        return f"{path} is not a run file: give the `*.bakeoff` file that `bakeoff run` wrote"
    if "unable to open" in text or "readonly" in text:
        return f"{path} cannot be opened: check the folder and its permissions ({text})"
    if isinstance(error, MemoryError):
        return f"{path} needs more memory than there is: close other programs, or raise the limit (ulimit -v)"
    return str(damaged(path, repr(text)[1:-1]))


def wal_of(path: Path) -> Path:
    """The write-ahead log of a run file: there while it is written, and after its writer was killed."""
    return path.parent / (path.name + "-wal")  # `.` and `/` have no name and are no run files


def connect(path: Path, *, write: bool, quiet: bool = False) -> sqlite3.Connection:
    """Open an existing run file and check that it is one that this version understands, or can go on with (`write`).

    `quiet` is for reading a file that nobody writes: no lock is taken and no file appears beside it, so it
    works in a folder that is not writable too. Raises RunFileError when the file is missing, not a run file,
    damaged or of another version.
    """
    if path.is_dir():
        raise RunFileError(
            f"{path} is a folder: give the path of one run file; those of a campaign lie in it (`{path}/01-….bakeoff`)"
        )
    if path.exists() and not path.is_file():
        raise RunFileError(f"{path} is no file but a pipe, a socket or a device: give the path of a run file")
    if not path.is_file():
        raise RunFileError(f"{path} does not exist: give the path of a run file (`*.bakeoff`)")
    mode = "mode=rw" if write else "mode=ro&immutable=1" if quiet else "mode=ro"
    connection: sqlite3.Connection | None = None
    try:
        with explained(path):
            uri = f"{path.resolve().as_uri()}?{mode}"
            connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_TIMEOUT_S)
            connection.row_factory = sqlite3.Row
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
            connection.execute("PRAGMA trusted_schema = OFF")
            _check_identity(path, connection)
            if write:
                configure(connection)
    except RunFileError:
        if connection is not None:
            connection.close()
        raise
    return connection


def configure(connection: sqlite3.Connection) -> None:
    """Durability first: a committed trial survives `kill -9` and a power cut."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _check_identity(path: Path, connection: sqlite3.Connection) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        raise RunFileError(f"{path} is not a run file: give the `*.bakeoff` file that `bakeoff run` wrote")
    version = version_of(connection)
    if version != SCHEMA_VERSION:
        raise RunFileError(
            f"{path} has run file version {version}, this Bakeoff reads version {SCHEMA_VERSION}: "
            "open it with the Bakeoff that wrote it"
        )
    if _objects(connection) != _expected():
        raise damaged(path, "its tables are not those of a run file")


def version_of(connection: sqlite3.Connection) -> int:
    """The schema version that a file says it has."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _objects(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    """Everything that the schema of a database holds: tables, indexes, and what must not be there."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name LIMIT 100"
    return [tuple(row) for row in connection.execute(query)]


@cache
def _expected() -> list[tuple[object, ...]]:
    """What a run file holds, exactly."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        return _objects(connection)
