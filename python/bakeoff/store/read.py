"""Read a run file into records. Reading never changes the file and works while a run is being written.

Every row is checked against its seal (bakeoff.store.seal) and every value against its type before it is believed; a
file that does not stand these checks is refused, by one RunFileError.
"""

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bakeoff.errors import RunFileError
from bakeoff.store import checked, judged, seal, shares, starts, telemetry
from bakeoff.store.canonical import plan_hash
from bakeoff.store.fields import DamagedError, Fields
from bakeoff.store.figures import figures_of
from bakeoff.store.records import (
    AMENDMENTS,
    CLEAR,
    EVENT_CODES,
    FAILED,
    INTERRUPTED,
    OUTCOMES,
    PURPOSES,
    REASON_CODES,
    STATES,
    VOIDED,
    AgentRecord,
    AmendmentRecord,
    ContenderRecord,
    EventRecord,
    PlannedTrial,
    RunRecord,
    SearchRecord,
    SoakRowRecord,
    TrialRecord,
)
from bakeoff.store.rows import PlainRows, Row, Rows, Tables, tables_of
from bakeoff.store.schema import SCHEMA_VERSION, connect, damaged, explained, wal_of
from bakeoff.store.soak import from_row, summary_of
from bakeoff.store.trial_parts import ClientRecord, OperationRecord, SecondRecord, StartsRecord, StepRecord, Summary

T = TypeVar("T")
Parts = dict[str, list[Fields]]

NULL_RATE = "null_operations_per_s"


@dataclass(frozen=True)
class _Content:
    """The rows of a file that stood the checks; of each planned trial the latest attempt."""

    run: Fields
    agents: tuple[AgentRecord, ...]
    contenders: tuple[ContenderRecord, ...]
    planned: tuple[PlannedTrial, ...]
    searches: tuple[SearchRecord, ...]
    amendments: tuple[AmendmentRecord, ...]
    events: tuple[EventRecord, ...]
    soak_rows: tuple[SoakRowRecord, ...] = ()
    trials: tuple[TrialRecord, ...] = ()
    earlier: tuple[TrialRecord, ...] = ()

    @property
    def wanted(self) -> tuple[PlannedTrial, ...]:
        """The planned trials of the blocks that the run has: without those after a look at which it ended."""
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
    query = "SELECT hdr, h.sha256, t.sha256 AS trial_sha256 FROM histograms h JOIN trials t ON t.id = h.trial_id"

    def look(connection: sqlite3.Connection) -> bytes | None:
        row = connection.execute(f"{query} WHERE trial_id = ? AND name = ?", (trial_id, name)).fetchone()
        if row is None:
            return None
        blob = bytes(row["hdr"])
        whole = seal.stored_trial_seal(connection, trial_id) == row["trial_sha256"]
        if not whole or seal.blob_seal(blob) != row["sha256"]:
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
        query, columns = "SELECT * FROM soak_rows WHERE position = ? ORDER BY id", ("hdr", "response_hdr")
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
    run, plan = content.run, content.run.table("plan")
    if as_planned and plan_hash(plan) != run.text("plan_hash"):
        raise DamagedError("the plan is not the one of its hash")
    _check_figures(run.text("kind"), content.trials)
    return RunRecord(
        path=path,
        schema_version=SCHEMA_VERSION,
        name=run.text("name"),
        suite=run.text("suite"),
        kind=run.text("kind"),
        plan=plan,
        plan_hash=run.text("plan_hash"),
        created_at=run.moment("created_at"),
        finished_at=None if run.is_null("finished_at") else run.moment("finished_at"),
        tool=run.table("tool"),
        environment={**(content.agents[0].facts if content.agents else {}), **run.table("environment")},
        contenders=content.contenders,
        mixes=run.mixes("mixes"),
        blocks_planned=run.whole("blocks_planned", least=1),
        delta=run.positive("delta", below=1),
        null_operations_per_s=None if run.is_null(NULL_RATE) else run.positive(NULL_RATE),
        trials_planned=len(content.wanted),
        trials=content.trials,
        events=content.events,
        started_here=run.text_or_none("started_here"),
        agents=content.agents,
        searches=content.searches,
        soak_rows=content.soak_rows,
        amendments=content.amendments,
        earlier=content.earlier,
        pending=content.pending,
        seal=run.text("sha256"),
    )


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
    run = Fields("run", rows.run())
    agents, contenders, planned, searches, amendments = (
        [Fields(table, one) for one in rows.table(table)] for table in seal.LISTS
    )
    content = _Content(
        run=run,
        agents=tuple(AgentRecord(a.text("name"), a.table("facts"), a.real_or_none(NULL_RATE)) for a in agents),
        contenders=tuple(
            ContenderRecord(c.text("name"), c.text("address"), c.text_or_none("reset")) for c in contenders
        ),
        planned=tuple(map(_planned, planned)),
        searches=tuple(_search(search, len(planned)) for search in searches),
        amendments=tuple(map(_amendment, amendments)),
        events=tuple(map(_event, (Fields("events", one) for one in rows.events()))),
    )
    _check_planned(content)
    fields = [Fields("soak_rows", one) for one in rows.soak_rows()]
    content = replace(content, soak_rows=tuple(from_row(content.planned, one) for one in fields))
    latest, earlier = dict[int, TrialRecord](), list[TrialRecord]()
    for trial, parts in rows.trials():
        record = _attempt(content, Fields("trials", trial), parts)
        before = latest.get(record.order)
        if before is not None and before.state in (FAILED, VOIDED):
            earlier.append(before)
        latest[record.order] = record
    return replace(content, trials=tuple(latest[order] for order in sorted(latest)), earlier=tuple(earlier))


