"""The values that a run file holds, as immutable records.

Times are in nanoseconds where the name ends in `_ns`, seconds where it ends in `_s`; byte counts are of
bodies and headers together, as received. Nothing here is computed from several trials: that is the work of
`bakeoff.compare`.
"""

from collections import Counter
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from bakeoff.mix import Mix
from bakeoff.store.figures import F, Figures, parsed

OK = "ok"
FAILED = "failed"
VOIDED = "voided"
INTERRUPTED = "interrupted"
# Where the environment of a run says what the server that does nothing was asked. Runs without it measured no ceiling:
# the rate that earlier builds stored had no socket in it.
CEILING = "ceiling"
STATES = (OK, FAILED, VOIDED, INTERRUPTED)
# What a trial of a search for the capacity is for: to find it, or to be measured at a share of it.
SEARCH = "search"
SHARE = "share"
PURPOSES = ("", SEARCH, SHARE)
# How a search for the capacity ended.
FOUND = "found"
AT_LEAST = "at_least"
NONE = "none"
DIED = "died"
UNSETTLED = "unsettled"
OUTCOMES = (FOUND, AT_LEAST, NONE, DIED, UNSETTLED)
# What became of a plan while its run went on.
ADDED = "blocks"
RETRIED = "retry"
CLEAR = "clear"
LEFT_OUT = "left_out"
# How the reason begins of a trial that was not even begun, as the run went on without its contender.
LEFT_OUT_REASON = "left out: "
AMENDMENTS = (ADDED, RETRIED, CLEAR, LEFT_OUT)
# Preamble, checksum and gap around each frame of Ethernet: counters do not have them, the wire does.
AROUND_FRAME_BYTES = 24
# What every objective bounds at a rate beside its own terms: by how much the queue of what waits grew.
GROWTH_TERM = "growth"
# In the tool of a run that Bakeoff did not measure: who did.
IMPORTED_FROM = "imported_from"


@dataclass(frozen=True)
class Summary:
    """One histogram in figures. All times are None when `count` is 0."""

    count: int
    mean_ns: float | None
    p50_ns: int | None
    p95_ns: int | None
    p99_ns: int | None
    p999_ns: int | None
    max_ns: int | None
    min_ns: int | None


EMPTY_SUMMARY = Summary(0, None, None, None, None, None, None, None)


@dataclass(frozen=True)
class OperationRecord:
    """One operation class inside the measured window, such as `static/223`."""

    name: str
    operations: int
    errors: dict[str, int]
    bytes_in: int
    bytes_out: int
    service: Summary


@dataclass(frozen=True)
class StepRecord:
    """One step of the operations, such as `connect` or `first_byte`."""

    name: str
    summary: Summary


@dataclass(frozen=True)
class SecondRecord:
    """One row of a trial's series; `phase` is `ramp_up`, `window` or `ramp_down`.

    `width_s` is its length: a second, less at the end.
    """

    second: int
    phase: str
    operations: int
    errors: int
    bytes_in: int
    service: Summary
    width_s: float = 1.0


@dataclass(frozen=True)
class ClientRecord:
    """What one simulated client did inside the measured window."""

    client: int
    operations: int
    errors: int
    bytes_in: int
    busy_s: float


@dataclass(frozen=True)
class LinkRecord:
    """What went over a link of an agent's machine while it measured, both ways, all traffic of the machine included.

    `bits_per_s` is its speed in one direction; None where it has none that a load could be held against, and `unjudged`
    says why: it is a loopback, or nobody states its speed.
    """

    name: str
    bits_per_s: int | None
    unjudged: str
    span_s: float
    bytes_in: int
    bytes_out: int
    packets_in: int
    packets_out: int

    @property
    def share(self) -> float | None:
        """How full it was in its fuller direction, from 0 to 1; None where that cannot be said."""
        if not self.bits_per_s or self.span_s <= 0:
            return None
        frames_in = self.bytes_in + AROUND_FRAME_BYTES * self.packets_in
        frames_out = self.bytes_out + AROUND_FRAME_BYTES * self.packets_out
        return 8.0 * max(frames_in, frames_out) / self.span_s / self.bits_per_s


