"""What the engine reports, parsed from its JSON: the result of a trial and the snapshots while it runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from bakeoff.store.records.trial_parts import (
    ClientRecord,
    LinkRecord,
    OperationRecord,
    SecondRecord,
    StartsRecord,
    StepRecord,
    Summary,
)
from bakeoff.telemetry.model import Telemetry


class _Result(BaseModel):
    # A newer engine may report more than this control plane knows.
    model_config = ConfigDict(extra="ignore", frozen=True)


@cache
def _summaries() -> TypeAdapter[Summary]:
    return TypeAdapter(Summary)


def summary_of(text: str) -> Summary:
    """A histogram in figures, as the engine tells it."""
    return _summaries().validate_json(text)


class ConnectionsResult(_Result):
    """Connections of the trial; `receive_buffer_bytes` is what the kernel made of the one asked for, 0 if none was."""

    opened: int
    failed: int
    tls_full: int = 0
    tls_resumed: int = 0
    late_closes: int = 0
    unsolicited: int = 0
    receive_buffer_bytes: int = 0


class StopResult(_Result):
    """A time in which the generator's process did not run: `at_s` after the start of traffic, `length_s` long, of which
    `window_s` lie in the measured window.
    """

    at_s: float
    length_s: float
    window_s: float


class DisturbancesResult(_Result):
    """What happened to the generator's process and machine during the trial.

    `stops` are the long ones, waits for a processor among them. `stopped_s` is all time of the window in which the
    process was stopped, in stops of any length, `interrupted` how many of those the kernel told; `throttled_s` is what
    a control group's limit took in the window, over all processors, in `throttled` periods. `stolen_s` is the time
    that the hypervisor gave to others, a mean over its processors, and `stolen_share` that of the whole trial. None:
    nobody measured it.
    """

    stops: tuple[StopResult, ...] = ()
    suspended_s: float = 0.0
    clock_step_s: float = 0.0
    stopped_s: float | None = None
    interrupted: int | None = None
    throttled_s: float | None = None
    throttled: int | None = None
    stolen_s: float | None = None
    stolen_share: float | None = None


class OtherProcess(_Result):
    """A process that took processor time: `taken` is in processors, 1.0 is one of them all the time."""

    name: str
    pid: int
    taken: float


class OtherLoad(_Result):
    """What others took of an agent's machine in a trial, in processors of its `cores`: all but the generator, the
    contender that was measured and threads of the kernel. `processes` are those that took most. `contender` is what the
    measured one took, None where it is on another machine. `pressure_share` is the share of time in which some task
    waited for a processor, `load_average` the mean number of tasks that ran or waited; None where the kernel does not
    tell.
    """

    span_s: float
    cores: int
    taken: float
    contender: float | None = None
    processes: tuple[OtherProcess, ...] = ()
    pressure_share: float | None = None
    load_average: float | None = None

    @property
    def share(self) -> float:
        """Of all processors."""
        return self.taken / self.cores


class ControlResult(_Result):
    """What the threads of the process took that make no load, in the window or as much of it as was seen: `cpu_s` of
    processor time in `span_s`; no piece of their work was longer than `longest_s`.
    """

    cpu_s: float
    span_s: float
    longest_s: float

    @property
    def cpu_share(self) -> float:
        """Of a processor."""
        return self.cpu_s / self.span_s if self.span_s > 0.0 else 0.0


class GeneratorResult(_Result):
    """What the trial cost the generator."""

    cpu_s: float
    cpu_share: float
    cpu_us_per_operation: float | None = None
    run_delay_share: float | None = None  # None: not measured
    busy_share: float | None = None
    polled_s: float = 0.0
    threads: int
    late_start: Summary
    lag: Summary
    rss_bytes: int
    disturbances: DisturbancesResult | None = None


class UnfinishedResult(_Result):
    """Operations that still ran when the trial ended, and the age of the oldest, s."""

    operations: int = 0
    oldest_s: float = 0.0


class OutsideResult(_Result):
    """What ended before or after the measured window."""

    operations: int = 0
    errors_total: int = 0


class StartResult(_Result):
    """When an agent's traffic was to begin, and when the last of its load threads did: ns of its monotonic clock; and
    the moment from which the trial counts by its wall clock, ns since 1970.
    """

    planned_ns: int
    real_ns: int
    unix_ns: int


def _known(given: Any) -> Any:
    """What is told of it: null is as if it was not."""
    return {name: value for name, value in given.items() if value is not None} if isinstance(given, dict) else given


class TrialResult(_Result):
    """The result of a trial; counts are those of the measured window. `start` is None where traffic never began, and
    for several agents: each has a clock of its own. `links`, `telemetry`, `others` and `control` are not the engine's:
    the agent adds what went over those of its machine that lead to the contender, what its machine had to do, what
    others took of it, and what looking took; what several measured together has the last alone, of the one where it
    took most.
    """

    window_s: float
    elapsed_s: float
    cancelled: bool
    fatal: str | None = None
    start: StartResult | None = None
    operations: int
    errors_total: int
    bytes_in: int
    bytes_out: int
    errors: dict[str, int]
    statuses: dict[str, int]
    service: Summary
    response: Summary | None = None  # from the planned start: where the load plans them
    starts: Annotated[StartsRecord | None, BeforeValidator(_known)] = None
    per_operation: tuple[OperationRecord, ...]
    steps: tuple[StepRecord, ...]
    per_second: tuple[SecondRecord, ...]
    per_client: tuple[ClientRecord, ...]
    connections: ConnectionsResult
    generator: GeneratorResult
    unfinished: UnfinishedResult = UnfinishedResult()
    outside: OutsideResult = OutsideResult()
    workload: dict[str, Any] | None = None
    links: tuple[LinkRecord, ...] = ()
    telemetry: Telemetry | None = None
    others: OtherLoad | None = None
    control: ControlResult | None = None


class IntervalResult(_Result):
    """An interval of a soak: `length_s` from `start_s` after the start of the window. `cpu_share` and `run_delay_share`
    are
    those of the load thread that had most of it, `stopped_s` is the time in which the generator did not run:
    it was stopped, starved or throttled, or its machine was suspended or paused. None: nobody measured it.
    """

    number: int
    start_s: float
    length_s: float
    operations: int
    errors: dict[str, int]
    bytes_in: int
    bytes_out: int
    service: Summary
    response: Summary | None = None
    cpu_share: float
    run_delay_share: float | None = None
    stolen_s: float | None = None
    stopped_s: float | None = None
    rss_bytes: int


@dataclass(frozen=True)
class SoakInterval:
    """An interval with its histograms of service and response times (HdrHistogram V2, empty without operations)."""

    figures: IntervalResult
    service: bytes
    response: bytes | None


class OperationCount(_Result):
    """How often an operation was done since the trial began."""

    name: str
    operations: int
    errors: int


class RecentResult(_Result):
    """Service times of the successful operations that ended within the last `span_s` seconds: one, less at the start.

    Times are told within 1/32 of themselves; they are None without operations. `times` are (ns, count).
    """

    span_s: float = 0.0
    operations: int = 0
    p50_ns: int | None = None
    p99_ns: int | None = None
    times: tuple[tuple[int, int], ...] = ()


class AgentSnapshot(_Result):
    """How far one of several agents is, as in `Snapshot`."""

    agent: str
    elapsed_s: float
    operations: int
    errors: int
    p50_ns: int | None = None
    p99_ns: int | None = None


class Snapshot(_Result):
    """A trial at a glance: totals since it began, and what is new in `recent`. Of several agents `per_agent` tells how
    far each of them is.
    """

    elapsed_s: float
    phase: str
    operations: int
    errors: int
    bytes_in: int
    per_operation: tuple[OperationCount, ...] = ()
    recent: RecentResult = RecentResult()
    per_agent: tuple[AgentSnapshot, ...] = ()


class EngineEvent(_Result):
    """Something that the engine noticed `at_s` seconds after the start of the trial."""

    at_s: float
    level: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """A finished trial: its result and its histograms (HdrHistogram V2) by name."""

    result: TrialResult
    histograms: Mapping[str, bytes]


@dataclass(frozen=True)
class SpooledResult:
    """A finished trial that no run file has yet, as far as its agent knows: begun at `started_at` by its wall clock."""

    started_at: str
    outcome: Outcome
    events: tuple[EngineEvent, ...]
