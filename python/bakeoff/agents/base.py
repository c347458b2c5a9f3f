"""The protocol between the driver and whatever runs a trial."""

from collections.abc import Sequence
from typing import Protocol

from bakeoff.agents.result import EngineEvent, Outcome, Snapshot
from bakeoff.agents.spec import TrialSpec


class TrialSession(Protocol):
    """A trial that was started. No call blocks longer than its timeout; Ctrl-C interrupts `wait` at once.

    Each call but `cancel` raises LabError when the engine broke.
    """

    def snapshot(self) -> Snapshot:
        """How far the trial is."""

    def drain_events(self) -> Sequence[EngineEvent]:
        """What the engine noticed since the last call."""

    def wait(self, timeout_s: float) -> Outcome | None:
        """The outcome, or None when the trial still runs after `timeout_s`."""

    def cancel(self) -> None:
        """Ask the trial to stop; `wait` then gives the outcome so far, with `cancelled` set."""


class Agent(Protocol):
    """One load-generating machine."""

    def check(self, spec: TrialSpec) -> None:
        """Raises PlanError for a spec that `start` would refuse."""

    def start(self, spec: TrialSpec) -> TrialSession:
        """Begin a trial and return at once. Raises PlanError for a spec that is refused, or LabError."""

    def describe(self) -> dict[str, str]:
        """Which build of the engine runs there: name to value."""
