"""The protocol between a run and the machines that send its load.

What must be true of such a machine is asked there: what it is, whether it can carry the load, and what the contenders
look like from its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from bakeoff.agents.machine.limits import Limits
from bakeoff.agents.machine.socket_capacity import Demand
from bakeoff.agents.result import EngineEvent, Outcome, Snapshot, SoakInterval, SpooledResult
from bakeoff.agents.spec import WHOLE, Slice, TrialSpec
from bakeoff.core.system.links import Link

if TYPE_CHECKING:
    from bakeoff.plan.model import Plan
    from bakeoff.run.kind import Check


@dataclass(frozen=True)
class Facts:
    """What an agent's machine is.

    `environment` are JSON values for the record of the run, `build` names the engine, `processors` are those that the
    agent may use, `addresses` the numeric ones of its interfaces, `limits` are what all machines must have alike, and
    `links` its network links.
    """

    environment: dict[str, Any]
    build: dict[str, str]
    processors: tuple[int, ...]
    addresses: tuple[str, ...]
    limits: Limits = field(default_factory=Limits)
    links: tuple[Link, ...] = ()


class TrialSession(Protocol):
    """A trial that makes itself ready and sends nothing before it is told to. No call blocks longer than its timeout;
    Ctrl-C interrupts `armed` and `wait` at once.

    Each call but `cancel` raises GeneratorError when the engine broke, and AgentLostError when its machine is gone.
    """

    def armed(self, timeout_s: float) -> bool:
        """Whether all that needs no clock is done (or the trial is over already: `wait` tells) within `timeout_s`."""

    def go(self, at_ns: int = 0) -> Self:
        """Let traffic begin at `at_ns` of the machine's `Agent.clock`, at once when that has passed; before it is armed
        that waits until it is. The first word counts. Returns itself.
        """

    def barrier(self) -> int:
        """The number of the meeting at which all its clients wait for those of other agents, or of the last one; 0
        before the first, and for work that has none.
        """

    def release_barrier(self, number: int, at_ns: int) -> None:
        """The clients of all agents are at this meeting, and go on at `at_ns` of the machine's `Agent.clock`, at once
        when that has passed. The first word counts.
        """

    def snapshot(self) -> Snapshot | None:
        """How far the trial is; None where the snapshot of another agent has its figures."""

    def drain_events(self) -> Sequence[EngineEvent]:
        """What the engine noticed since the last call."""

    def drain_intervals(self) -> Sequence[SoakInterval]:
        """Rows of a soak that ended since the last call, in their order; all that are left once there is an outcome."""

    def wait(self, timeout_s: float) -> Outcome | None:
        """The outcome, or None when the trial still runs after `timeout_s`."""

    def cancel(self) -> None:
        """Ask the trial to stop, begun or not; `wait` then gives the outcome so far, with `cancelled` set."""


@runtime_checkable
class RunsHere(TrialSession, Protocol):
    """A trial that this process does: nothing may wake up beside it that need not."""

    def next_sample(self) -> bool:
        """Sleep until it is to be sampled, about once a second; False when it is over. One thread samples."""


class Agent(Protocol):
    """One load-generating machine. Every call may raise AgentLostError when it is gone."""

    @property
    def name(self) -> str:
        """How plans, run files and reports call it; no two of a run are called alike."""

    def facts(self) -> Facts:
        """What its machine is."""

    def clock(self) -> int:
        """Now on its machine's CLOCK_MONOTONIC, ns: no wall clock, which could be set."""

    def preflight(self, demand: Demand) -> Sequence[str]:
        """Warnings about what its machine would have to carry. Raises GeneratorError or PlanError when it cannot."""

    def check(self, plan: "Plan") -> "Check":
        """A look at the contenders from there. Raises PlanError when what the plan needs there is missing."""

    def accept(self, spec: TrialSpec, part: Slice = WHOLE) -> None:
        """Raises PlanError for a spec that `start` would refuse."""

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> TrialSession:
        """Have its part of a trial made ready and return at once; `TrialSession.go` begins it.

        Raises PlanError for a spec that is refused, or GeneratorError.
        """


@runtime_checkable
class KeepsResults(Agent, Protocol):
    """An agent whose machine keeps what a trial came to on its disk until somebody has it: it may outlive the process
    that controls the run.
    """

    def keep_next(self, key: str) -> None:
        """Keep the result of the next trial that is started, and call it `key`."""

    def spooled(self, key: str) -> SpooledResult | None:
        """The result that is called so, if its trial came to its end."""

    def forget(self, key: str) -> None:
        """It is kept elsewhere now. Raises nothing."""
