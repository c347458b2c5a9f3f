"""The protocol between a run and the machines that send its load.

What must be true of such a machine is asked there: what it is, whether it can carry the load, and what the contenders
look like from its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from bakeoff.agents.capacity import Demand
from bakeoff.agents.limits import Limits
from bakeoff.agents.result import EngineEvent, Outcome, Snapshot, SoakRow
from bakeoff.agents.spec import WHOLE, Slice, TrialSpec
from bakeoff.links import Link

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
    """A trial that was started. No call blocks longer than its timeout; Ctrl-C interrupts `wait` at once.

    Each call but `cancel` raises LabError when the engine broke, and AgentLostError when its machine is gone.
    """

    def snapshot(self) -> Snapshot:
        """How far the trial is."""

    def drain_events(self) -> Sequence[EngineEvent]:
        """What the engine noticed since the last call."""

    def drain_rows(self) -> Sequence[SoakRow]:
        """Rows of a soak that ended since the last call, in their order; all that are left once there is an outcome."""

    def wait(self, timeout_s: float) -> Outcome | None:
        """The outcome, or None when the trial still runs after `timeout_s`."""

    def cancel(self) -> None:
        """Ask the trial to stop; `wait` then gives the outcome so far, with `cancelled` set."""


class Agent(Protocol):
    """One load-generating machine. Every call may raise AgentLostError when it is gone."""

    @property
    def name(self) -> str:
        """How plans, run files and reports call it; no two of a run are called alike."""

    def facts(self) -> Facts:
        """What its machine is."""

    def preflight(self, demand: Demand) -> Sequence[str]:
        """Warnings about what its machine would have to carry. Raises LabError or PlanError when it cannot."""

    def check(self, plan: "Plan") -> "Check":
        """A look at the contenders from there. Raises PlanError when what the plan needs there is missing."""

    def accept(self, spec: TrialSpec, part: Slice = WHOLE) -> None:
        """Raises PlanError for a spec that `start` would refuse."""

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> TrialSession:
        """Begin its part of a trial and return at once. Raises PlanError for a spec that is refused, or LabError."""
