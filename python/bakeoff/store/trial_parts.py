"""The parts of a trial record: figures of times, rows by operation, step, second, client and machine, planned starts,
and what a search made of the trial.

Times are in nanoseconds where the name ends in `_ns`, seconds where it ends in `_s`; byte counts are of bodies and
headers together, as received.
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bakeoff.store.records import TrialRecord

# Preamble, checksum and gap around each frame of Ethernet: counters do not have them, the wire does.
AROUND_FRAME_BYTES = 24
# What every objective bounds at a rate beside its own terms: by how much the queue of what waits grew.
GROWTH_TERM = "growth"


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
    run_delay_share: float | None
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

    `answered` are the turns that ended well in the window; a turn is what one start begins: an operation, or several.

    `late` says how late those were that found every connection busy, `ran_out` counts them, with those that never
    began. `connections_used` are all that were opened to carry the rate. `queue` are the turns that were due and not
    over, at the begin of the window and at even distances up to its end; empty where nobody counted them. `answered`
    counts by the end of a turn, `fates` by its planned start; None where a start is no turn.
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


# The counts of it, by name.
START_COUNTS = tuple(field.name for field in fields(StartsRecord) if field.name not in ("late", "queue", "fates"))
FATES = tuple(field.name for field in fields(FatesRecord))


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


def missing_of(trial: "TrialRecord") -> int:
    """Operations of a trial that have no time: those that failed, and planned ones that never started, where nobody
    counted how long they waited.
    """
    starts = trial.starts
    return trial.errors_total + (starts.never_started if starts is not None and not starts.queue else 0)