# Of what a share tells of the clocks of its machine: see `ShareRecord.clock_error_ns`.
CLOCK_ERROR = "clock_error_ns"


@dataclass(frozen=True)
class ShareRecord:
    """What one agent did of a trial, inside the measured window.

    `lost` says why the agent was lost in the middle of it, and is empty when it was not; its figures are then 0.
    `cpu_share` and `run_delay_share` are those of its busiest load thread, and of the one that waited longest.
    `start_offset_ns` is how long after the first agent it began, by the clock of the controller; None where nobody
    knows, as for a single agent. `links` are those that led to the contender. `starts` and `response` are there where a
    rate plans them, as in a trial.
    """

    agent: str
    clients: int
    lost: str
    window_s: float
    operations: int
    errors: dict[str, int]
    bytes_in: int
    bytes_out: int
    service: Summary
    cpu_share: float
    cpu_us_per_operation: float
    run_delay_share: float
    rss_bytes: int
    late_start_p99_ns: int | None
    lag_p99_ns: int | None
    disturbances: dict[str, Any]
    start_offset_ns: int | None = None
    links: tuple[LinkRecord, ...] = ()
    starts: "StartsRecord | None" = None
    response: Summary | None = None

    @property
    def clock_error_ns(self) -> int | None:
        """How far off `start_offset_ns` may be: half of what it took to ask its clock. None where nobody knows."""
        error_ns = self.disturbances.get(CLOCK_ERROR)
        return error_ns if isinstance(error_ns, int) and error_ns >= 0 else None

    @property
    def times(self) -> Summary:
        """What a user waited: from planned starts where there are any, else from the start."""
        return self.service if self.response is None else self.response

    @property
    def operations_per_s(self) -> float:
        """Operations that ended well, by the length of its window."""
        return self.operations / self.window_s if self.window_s > 0 else 0.0


@dataclass(frozen=True)
class StartsRecord:
    """Starts that a rate planned for the window: how many, how many of them began, and how many never did.

    `answered` are the turns that ended well in the window; a turn is what one start begins: an operation, or several.

    `late` says how late those were that found every connection busy, `ran_out` counts them, with those that never
    began. `connections_used` are all that were opened to carry the rate. `queue` are the turns that were due and not
    over, at the begin of the window and at even distances up to its end; empty where nobody counted them.
    """

    offered: int
    started: int
    never_started: int
    answered: int
    ran_out: int
    connections_used: int
    late: Summary
    queue: tuple[int, ...] = ()


# The counts of it, by name.
START_COUNTS = tuple(field.name for field in fields(StartsRecord) if field.name not in ("late", "queue"))


@dataclass(frozen=True)
class TermRecord:
    """One term of an objective in one trial: what it came to, a time in ns or a share, None where nothing was; the
    share of the operations asked for that it counts as lost; and whether it was met.
    """

    term: str
    value: float | None
    lost: float
    met: bool


@dataclass(frozen=True)
class JudgedRecord:
    """A trial held against the objective of a search. `lost` is the share of the operations asked for that had no good
    reply, however late. `limit` says what limited the generator, and is empty when nothing did: what a trial missed
    then is not the contender's.
    """

    met: bool
    lost: float
    limit: str
    terms: tuple[TermRecord, ...]


