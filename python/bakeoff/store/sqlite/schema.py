"""Tables of the run file, and how a connection to one is opened.

`application_id` says that an SQLite file is a run file, `user_version` is the schema version. The version rises with
every released change of a table. Files of another version are refused, and so are files whose tables are not exactly
these: a view or a trigger in a file that came from elsewhere would be a program.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from bakeoff.core.errors import RunFileError
from bakeoff.core.system.bounded_read import why_no_file
from bakeoff.store.records.figure import Figure
from bakeoff.store.records.run_records import (
    AgentRecord,
    AmendmentRecord,
    ContenderRecord,
    EventRecord,
    PlannedTrial,
    RunRecord,
    SearchRecord,
    SoakIntervalRecord,
    TrialRecord,
)
from bakeoff.store.records.trial_parts import AgentResultRecord, ClientRecord, OperationRecord, SecondRecord, StepRecord
from bakeoff.store.sqlite.table import Column, Shape, Table
from bakeoff.store.sqlite.telemetry import SEEN

APPLICATION_ID = 0x62616B65  # "bake"
SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 10.0
CACHE_KIB = 256
MOST_BYTES = 64 << 20  # of one row, text or histogram: refused before room is made for it
# Tables that are sealed as a whole. A search adds to `planned` and `searches` as it goes on, what the user asks for
# later to `planned` and `amendments`, and the generator capacities of agents come when they are measured.
LISTS = ("agents", "contenders", "planned", "searches", "amendments")
# Tables whose rows are links of a chain.
CHAINS = ("trials", "events", "soak_intervals")


@dataclass(frozen=True)
class Numbered:
    """What is stored one after the other, of planned trials."""

    id: Annotated[int, Figure("number of the row, in the order in which they came", sql="PRIMARY KEY AUTOINCREMENT")]
    position: Annotated[int, Figure("which planned trial it is of", sql="REFERENCES planned(position)")]


RUN, TRIAL, SOAK_INTERVAL = (
    Shape(RunRecord, "run"),
    Shape(TrialRecord, "trials"),
    Shape(SoakIntervalRecord, "soak_intervals"),
)
AGENT, CONTENDER = Shape(AgentRecord, "agents"), Shape(ContenderRecord, "contenders")
PLANNED, SEARCH = Shape(PlannedTrial, "planned"), Shape(SearchRecord, "searches")
AMENDMENT, EVENT = Shape(AmendmentRecord, "amendments"), Shape(EventRecord, "events")
ATTEMPT, INTERVAL_OF_SOAK = Shape(Numbered, "trials"), Shape(Numbered, "soak_intervals")
NUMBER = Column("id", "INTEGER PRIMARY KEY AUTOINCREMENT", "order of the events")
PLACE = Column("position", "INTEGER PRIMARY KEY", "from 0, in the order in which they came")
TRIAL_KEY = Column("trial_id", "INTEGER NOT NULL REFERENCES trials(id)", "the attempt that it belongs to")
NAME = Column("name", "TEXT NOT NULL", "which histogram")
SEAL = Column("sha256", "TEXT NOT NULL", "seal of the row and of the rows that belong to it")


@dataclass(frozen=True)
class TrialTable:
    """Rows that belong to a trial: those of the records in a `field` of it, in the order of the column `key`. `text` is
    what they are.
    """

    field: str
    shape: Shape[Any]
    text: str
    key: str = "position"

    @property
    def table(self) -> Table:
        """Their table."""
        numbered = (Column(self.key, "INTEGER NOT NULL", "from 0"),) if self.key not in self.shape.names else ()
        columns, keys = (TRIAL_KEY, *numbered, *self.shape.columns), ("trial_id", self.key)
        return Table(self.shape.table, self.text, columns, keys, " WITHOUT ROWID")


PARTS = (
    TrialTable(
        "per_operation", Shape(OperationRecord, "operations"), "Classes of operations in the window of a trial."
    ),
    TrialTable(
        "steps",
        Shape(StepRecord, "steps"),
        "Each step of the operations of a trial, such as `connect` or `first_byte`, within its measured window.",
    ),
    TrialTable(
        "per_second",
        Shape(SecondRecord, "seconds"),
        "The series of a trial, a row for each second of it, both ramps included.",
        "second",
    ),
    TrialTable(
        "per_client",
        Shape(ClientRecord, "clients"),
        "What each simulated client of a trial did within the measured window.",
        "client",
    ),
    TrialTable(
        "per_agent",
        Shape(AgentResultRecord, "agent_results"),
        "What each agent did of a trial, within its measured window; none for a trial without a result.",
    ),
    TrialTable(
        "telemetry",
        SEEN,
        "What the machines that sent the load had to do in a trial, and the contender where it was watched.",
    ),
)


def _of_run() -> Iterator[Column]:
    yield Column("id", "INTEGER PRIMARY KEY CHECK (id = 1)", "always 1")
    yield from RUN.columns
    yield Column("writer", "TEXT", "the process that writes the file just now, JSON; NULL when none does")
    for name in LISTS:
        yield Column(f"{name}_sha256", "TEXT NOT NULL", f"hash of the table `{name}`")
    for name in CHAINS:
        yield Column(name, "INTEGER NOT NULL", f"how many rows `{name}` has")
        yield Column(f"{name}_sha256", "TEXT NOT NULL", f"end of the chain of the rows of `{name}`")
    yield SEAL


def _histogram(name: str, text: str, null: bool = False) -> tuple[Column, ...]:
    needed = "" if null else " NOT NULL"
    blob = Column(name, f"BLOB{needed}", f"{text}: HdrHistogram V2")
    return blob, Column(f"{name}_sha256", f"TEXT{needed}", f"hash of `{name}`")


ALL = (
    Table("run", "One row: what was planned, when, and the seals of all other tables.", tuple(_of_run())),
    Table(
        "agents",
        "The machines that sent the load; one, `local`, where the run was started; none in an imported run.",
        (PLACE, *AGENT.columns),
    ),
    Table("contenders", "The servers under test, in the order of the plan.", (PLACE, *CONTENDER.columns)),
    Table(
        "planned",
        "Every trial in the order in which it is to run, written before the first one starts; by a search for "
        "capacities each before it starts itself.",
        PLANNED.columns,
    ),
    Table(
        "searches",
        "How each search for a capacity ended: a row for each contender and block; none in other runs.",
        (PLACE, *SEARCH.columns),
    ),
    Table(
        "amendments",
        "What became of the plan while the run went on: blocks that were added, trials that were repeated, an end at "
        "a planned interim analysis, a contender that was left out.",
        (PLACE, *AMENDMENT.columns),
    ),
    Table(
        "trials",
        "One row for each attempt at a planned trial; the latest attempt of a position counts.",
        (*ATTEMPT.columns, *TRIAL.columns, SEAL),
    ),
    *(part.table for part in PARTS),
    Table(
        "histograms",
        "Histograms of a trial.",
        (TRIAL_KEY, NAME, *_histogram("hdr", "the histogram")),
        ("trial_id", "name"),
    ),
    Table("events", "What happened beside the trials, or in one of them.", (NUMBER, *EVENT.columns)),
    Table(
        "soak_intervals",
        "What was done in each interval of a soak, such as an hour, stored when it ended.",
        (
            *INTERVAL_OF_SOAK.columns,
            *SOAK_INTERVAL.columns,
            *_histogram("hdr", "service times, empty without any"),
            *_histogram("response_hdr", "times from planned starts, NULL without such a load", null=True),
        ),
    ),
)
TABLES = "\n".join([*(table.sql for table in ALL), "CREATE INDEX trials_by_position ON trials(position, id);"])


def columns_of(table: str) -> tuple[str, ...]:
    """The columns of a table, in its order."""
    return next(tuple(column.name for column in one.columns) for one in ALL if one.name == table)


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
    if fault := why_no_file(path):
        raise RunFileError(f"{path} {fault}: give the path of a run file (`*.bakeoff`)")
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
    # Rows of a soak are written for days: a cache of the usual size would grow by them, to 2 MB.
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
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
        raise damaged(path, "it does not have the tables of a run file")


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
