"""Write a run file: create, add one trial per transaction, finish. Never overwrites a file.

Every transaction ends with new seals (see bakeoff.store.sqlite.seal), so that what is committed is sealed.
"""

import json
import os
import socket
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from bakeoff.core.errors import RunFileError
from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.run_records import (
    ADDED,
    GENERATOR_CAPACITIES,
    AgentRecord,
    AmendmentRecord,
    ContenderRecord,
    EventRecord,
    PlannedTrial,
    SearchRecord,
    SoakIntervalRecord,
    TrialRecord,
)
from bakeoff.store.sqlite import seal
from bakeoff.store.sqlite.canonical import to_json
from bakeoff.store.sqlite.schema import (
    AGENT,
    AMENDMENT,
    APPLICATION_ID,
    CHAINS,
    CONTENDER,
    EVENT,
    LISTS,
    MOST_BYTES,
    PLANNED,
    RUN,
    SCHEMA_VERSION,
    SEARCH,
    SOAK_INTERVAL,
    TABLES,
    configure,
    connect,
    damaged,
    explained,
)
from bakeoff.store.sqlite.table import Shape, insert
from bakeoff.store.sqlite.trial_rows import insert_trial


def utc_now() -> str:
    """The present moment as ISO text in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class RunHeader:
    """What is known about a run before its first trial; `environment` is what no agent's facts say."""

    name: str
    suite: str
    kind: str
    plan: Mapping[str, Any]
    plan_hash: str
    tool: Mapping[str, str]
    environment: Mapping[str, Any]
    agents: Sequence[AgentRecord]
    contenders: Sequence[ContenderRecord]
    load_steps: Sequence[LoadStep]
    blocks_planned: int
    delta: float
    created_at: str = ""
    finished_at: None = None
    null_operations_per_s: None = None
    started_here: None = None