@dataclass(frozen=True)
class TrialRecord:
    """One contender at one mix in one block.

    `id` is the row in the run file, `order` the position in the run from 0. `state` is one of `STATES`,
    `reason` is empty when `state` is `ok`; `marks` are warnings that do not change the state.
    `generator_run_delay_share` is the share of the window that the load thread which waited longest spent
    waiting for a processor. `workload` is what the kind of suite tells of the trial; `figures` gives it typed.
    `per_agent` is empty when the trial has no result. `service` times count from the start of an operation, `response`
    times from the planned start of a turn to its end, for turns that were not over when the window ended as far as
    they had waited: they and `starts` are there where a rate plans it. `purpose` is one of `PURPOSES`,
    empty but in a search for the capacity, of which `share` is; `judged` is there in those.
    """

    id: int
    contender: str
    mix: Mix
    block: int
    order: int
    seed: int
    state: str
    reason: str
    marks: tuple[str, ...]
    started_at: str
    window_s: float
    operations: int
    operations_per_s: float
    bytes_in: int
    bytes_out: int
    bytes_per_s: float
    errors: dict[str, int]
    statuses: dict[str, int]
    service: Summary
    per_operation: tuple[OperationRecord, ...]
    steps: tuple[StepRecord, ...]
    per_second: tuple[SecondRecord, ...]
    per_client: tuple[ClientRecord, ...]
    connections: dict[str, int]
    generator_cpu_share: float
    generator_cpu_us_per_operation: float
    generator_late_start: Summary
    generator_lag: Summary
    generator_rss_bytes: int
    fairness_jain: float
    workload: dict[str, Any]
    generator_run_delay_share: float = 0.0
    response: Summary | None = None
    starts: StartsRecord | None = None
    per_agent: tuple[ShareRecord, ...] = ()
    purpose: str = ""
    share: float | None = None
    judged: JudgedRecord | None = None
    _figures: list[Figures] = field(default_factory=list, init=False, repr=False, compare=False)

    def figures(self, model: type[F]) -> F:
        """The trial's own figures as `model`, parsed once. Raises RunFileError when they do not fit it."""
        for known in self._figures:
            if isinstance(known, model):
                return known
        figures = parsed(model, self.workload, f"the figures of trial {self.id}")
        self._figures.append(figures)
        return figures

    @property
    def errors_total(self) -> int:
        """Failed operations inside the window, all classes together."""
        return sum(self.errors.values())


@dataclass(frozen=True)
class SoakRowRecord:
    """What was done in one row of a soak: `length_s` seconds from `started_at` on.

    `order`, `contender`, `mix` and `block` are those of the planned trial that it is a part of. `number` counts from 0
    over all stretches of the soak, `stretch` from 1: a soak that was broken off goes on in another. `response` times
    are there where the load plans its starts, and so may be how many of them were `offered`, `started` and
    `never_started` in the row; `rss_bytes` is the memory of the generator at the row's end.
    """

    order: int
    contender: str
    mix: Mix
    block: int
    stretch: int
    number: int
    started_at: str
    length_s: float
    operations: int
    errors: dict[str, int]
    bytes_in: int
    bytes_out: int
    cpu_share: float
    run_delay_share: float
    stolen_s: float
    rss_bytes: int
    service: Summary
    response: Summary | None
    offered: int | None = None
    started: int | None = None
    never_started: int | None = None

    @property
    def operations_per_s(self) -> float:
        """Operations that ended well, by its length."""
        return self.operations / self.length_s if self.length_s > 0 else 0.0

    @property
    def errors_total(self) -> int:
        """Failed operations, all classes together."""
        return sum(self.errors.values())

    @property
    def error_share(self) -> float:
        """Of all operations that ended, those that failed; 0 where none ended."""
        return self.errors_total / max(1, self.operations + self.errors_total)

    @property
    def times(self) -> Summary:
        """What a user waited: from planned starts where there are any, else from the start."""
        return self.service if self.response is None else self.response


@dataclass(frozen=True)
class AgentRecord:
    """A machine that sent load; `facts` are its processor, memory, kernel, limits and links. It did
    `null_operations_per_s` is what it asks of a server on its loopback that does nothing, None until that is measured.
    """

    name: str
    facts: dict[str, Any]
    null_operations_per_s: float | None = None


@dataclass(frozen=True)
class ContenderRecord:
    """A server under test as the plan names it."""

    name: str
    address: str
    reset: str | None


@dataclass(frozen=True)
class EventRecord:
    """Something worth knowing that happened at `at` (ISO, UTC); `level` is `info` or `warning`."""

    at: str
    level: str
    text: str
    trial_id: int | None


@dataclass(frozen=True)
class PlannedTrial:
    """A trial as the plan, or a search, orders it, before it runs. `order` counts from 0, `block` from 1. `purpose` is
    one of `PURPOSES`; `share` of the capacity found it has when that is to be measured.
    """

    order: int
    contender: str
    mix: Mix
    block: int
    seed: int
    purpose: str = ""
    share: float | None = None


