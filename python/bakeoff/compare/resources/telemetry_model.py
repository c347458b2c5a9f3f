"""What contenders needed for their work, and what was at its limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bakeoff.compare.model.fact import NARRATED, Fact
from bakeoff.load.load_step import LoadStep


@dataclass(frozen=True)
class NoProcessorTime(Fact):
    """Processor time is not known: of a machine that sends the load, too (`shared`), of processes for which nobody
    waits (`unwaited`), or as it was never seen.
    """

    why: Literal["shared", "unwaited", "unseen"]


@dataclass(frozen=True)
class WatchedContender:
    """How a contender was watched. `scope` is `itself` (its processes), `machine`, or empty where its processor time is
    not known: `why_not` says why. `trials_whole` of its `trials` were seen through their whole window.
    """

    contender: str
    source: str
    scope: str
    why_not: NoProcessorTime | None = field(metadata=NARRATED)
    # Whether its machine sends the load, too: its processors are then shared.
    shares_machine: bool
    trials: int
    trials_whole: int
    gaps: tuple[str, ...]
    # What it cost, over all trials: seconds of processors here and there (null: nobody counts it), bytes.
    cost_cpu_s: float
    cost_remote_cpu_s: float
    cost_bytes: int


@dataclass(frozen=True)
class MemoryPerConnection:
    """Memory that each further connection takes, `bytes_each`: how memory rises over the load steps, with its interval;
    NaN where it does not rise for certain. `highest_bytes` is the most there was in all.
    """

    contender: str
    bytes_each: float
    low: float
    high: float
    highest_bytes: float


@dataclass(frozen=True)
class EachProcessor:
    """The processors of a machine apart: shares of what a hypervisor left of each. `busiest_share` is that of whichever
    worked most in a second, `highest_share`, `median_share` and `lowest_share` are of their means over the window, of
    which `full` are at the limit. `shares` has all of them by number (null: not known) where they are not too many.
    """

    processors: int
    busiest_share: float
    highest_share: float
    median_share: float
    lowest_share: float
    full: int
    shares: tuple[float, ...]


@dataclass(frozen=True)
class ResourceUse:
    """What a contender, or the machine it was seen on, had to do at a load step: means over the windows of its trials,
    NaN where nobody knows. Shares are of all `processors` (`own_processors` counts them; 0: not known), of the busiest
    disk's time, of the speed that the fullest link states, in the direction in which it carried more, or of the time in
    which something waited (pressure). `bound` is what was at its limit, empty for nothing.
    """

    contender: str
    load_step: LoadStep
    trials: int
    cpu_s_per_1000: float
    cpu_low: float
    cpu_high: float
    own_processors: float
    processors: int
    processor_share: float
    each_processor: EachProcessor | None
    user_share: float
    system_share: float
    iowait_share: float
    irq_share: float
    steal_share: float
    run_queue: float
    disk: str
    disk_share: float
    disk_bytes_per_s: float
    network_bytes_per_s: float
    link: str
    link_share: float
    memory_bytes: float
    pressure_cpu: float
    pressure_memory: float
    pressure_io: float
    major_faults_per_s: float
    swapped_pages_per_s: float
    overflows: float
    retransmits: float
    bound: str


@dataclass(frozen=True)
class BoundAt:
    """What was at its limit at a load step; empty for nothing."""

    load_step: LoadStep
    bound: str


@dataclass(frozen=True)
class LimitsSeen:
    """What was at the limit of a contender at each load step, rising. It may be `shared` with what sends the load; of
    full processors it used `own_share` itself at most, NaN where nobody knows.
    """

    contender: str
    bounds: tuple[BoundAt, ...]
    shared: bool
    own_share: float


@dataclass(frozen=True)
class BusiestProcessor:
    """Where a contender runs the busiest of `processors` was busy for `share` at a load step, of `several` where it was
    busiest, and all together for `processor_share`. None was over `highest_share` in the mean, where that is less.
    """

    contender: str
    load_step: LoadStep
    several: bool
    share: float
    processors: int
    processor_share: float
    highest_share: float
    shares_machine: bool


@dataclass(frozen=True)
class Swapped:
    """The machine of a contender, or that which sent load (`contender` is empty), read pages back from swap, or wrote
    them, in the windows of so many `trials` of those seen.
    """

    contender: str
    trials: int
    of: int
    in_pages: float
    out_pages: float


@dataclass(frozen=True)
class Resources:
    """All of it; `limits` says for each contender what was at its limit at which load step, `processors` how busy the
    busiest one was.
    """

    watched: tuple[WatchedContender, ...]
    uses: tuple[ResourceUse, ...]
    memory: tuple[MemoryPerConnection, ...]
    limits: tuple[LimitsSeen, ...]
    processors: tuple[BusiestProcessor, ...]
    pressure_missing: tuple[str, ...]
    swapped: tuple[Swapped, ...]
    generator_cpu_s: float
    generator_samples: int