class RunWriter:
    """The only writer of a run file. Use as a context manager: leaving it closes the file properly.

    Every method raises RunFileError with advice when the file cannot be written.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    def create(cls, path: Path, header: RunHeader, planned: Sequence[PlannedTrial]) -> Self:
        """Make a new run file. Raises RunFileError when `path` exists already or its folder does not."""
        _reserve(path)
        try:
            with explained(path):
                uri = f"{path.resolve().as_uri()}?mode=rw"
                connection = sqlite3.connect(uri, uri=True, isolation_level=None)
                connection.row_factory = sqlite3.Row
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
                configure(connection)
                connection.executescript(
                    f"BEGIN IMMEDIATE;PRAGMA application_id = {APPLICATION_ID};"
                    f"PRAGMA user_version = {SCHEMA_VERSION};{TABLES}COMMIT;"
                )
                writer = cls(path, connection)
                with writer._transaction():
                    writer._insert_header(header, planned)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return writer

    @classmethod
    def reopen(cls, path: Path) -> Self:
        """Open a run file to go on with it. Raises RunFileError when another process is writing it."""
        writer = cls(path, connect(path, write=True))
        try:
            writer._take_over()
        except BaseException:
            writer._connection.close()
            raise
        return writer

    def add_trial(self, trial: TrialRecord, histograms: Mapping[str, bytes], events: Iterable[EventRecord] = ()) -> int:
        """Store one trial with its histograms (HdrHistogram V2) and events in one transaction; returns its
        id.

        `trial.id` and the `trial_id` of the events are ignored: the file gives the number.
        """
        with self._transaction():
            trial_id = insert_trial(self._connection, trial)
            blobs = [{"trial_id": trial_id, "name": name, **_blob("hdr", blob)} for name, blob in histograms.items()]
            insert(self._connection, "histograms", blobs)
            self._seal_trial(trial_id)
            self._insert_events(events, trial_id)
        return trial_id

    def plan_trial(self, planned: PlannedTrial) -> None:
        """Store a trial that a search has decided on, before it runs."""
        with self._transaction():
            self._insert(PLANNED, [planned])

    def add_search(self, search: SearchRecord) -> None:
        """Store how a search for the capacity ended."""
        with self._transaction():
            self._insert(SEARCH, [search])

    def amend(self, what: AmendmentRecord) -> None:
        """Store what became of the plan."""
        with self._transaction():
            self._insert(AMENDMENT, [what])

    def add_blocks(
        self, what: AmendmentRecord, plan: Mapping[str, Any], plan_hash: str, more: Sequence[PlannedTrial]
    ) -> None:
        """Store that blocks were added: the plan that has them, and their trials. The run then is not finished."""
        assert what.sort == ADDED
        with self._transaction():
            self._insert(AMENDMENT, [what])
            self._connection.execute(
                "UPDATE run SET plan = ?, plan_hash = ?, blocks_planned = ?, finished_at = NULL",
                (to_json(plan), plan_hash, what.blocks),
            )
            self._insert(PLANNED, more)

    def add_events(self, events: Iterable[EventRecord]) -> None:
        """Store events that belong to no trial (their `trial_id` is kept as it is)."""
        with self._transaction():
            self._insert_events(events, None)

    def add_soak_interval(self, row: SoakIntervalRecord, service: bytes, response: bytes | None) -> None:
        """Store an interval of a soak, with its histograms (HdrHistogram V2, empty without operations)."""
        with self._transaction():
            blobs = _blob("hdr", service) | _blob("response_hdr", response)
            insert(self._connection, "soak_intervals", [{"position": row.order, **SOAK_INTERVAL.row(row), **blobs}])
            query = f"{seal.soak_intervals_query()} WHERE id = last_insert_rowid()"
            stored = self._connection.execute(query).fetchone()
            link = self._connection.execute("SELECT soak_intervals_sha256 FROM run").fetchone()[0]
            new = seal.next_link(link, seal.row_seal(stored))
            self._connection.execute(
                "UPDATE run SET soak_intervals = soak_intervals + 1, soak_intervals_sha256 = ?", (new,)
            )

    def set_null_rate(self, operations_per_s: float, by_agent: Mapping[str, float] | None = None) -> None:
        """Store the rate of the `null` workload: the generator capacity itself, and that of each agent."""
        with self._transaction():
            self._connection.execute("UPDATE run SET null_operations_per_s = ?", (operations_per_s,))
            self._connection.executemany(
                "UPDATE agents SET null_operations_per_s = ? WHERE name = ?",
                [(rate, name) for name, rate in (by_agent or {}).items()],
            )
            seal.seal_list(self._connection, "agents")

    def set_generator_capacities(self, capacities: Mapping[str, Mapping[str, Any]]) -> None:
        """Store by contender what the generator asks at most in its way, or why that was not measured."""
        with self._transaction():
            stored = json.loads(self._connection.execute("SELECT environment FROM run").fetchone()[0])
            environment = to_json({**stored, GENERATOR_CAPACITIES: dict(capacities)})
            self._connection.execute("UPDATE run SET environment = ?", (environment,))

    def set_started_here(self, mark: str | None) -> None:
        """Store the mark by which this user knows a plan that was started here (see bakeoff.run.checks.trust)."""
        with self._transaction():
            self._connection.execute("UPDATE run SET started_here = ?", (mark,))

    def finish(self) -> None:
        """Mark the run as complete."""
        with self._transaction():
            self._connection.execute("UPDATE run SET finished_at = ?", (utc_now(),))

    def close(self) -> None:
        """Give up the file; its write-ahead log is folded in, so one file remains."""
        try:
            with self._transaction():
                self._connection.execute("UPDATE run SET writer = NULL")
            with explained(self.path):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except RunFileError:
            if error is None:
                raise

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._seal_run()
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _insert_header(self, header: RunHeader, planned: Sequence[PlannedTrial]) -> None:
        chains = dict.fromkeys(CHAINS, 0) | {f"{name}_sha256": seal.START for name in CHAINS}
        lists = dict.fromkeys((f"{name}_sha256" for name in LISTS), "")
        own = RUN.row(replace(header, created_at=utc_now()))
        insert(
            self._connection,
            "run",
            [{"id": 1, **own, "writer": to_json(_this_process()), **lists, **chains, "sha256": ""}],
        )
        self._insert(AGENT, header.agents)
        self._insert(CONTENDER, header.contenders)
        self._insert(PLANNED, planned)
        for table in LISTS:
            seal.seal_list(self._connection, table)

    def _insert(self, shape: Shape[Any], records: Sequence[Any]) -> None:
        """Write rows behind those of a table that is sealed as a whole."""
        first = self._connection.execute(f"SELECT count(*) FROM {shape.table}").fetchone()[0]
        rows = [{"position": place, **shape.row(one)} for place, one in enumerate(records, first)]
        insert(self._connection, shape.table, rows)
        seal.seal_list(self._connection, shape.table)

    def _insert_events(self, events: Iterable[EventRecord], trial_id: int | None) -> None:
        run = self._connection.execute("SELECT events, events_sha256 FROM run").fetchone()
        count, link = run["events"], run["events_sha256"]
        for e in events:
            of = e.trial_id if trial_id is None else trial_id
            insert(self._connection, "events", [EVENT.row(replace(e, trial_id=of))])
            row = self._connection.execute("SELECT * FROM events WHERE id = last_insert_rowid()").fetchone()
            count, link = count + 1, seal.next_link(link, seal.row_seal(row))
        self._connection.execute("UPDATE run SET events = ?, events_sha256 = ?", (count, link))

    def _seal_trial(self, trial_id: int) -> None:
        sealed = seal.stored_trial_seal(self._connection, trial_id)
        self._connection.execute("UPDATE trials SET sha256 = ? WHERE id = ?", (sealed, trial_id))
        link = self._connection.execute("SELECT trials_sha256 FROM run").fetchone()[0]
        new = seal.next_link(link, sealed)
        self._connection.execute("UPDATE run SET trials = trials + 1, trials_sha256 = ?", (new,))

    def _seal_run(self) -> None:
        sealed = seal.run_seal(self._connection.execute("SELECT * FROM run").fetchone())
        self._connection.execute("UPDATE run SET sha256 = ?", (sealed,))

    def _take_over(self) -> None:
        with self._transaction():
            run = self._connection.execute("SELECT * FROM run").fetchone()
            if run is None or seal.run_seal(run) != run["sha256"]:
                raise damaged(self.path, "the seal of its run is broken")
            pid = None if run["writer"] is None else _running(run["writer"])
            if pid is not None:
                raise RunFileError(f"{self.path} is being written by process {pid}: wait until that run ends")
            self._connection.execute("UPDATE run SET writer = ?", (to_json(_this_process()),))


def _reserve(path: Path) -> None:
    """Create the empty file, and fail if somebody has it already: nothing is ever overwritten."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        raise RunFileError(
            f"{path} exists already: choose another name with -o, or go on with it by `bakeoff resume {path}`"
        ) from None
    except OSError as error:
        raise RunFileError(f"{path} cannot be written: {error.strerror}; choose another place with -o") from None


def _blob(name: str, blob: bytes | None) -> dict[str, Any]:
    """The columns of a histogram."""
    return {name: blob, f"{name}_sha256": None if blob is None else seal.blob_seal(blob)}


def _this_process() -> dict[str, Any]:
    process = psutil.Process()
    return {"host": socket.gethostname(), "pid": process.pid, "started": process.create_time()}


def _running(owner: str) -> int | None:
    """The process that writes the file, as it is noted there, if it still runs on this machine."""
    try:
        noted = json.loads(owner)
        host, pid, started = noted["host"], int(noted["pid"]), float(noted["started"])
        process = psutil.Process(pid)
        same = host == socket.gethostname() and abs(process.create_time() - started) < 1.0
        return pid if same and process.status() != psutil.STATUS_ZOMBIE else None
    except (psutil.Error, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
