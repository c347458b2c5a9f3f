"""The parts of a trial record: figures of times, rows by operation, step, second, client and machine, planned starts,
and what a search made of the trial.

Times are in nanoseconds where the name ends in `_ns`, seconds where it ends in `_s`; byte counts are of bodies and
headers together, as received.
"""

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any

from bakeoff.store.records.figure import (
    MOST_CLIENTS,
    BytesIn,
    BytesOut,
    CpuPerOperation,
    CpuShare,
    ErrorCount,
    Errors,
    Figure,
    Memory,
    Operations,
    PerSecond,
    RunDelayShare,
    Window,
)

if TYPE_CHECKING:
    from bakeoff.store.records.run_records import TrialRecord

# Preamble, checksum and gap around each frame of Ethernet: counters do not have them, the wire does.
AROUND_FRAME_BYTES = 24
# What every objective bounds at a rate beside its own terms: by how much the queue of what waits grew.
GROWTH_TERM = "growth"
SHARE_TERMS = ("errors", "achieved", GROWTH_TERM)


@dataclass(frozen=True)
class Summary:
    """One histogram in figures. All times are None when `count` is 0."""

    count: Annotated[int, Figure("how many values there are")]
    mean_ns: Annotated[float | None, Figure("mean; NULL where there is no value, as all that follow")] = None
    p50_ns: Annotated[int | None, Figure("median")] = None
    p95_ns: Annotated[int | None, Figure("95th percentile")] = None
    p99_ns: Annotated[int | None, Figure("99th percentile")] = None
    p999_ns: Annotated[int | None, Figure("99.9th percentile")] = None
    max_ns: Annotated[int | None, Figure("largest value")] = None
    min_ns: Annotated[int | None, Figure("smallest value")] = None


Service = Annotated[Summary, Figure("service times of operations that ended well")]
Response = Annotated[Summary, Figure("times from planned starts, where a rate plans them")]
EMPTY_SUMMARY = Summary(0, None, None, None, None, None, None, None)


@dataclass(frozen=True)
class OperationRecord:
    """One operation class inside the measured window, such as `static/223`."""

    name: Annotated[str, Figure("the class")]
    operations: Operations
    errors: Errors
    bytes_in: BytesIn
    bytes_out: BytesOut
    service: Service


@dataclass(frozen=True)
class StepRecord:
    """One step of the operations, such as `connect` or `first_byte`."""

    name: Annotated[str, Figure("the step")]
    summary: Annotated[Summary, Figure("its times", column="times")]


@dataclass(frozen=True)
class SecondRecord:
    """One row of a trial's series."""

    second: Annotated[int, Figure("which one, from 0")]
    phase: Annotated[str, Figure("`ramp_up`, `window` or `ramp_down`")]
    operations: Operations
    errors: ErrorCount
    bytes_in: BytesIn
    service: Service
    width_s: Annotated[float, Figure("its length: 1, less at the end")] = 1.0


@dataclass(frozen=True)
class ClientRecord:
    """What one simulated client did inside the measured window."""

    client: Annotated[int, Figure("which one, from 0")]
    operations: Operations
    errors: ErrorCount
    bytes_in: BytesIn
    busy_s: Annotated[float, Figure("time in which one of its operations ran")]


LinkShare = Annotated[float, Figure("how full it was; null where its speed is not stated: `unjudged` says why")]


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
    def share(self) -> LinkShare | None:
        """How full it was in its fuller direction, from 0 to 1; None where that cannot be said."""
        if not self.bits_per_s or self.span_s <= 0:
            return None
        frames_in = self.bytes_in + AROUND_FRAME_BYTES * self.packets_in
        frames_out = self.bytes_out + AROUND_FRAME_BYTES * self.packets_out
        return 8.0 * max(frames_in, frames_out) / self.span_s / self.bits_per_s


# Of what a share tells of the clocks of its machine: see `AgentResultRecord.clock_error_ns`.
CLOCK_ERROR = "clock_error_ns"


