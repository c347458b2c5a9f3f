"""Read a run file into records. Reading never changes the file and works while a run is being written.

Every row is checked against its seal (`seal.py`) and every value against its type before it is believed;
a file that does not stand these checks is refused, by one RunFileError.
"""

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bakeoff.core.errors import RunFileError
from bakeoff.store.records.figures import figures_of
from bakeoff.store.records.run_records import (
    CLEAR,
    FAILED,
    INTERRUPTED,
    VOIDED,
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
from bakeoff.store.records.values import DamagedError
from bakeoff.store.sqlite import checked, seal
from bakeoff.store.sqlite.canonical import plan_hash
from bakeoff.store.sqlite.rows import PlainRows, Rows, Tables, tables_of
from bakeoff.store.sqlite.schema import (
    AGENT,
    AMENDMENT,
    ATTEMPT,
    CONTENDER,
    EVENT,
    INTERVAL_OF_SOAK,
    PARTS,
    PLANNED,
    RUN,
    SCHEMA_VERSION,
    SEARCH,
    SOAK_INTERVAL,
    TRIAL,
    connect,
    damaged,
    explained,
    wal_of,
)
from bakeoff.store.sqlite.table import Row, Shape

T = TypeVar("T")


@dataclass(frozen=True)
class _Content:
    """The rows of a file that stood the checks; of each planned trial the latest attempt."""

    run: Row
    agents: tuple[AgentRecord, ...]
    contenders: tuple[ContenderRecord, ...]
    planned: tuple[PlannedTrial, ...]
    searches: tuple[SearchRecord, ...]
    amendments: tuple[AmendmentRecord, ...]
    events: tuple[EventRecord, ...]
    soak_intervals: tuple[SoakIntervalRecord, ...] = ()
    trials: tuple[TrialRecord, ...] = ()
    earlier: tuple[TrialRecord, ...] = ()

    @property
    def wanted(self) -> tuple[PlannedTrial, ...]:
        """The planned trials of the blocks that the run has: without those after an analysis at which it ended."""
        ends = [each.blocks for each in self.amendments if each.sort == CLEAR]
        return tuple(trial for trial in self.planned if trial.block <= ends[-1]) if ends else self.planned

    @property
    def pending(self) -> tuple[PlannedTrial, ...]:
        """Those that are still to do: never stored, or interrupted; in the order of the plan."""
        done = {trial.order for trial in self.trials if trial.state != INTERRUPTED}
        return tuple(trial for trial in self.wanted if trial.order not in done)


def read_run(path: Path) -> RunRecord:
    """The whole run file as one record.

    Raises RunFileError when the file is missing, not a run file, damaged or of a later version.
    """
    return _read(path, lambda connection: _record(path, checked.Sealed(connection)))


def read_tables(path: Path) -> Tables:
    """The rows of a run file, checked as `read_run` does. Raises RunFileError."""
    return _read(path, lambda connection: tables_of(checked.Sealed(connection)))


def record_of(path: Path, tables: Tables) -> RunRecord:
    """The record of rows that were taken out of the run file at `path`, changed or not since: the hash of the plan is
    the one that they tell. Raises RunFileError where they are not those of a run.
    """
    try:
        return _record(path, PlainRows(tables), as_planned=False)
    except (DamagedError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise damaged(path, error) from error


def histogram(path: Path, trial_id: int, name: str) -> bytes:
    """One histogram of a trial (HdrHistogram V2, nanoseconds), such as `service` or `op/static/223`.

    Raises RunFileError when the trial has no histogram of that name, or it is not as it was written.
    """
    query = "SELECT hdr, hdr_sha256, t.sha256 FROM histograms h JOIN trials t ON t.id = h.trial_id"

    def look(connection: sqlite3.Connection) -> bytes | None:
        row = connection.execute(f"{query} WHERE trial_id = ? AND name = ?", (trial_id, name)).fetchone()
        if row is None:
            return None
        blob = bytes(row["hdr"])
        whole = seal.stored_trial_seal(connection, trial_id) == row["sha256"]
        if not whole or seal.blob_seal(blob) != row["hdr_sha256"]:
            raise DamagedError(f"the histogram {name!r} of trial {trial_id} is not the one that was written")
        return blob

    blob = _read(path, look)
    if blob is None:
        raise RunFileError(f"{path}: trial {trial_id} has no histogram {name!r}")
    return blob


def soak_histograms(path: Path, order: int, without: Collection[int] = ()) -> tuple[list[bytes], list[bytes]]:
    """The histograms of all rows of the planned trial `order`, `without` those of these numbers: of service times, and
    of response times where the load plans its starts (HdrHistogram V2; rows without an operation have none).

    Raises RunFileError when one is not as it was written.
    """

    def look(connection: sqlite3.Connection) -> tuple[list[bytes], list[bytes]]:
        query, columns = "SELECT * FROM soak_intervals WHERE position = ? ORDER BY id", ("hdr", "response_hdr")
        blobs: tuple[list[bytes], list[bytes]] = [], []
        for row in connection.execute(query, (order,)):
            if row["number"] in without:
                continue
            for column, found in zip(columns, blobs, strict=True):
                blob = bytes(row[column] or b"")
                if row[column] is not None and seal.blob_seal(blob) != row[f"{column}_sha256"]:
                    raise DamagedError(f"a histogram of row {row['number']} is not the one that was written")
                found += [blob] if blob else []
        return blobs

    return _read(path, look)


def pending(path: Path) -> tuple[PlannedTrial, ...]:
    """The planned trials that are still to do: never stored, or interrupted; in the order of the plan."""
    return _read(path, _sealed_content).pending


def planned(path: Path) -> tuple[PlannedTrial, ...]:
    """All planned trials, in the order of the plan."""
    return _read(path, _sealed_content).planned


def _read(path: Path, work: Callable[[sqlite3.Connection], T]) -> T:
    """`work` on one consistent view of the file; done again if a writer came while it was read quietly."""
    quiet = not wal_of(path).exists()
    try:
        result = _read_once(path, work, quiet)
    except RunFileError:
        if not (quiet and wal_of(path).exists()):  # else it was only read while it changed
            raise
        return _read_once(path, work, quiet=False)
    return _read_once(path, work, quiet=False) if quiet and wal_of(path).exists() else result


def _read_once(path: Path, work: Callable[[sqlite3.Connection], T], quiet: bool) -> T:
    connection = connect(path, write=False, quiet=quiet)
    try:
        with explained(path):
            connection.execute("BEGIN")
            return work(connection)
    except (DamagedError, ValueError, TypeError) as error:  # a row that cannot be sealed has values of wrong types
        raise damaged(path, error) from error
    finally:
        connection.close()


def _record(path: Path, rows: Rows, as_planned: bool = True) -> RunRecord:
    """`as_planned`: the plan is that of its hash, or the rows are refused."""
    content = _content(rows)
    run = RUN.read(
        content.run,
        path=path,
        schema_version=SCHEMA_VERSION,
        contenders=content.contenders,
        trials_planned=len(content.wanted),
        trials=content.trials,
        events=content.events,
        agents=content.agents,
        searches=content.searches,
        soak_intervals=content.soak_intervals,
        amendments=content.amendments,
        earlier=content.earlier,
        pending=content.pending,
        seal=content.run["sha256"],
    )
    if as_planned and plan_hash(run.plan) != run.plan_hash:
        raise DamagedError("the plan is not the one of its hash")
    _check_figures(run.kind, run.trials)
    facts = run.agents[0].facts if run.agents else {}
    return replace(run, environment={**facts, **run.environment})


def _check_figures(kind: str, trials: tuple[TrialRecord, ...]) -> None:
    """Read the figures that the kind tells of each trial: whoever asks for them later need not check."""
    model = figures_of(kind)
    try:
        for trial in trials:
            trial.figures(model)
    except RunFileError as error:
        raise DamagedError(str(error)) from error


def _sealed_content(connection: sqlite3.Connection) -> _Content:
    return _content(checked.Sealed(connection))


def _content(rows: Rows) -> _Content:
    content = _Content(
        run=rows.run(),
        agents=_listed(rows, AGENT),
        contenders=_listed(rows, CONTENDER),
        planned=_listed(rows, PLANNED),
        searches=_listed(rows, SEARCH),
        amendments=_listed(rows, AMENDMENT),
        events=tuple(map(EVENT.read, rows.events())),
    )
    _check_planned(content)
    content = replace(content, soak_intervals=tuple(_soak_row(content, row) for row in rows.soak_intervals()))
    latest, earlier = dict[int, TrialRecord](), list[TrialRecord]()
    for trial, parts in rows.trials():
        record = _attempt(content, trial, parts)
        before = latest.get(record.order)
        if before is not None and before.state in (FAILED, VOIDED):
            earlier.append(before)
        latest[record.order] = record
    return replace(content, trials=tuple(latest[order] for order in sorted(latest)), earlier=tuple(earlier))


def _listed(rows: Rows, shape: Shape[T]) -> tuple[T, ...]:
    return tuple(map(shape.read, rows.table(shape.table)))


def _check_planned(content: _Content) -> None:
    blocks, load_steps, plan = (RUN.value(content.run, name) for name in ("blocks_planned", "load_steps", "plan"))
    names = {c.name for c in content.contenders}
    if not load_steps and plan.get("capacity") is None:
        raise DamagedError("it has no load steps")
    loads = frozenset(load_steps)
    for place, trial in enumerate(content.planned):
        # The loads of a search are not known before.
        known = trial.contender in names and (trial.load_step in loads or not loads) and trial.block <= blocks
        if trial.order != place or not known or bool(load_steps) == bool(trial.purpose):
            raise DamagedError(f"planned trial {place} does not belong to the plan")
    if load_steps and blocks > max(1, len(content.planned)):
        raise DamagedError("more blocks are planned than trials")
    for search in content.searches:
        is_planned = all(place is None or place < len(content.planned) for place in (search.met, search.missed))
        if search.contender not in names or search.block > blocks or not is_planned:
            raise DamagedError("a search does not belong to the plan")
    for each in content.amendments:
        if max(each.blocks, each.blocks_before, each.blocks_seen) > blocks or each.contender not in {*names, None}:
            raise DamagedError("an amendment does not belong to the plan")


def _attempt(content: _Content, row: Row, parts: Mapping[str, Sequence[Row]]) -> TrialRecord:
    """One that was stored; a trial that was interrupted may be there again."""
    attempt = ATTEMPT.read(row)
    trial = TRIAL.read(
        row,
        **{part.field: tuple(map(part.shape.read, parts[part.shape.table])) for part in PARTS},
        **vars(_planned_of(content, attempt.position)),
        id=attempt.id,
    )
    if trial.starts is not None and trial.response is None:
        raise DamagedError("a trial at a rate does not tell its times")
    if not {share.agent for share in trial.per_agent} <= {agent.name for agent in content.agents}:
        raise DamagedError("a trial names an agent that is not there")
    if any(share.starts is not None and share.response is None for share in trial.per_agent):
        raise DamagedError("an agent's share of a trial at a rate does not tell its times")
    return trial


def _soak_row(content: _Content, row: Row) -> SoakIntervalRecord:
    of = _planned_of(content, INTERVAL_OF_SOAK.read(row).position)
    return SOAK_INTERVAL.read(row, order=of.order, contender=of.contender, load_step=of.load_step, block=of.block)


def _planned_of(content: _Content, position: int) -> PlannedTrial:
    if position >= len(content.planned):
        raise DamagedError(f"a trial at {position} is not planned")
    return content.planned[position]