@dataclass(frozen=True)
class SearchRecord:
    """How a search for the capacity of a contender ended in a block. `outcome` is one of `OUTCOMES`, `reason` says why
    it is not `found`. `met` is the order of the trial with the highest load that met the objective, `missed` of that
    with the lowest load above it that did not; None where there is none.
    """

    contender: str
    block: int
    outcome: str
    reason: str
    met: int | None
    missed: int | None


@dataclass(frozen=True)
class AmendmentRecord:
    """What became of the plan of a run at `at`: `sort` is one of `AMENDMENTS`, `text` what was asked for, or why.

    `blocks_seen` were whole by then, and so could be looked at; the run had `blocks_before` and has `blocks` since.
    `contender` is the one that was left out. `plan_hash` is that of the plan before.
    """

    at: str
    sort: str
    text: str
    blocks_seen: int
    blocks_before: int
    blocks: int
    contender: str | None
    plan_hash: str


@dataclass(frozen=True)
class RunRecord:
    """A whole run file. `trials` holds the latest attempt of each planned trial, by `order`; `earlier` the failed and
    voided ones that were repeated, `pending` what is planned and not done; `soak_rows` the rows of soaks as they came,
    also of trials that have not ended. `amendments` say what became of the plan, which is held as it is since.
    A search for capacities has no `mixes` of its own, and `searches` hold what it found so far.

    `started_here` is the mark by which the user who started the run knows its plan (bakeoff.run.trust).
    `environment` is what was found of the contenders (`content`) and the facts of the first agent. `schema_version` is
    that of the record; `upgraded_from` that of the file, when it was an older one (bakeoff.store.upgrade). A run with
    `imported_from` was measured by another tool (bakeoff.importers): it has no plan, and its trials have no histograms
    and no figures of a generator but where that tool states them. `joined` are the files of runs that were measured
    one by one and stand beside each other here (bakeoff.store.join), `different` the settings in which they differ.
    """

    path: Path
    schema_version: int
    name: str
    suite: str
    kind: str
    plan: dict[str, Any]
    plan_hash: str
    created_at: str
    finished_at: str | None
    tool: dict[str, str]
    environment: dict[str, Any]
    contenders: tuple[ContenderRecord, ...]
    mixes: tuple[Mix, ...]
    blocks_planned: int
    delta: float
    null_operations_per_s: float | None
    trials_planned: int
    trials: tuple[TrialRecord, ...]
    events: tuple[EventRecord, ...]
    started_here: str | None = None
    agents: tuple[AgentRecord, ...] = ()
    upgraded_from: int | None = None
    joined: tuple[str, ...] = ()
    different: tuple[str, ...] = ()
    searches: tuple[SearchRecord, ...] = ()
    soak_rows: tuple[SoakRowRecord, ...] = ()
    amendments: tuple[AmendmentRecord, ...] = ()
    earlier: tuple[TrialRecord, ...] = ()
    pending: tuple[PlannedTrial, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do. A search plans as it goes: it is over when it says so."""
        return not self.pending and (self.finished_at is not None or bool(self.mixes))

    @property
    def blocks_wanted(self) -> int:
        """How many blocks the run has: all that are planned, or those up to the look at which it ended."""
        ends = self.amended(CLEAR)
        return ends[-1].blocks if ends else self.blocks_planned

    @property
    def blocks_whole(self) -> int:
        """How many of them are done."""
        if not self.mixes:
            ended = Counter(search.block for search in self.searches)
            return sum(number == len(self.contenders) for number in ended.values())
        return self.blocks_wanted - len({trial.block for trial in self.pending})

    @property
    def first_plan_hash(self) -> str:
        """The hash of the plan that the run was started with."""
        return self.amendments[0].plan_hash if self.amendments else self.plan_hash

    def amended(self, sort: str) -> tuple[AmendmentRecord, ...]:
        """What became of the plan in one way, in the order in which it did."""
        return tuple(each for each in self.amendments if each.sort == sort)

    @property
    def imported_from(self) -> str | None:
        """The tool that measured this run, unless Bakeoff did."""
        return self.tool.get(IMPORTED_FROM)