@dataclass(frozen=True)
class AgentResultRecord:
    """What one agent did of a trial, inside the measured window; all 0 when it was lost. `starts` and `response` are
    there where a rate plans them, as in a trial.
    """

    agent: Annotated[str, Figure("which agent", sql="REFERENCES agents(name)")]
    clients: Annotated[int, Figure("how many of the trial's clients were its own", most=MOST_CLIENTS)]
    lost: Annotated[str, Figure("why it was lost in the middle of the trial; empty when it was not")] = ""
    window_s: Window = 0.0
    operations: Operations = 0
    errors: Errors = field(default_factory=dict)
    bytes_in: BytesIn = 0
    bytes_out: BytesOut = 0
    service: Service = EMPTY_SUMMARY
    cpu_share: CpuShare = 0.0
    cpu_us_per_operation: CpuPerOperation = 0.0
    run_delay_share: RunDelayShare | None = None
    rss_bytes: Memory = 0
    late_start_p99_ns: Annotated[int | None, Figure("99th percentile of how late its clients began")] = None
    lag_p99_ns: Annotated[
        int | None, Figure("99th percentile of how long a finished operation waited to be taken by the generator")
    ] = None
    disturbances: Annotated[
        dict[str, Any],
        Figure(
            "stops, suspends, steps of the clock and stolen time of its machine, and how far off start_offset_ns may "
            "be (`clock_error_ns`), JSON object"
        ),
    ] = field(default_factory=dict)
    start_offset_ns: Annotated[
        int | None,
        Figure(
            "how long after the first agent of the trial it began, by the clock of the controller; NULL where "
            "unknown, as for a single agent"
        ),
    ] = None
    links: Annotated[
        tuple[LinkRecord, ...],
        Figure(
            "its links that led to the contender: speed in bits/s (null: `unjudged` says why), bytes and packets of "
            "all its traffic both ways in `span_s` of the window, JSON array"
        ),
    ] = ()
    starts: "Starts | None" = None
    response: Response | None = None

    @property
    def clock_error_ns(self) -> Annotated[int | None, Figure("how far off the offset of its start may be")]:
        """How far off `start_offset_ns` may be: half of what it took to ask its clock. None where nobody knows."""
        error_ns = self.disturbances.get(CLOCK_ERROR)
        return error_ns if isinstance(error_ns, int) and error_ns >= 0 else None

    @property
    def times(self) -> Summary:
        """What a user waited: from planned starts where there are any, else from the start."""
        return self.service if self.response is None else self.response

    @property
    def operations_per_s(self) -> PerSecond:
        """Operations that ended well, by the length of its window."""
        return self.operations / self.window_s if self.window_s > 0 else 0.0


@dataclass(frozen=True)
class FatesRecord:
    """What had become, at the window's end, of the starts that were planned for it: `answered` well, `failed`, or begun
    and still `open`. With those that never started they are all that were offered.
    """

    answered: int
    failed: int
    open: int


@dataclass(frozen=True)
class StartsRecord:
    """Starts that a rate planned for the window: how many, how many of them began, and how many never did.

    `answered` are the iterations that ended well in the window; an iteration is what one start begins: an operation, or
    several.

    `late` says how late those were that found every connection busy, `ran_out` counts them, with those that never
    began. `connections_used` are all that were opened to carry the rate. `queue` are the iterations that were due and
    not over, at the begin of the window and at even distances up to its end; empty where nobody counted them.
    `answered` counts by the end of an iteration, `fates` by its planned start; None where a start is no iteration.
    """

    offered: int
    started: int
    never_started: int
    answered: int
    ran_out: int
    connections_used: int
    late: Summary
    queue: tuple[int, ...] = ()
    fates: FatesRecord | None = None


Starts = Annotated[
    StartsRecord,
    Figure(
        "of a rate: starts planned for the window, begun, never begun, iterations answered in it, starts that found "
        "every connection busy and how late they were, connections used, what became of them (`fates`), and the "
        "queue: iterations due and not over at the begin of the window and at even distances up to its end, JSON "
        "object"
    ),
]
# The counts of it, by name.
START_COUNTS = tuple(one.name for one in fields(StartsRecord) if one.name not in ("late", "queue", "fates"))
FATES = tuple(one.name for one in fields(FatesRecord))


@dataclass(frozen=True)
class TermRecord:
    """One term of an objective in one trial: what it came to, a time in ns or a share, None where nothing was; the
    share of the operations asked for that it counts as forfeited; and whether it was met.
    """

    term: str
    value: float | None
    lost: float
    met: bool

    @property
    def name(self) -> str:
        """What it bounds: `p99`."""
        return self.term.partition("<")[0].partition(">")[0]

    @property
    def is_share(self) -> bool:
        """Whether it comes to a share: of `visible errors` as of `errors`."""
        return self.name.split(" ")[-1] in SHARE_TERMS


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


Judged = Annotated[
    JudgedRecord,
    Figure("what the objective of a plan or a search made of it: met, share lost, the generator's limit, terms, JSON"),
]


def missing_of(trial: "TrialRecord") -> int:
    """Operations of a trial that have no time: those that failed, and planned ones that never started, where nobody
    counted how long they waited.
    """
    starts = trial.starts
    return trial.errors_total + (starts.never_started if starts is not None and not starts.queue else 0)