def _planned(row: Fields) -> PlannedTrial:
    return PlannedTrial(
        order=row.whole("position"),
        contender=row.text("contender"),
        mix=row.mix("mix"),
        block=row.whole("block", least=1),
        seed=row.whole("seed"),
        purpose=row.one_of("purpose", PURPOSES),
        share=row.real_or_none("share"),
    )


def _search(row: Fields, planned: int) -> SearchRecord:
    met, missed = (None if row.is_null(name) else row.whole(name, most=planned - 1) for name in ("met", "missed"))
    return SearchRecord(
        contender=row.text("contender"),
        block=row.whole("block", least=1),
        outcome=row.one_of("outcome", OUTCOMES),
        reason=row.text("reason"),
        met=met,
        missed=missed,
        code=row.one_of("code", REASON_CODES),
    )


def _amendment(row: Fields) -> AmendmentRecord:
    return AmendmentRecord(
        at=row.moment("at"),
        sort=row.one_of("sort", AMENDMENTS),
        text=row.text("text"),
        blocks_seen=row.whole("blocks_seen"),
        blocks_before=row.whole("blocks_before", least=1),
        blocks=row.whole("blocks", least=1),
        contender=row.text_or_none("contender"),
        plan_hash=row.text("plan_hash"),
    )


def _check_planned(content: _Content) -> None:
    run, blocks = content.run, content.run.whole("blocks_planned", least=1)
    names, mixes = {c.name for c in content.contenders}, set(run.mixes("mixes"))
    if not mixes and run.table("plan").get("capacity") is None:
        raise DamagedError("it has no mixes")
    for place, trial in enumerate(content.planned):
        # The loads of a search are not known before.
        known = trial.contender in names and (trial.mix in mixes or not mixes) and trial.block <= blocks
        if trial.order != place or not known or bool(mixes) == bool(trial.purpose):
            raise DamagedError(f"planned trial {place} does not belong to the plan")
    if mixes and blocks > max(1, len(content.planned)):
        raise DamagedError("more blocks are planned than trials")
    for search in content.searches:
        if search.contender not in names or search.block > blocks:
            raise DamagedError("a search does not belong to the plan")
    for each in content.amendments:
        if max(each.blocks, each.blocks_before, each.blocks_seen) > blocks or each.contender not in {*names, None}:
            raise DamagedError("an amendment does not belong to the plan")


def _event(row: Fields) -> EventRecord:
    return EventRecord(
        row.moment("at"),
        row.text("level"),
        row.text("text"),
        row.whole_or_none("trial_id"),
        row.one_of("code", EVENT_CODES),
        row.text_or_none("contender"),
        row.text("reason"),
    )


