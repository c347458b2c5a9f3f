"""What a comparison tells of several machines that sent the load together."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.compare.model.fact import Fact
from bakeoff.load.load_step import LoadStep


@dataclass(frozen=True)
class Machine:
    """An agent over all trials that count. `trials` are those it took part in, `lost` those that are void because it
    was lost; `limited` those in which it had a load thread, `link_limited` a link that was full.

    `clients` are its own at the highest load step, `operations_share` its part of all operations. The largest of all
    trials are `cpu_share` of its busiest load thread, `waited_share` for a processor, `lag_p99_ms`, `late_p99_ms` of
    its starts, `link_share` of the link to a contender that was fullest, NaN where none can be judged: `unjudged` says
    why.
    """

    name: str
    trials: int
    lost: int
    limited: int
    link_limited: int
    clients: int
    operations_share: float
    null_operations_per_s: float
    us_per_operation: float
    cpu_share: float
    waited_share: float
    lag_p99_ms: float
    late_p99_ms: float
    link: str
    link_share: float
    unjudged: str


@dataclass(frozen=True)
class MachineRange:
    """The agents in trials of one contender at one load step: the least and the most that any of them told.

    `rate` is of a whole agent, a mean over blocks; times are geometric means over blocks, of response times where a
    rate plans starts; `cpu_share`, `late_ms`, `link_share`, `start_spread_ms` and `start_error_ms`
    (how much larger that may be, as clocks are known) are the largest of all blocks.

    Fairness is of the rates per client of each agent: `jain` of them, `ratio` the slowest to the fastest, and
    `probability` that clients which do not differ but by chance differ so. `unfair` when that is out of the question
    and the difference is one that matters. NaN, and no agent's name, where a rate has no clients, or one agent drove
    all.
    """

    contender: str
    load_step: LoadStep
    trials: int
    agents: int
    rate_low: float
    rate_high: float
    p50_low_ms: float
    p50_high_ms: float
    p99_low_ms: float
    p99_high_ms: float
    cpu_share_low: float
    cpu_share_high: float
    late_ms: float
    link_share: float
    start_spread_ms: float
    start_error_ms: float
    slowest: str
    fastest: str
    ratio: float
    jain: float
    probability: float
    unfair: bool


@dataclass(frozen=True)
class FleetChange:
    """From the trial `trial_id` on `agents` of `of` machines sent the load: those in `without` did not any more."""

    trial_id: int
    order: int
    agents: int
    of: int
    without: tuple[str, ...]


@dataclass(frozen=True)
class Machines:
    """The agents of a run, in its order."""

    agents: tuple[Machine, ...]
    ranges: tuple[MachineRange, ...]
    changes: tuple[FleetChange, ...]


@dataclass(frozen=True)
class FullLink(Fact):
    """The fullest link, of one of several agents, or of the only one (empty); None where no link has a speed."""

    agent: str
    link: str
    share: float | None


@dataclass(frozen=True)
class BusyThreads(Fact):
    """Which of so many agents had load threads without a pause; none named of a single one."""

    busy: tuple[str, ...]
    agents: int