def _attempt(content: _Content, trial: Fields, parts: Mapping[str, Sequence[Row]]) -> TrialRecord:
    """One that was stored; a trial that was interrupted may be there again."""
    order = trial.whole("position", most=len(content.planned) - 1)
    fields = {table: [Fields(table, part) for part in rows] for table, rows in parts.items()}
    return _trial(content.planned[order], trial, fields, content.agents)


def _operation(row: Fields) -> OperationRecord:
    return OperationRecord(
        row.text("name"),
        row.whole("operations"),
        row.counts("errors"),
        row.whole("bytes_in"),
        row.whole("bytes_out"),
        summary_of(row),
    )


def _second(row: Fields) -> SecondRecord:
    return SecondRecord(
        row.whole("second"),
        row.text("phase"),
        row.whole("operations"),
        row.whole("errors"),
        row.whole("bytes_in"),
        summary_of(row),
        row.real("width_s"),
    )


def _client(row: Fields) -> ClientRecord:
    return ClientRecord(
        row.whole("client"), row.whole("operations"), row.whole("errors"), row.whole("bytes_in"), row.real("busy_s")
    )


def _series(parts: Parts) -> dict[str, Summary]:
    series = {row.text("series"): summary_of(row) for row in parts["summaries"]}
    if missing := {"service", "late_start", "lag"} - set(series):
        raise DamagedError(f"a trial has no series {missing.pop()}")
    return series


def _starts(row: Fields, series: dict[str, Summary]) -> StartsRecord | None:
    """What is told of a rate's starts; None of a closed loop."""
    if row.is_null("starts"):
        return None
    if not {"response", "late"} <= set(series):
        raise DamagedError("a trial at a rate does not tell its starts")
    return starts.from_counts(row, series["late"])


def _trial(planned: PlannedTrial, row: Fields, parts: Parts, agents: tuple[AgentRecord, ...]) -> TrialRecord:
    series = _series(parts)
    return TrialRecord(
        id=row.whole("id"),
        contender=planned.contender,
        mix=planned.mix,
        block=planned.block,
        order=planned.order,
        seed=planned.seed,
        state=row.one_of("state", STATES),
        reason=row.text("reason"),
        marks=row.words("marks"),
        started_at=row.moment("started_at"),
        window_s=row.real("window_s"),
        operations=row.whole("operations"),
        operations_per_s=row.real("operations_per_s"),
        bytes_in=row.whole("bytes_in"),
        bytes_out=row.whole("bytes_out"),
        bytes_per_s=row.real("bytes_per_s"),
        errors=row.counts("errors"),
        statuses=row.counts("statuses"),
        service=series["service"],
        per_operation=tuple(map(_operation, parts["operations"])),
        steps=tuple(StepRecord(s.text("name"), summary_of(s)) for s in parts["steps"]),
        per_second=tuple(map(_second, parts["seconds"])),
        per_client=tuple(map(_client, parts["clients"])),
        connections=row.counts("connections"),
        generator_cpu_share=row.real("generator_cpu_share"),
        generator_cpu_us_per_operation=row.real("generator_cpu_us_per_operation"),
        generator_late_start=series["late_start"],
        generator_lag=series["lag"],
        generator_rss_bytes=row.whole("generator_rss_bytes"),
        fairness_jain=row.real("fairness_jain"),
        workload=row.table("workload"),
        generator_run_delay_share=row.real_or_none("generator_run_delay_share"),
        control_cpu_share=row.real_or_none("control_cpu_share"),
        control_longest_s=row.real_or_none("control_longest_s"),
        response=series.get("response"),
        starts=_starts(row, series),
        tried=series.get("tried"),
        per_agent=tuple(shares.from_row(share, agents) for share in parts["shares"]),
        purpose=planned.purpose,
        share=planned.share,
        judged=judged.from_row(row),
        telemetry=tuple(map(telemetry.from_row, parts["telemetry"])),
        found=None if row.is_null("found") else row.table("found"),
        code=row.one_of("code", REASON_CODES),
    )
