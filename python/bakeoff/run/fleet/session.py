"""A trial that a fleet carries out, and what becomes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bakeoff.agents.result import EngineEvent, Outcome, Snapshot, SoakInterval
from bakeoff.core.errors import AgentLostError
from bakeoff.core.times import s_of


@dataclass(frozen=True)
class AgentOutcome:
    """What became of an agent's part of a trial: its own outcome, or none and why it was lost. Of several agents it
    began `start_offset_ns` after the first one, by the clock here, give or take `clock_error_ns`; None when it did not,
    or when nobody knows.
    """

    agent: str
    clients: int
    outcome: Outcome | None
    lost: str = ""
    start_offset_ns: int | None = None
    clock_error_ns: int | None = None


@dataclass(frozen=True)
class FleetOutcome:
    """A trial that ended: what all agents measured together, None when each of them was lost, and what each did."""

    whole: Outcome | None
    parts: tuple[AgentOutcome, ...]

    @property
    def spread_s(self) -> float:
        """From the start of the first agent to that of the last."""
        return s_of(max((part.start_offset_ns or 0 for part in self.parts), default=0))

    @property
    def spread_error_s(self) -> float:
        """How much larger that may be: what is not known of the two clocks that are known least."""
        return s_of(sum(sorted(part.clock_error_ns or 0 for part in self.parts)[-2:]))

    @property
    def lost(self) -> str:
        """`agent b was lost: …` for those that were, or nothing."""
        return "; ".join(str(error) for error in self.losses)

    @property
    def losses(self) -> list[AgentLostError]:
        """Those that were lost, and why."""
        return [AgentLostError(part.agent, part.lost) for part in self.parts if part.lost]


class FleetSession(Protocol):
    """A trial that its agents carry out. Where one is lost the others are stopped: a smaller load is another trial.

    Each call but `cancel` raises GeneratorError when an engine broke. None waits for an agent that does not answer.
    """

    def snapshot(self) -> Snapshot:
        """How far the trial is."""

    def drain_events(self) -> Sequence[EngineEvent]:
        """What the engines noticed since the last call, with the agent's name when there are several."""

    def drain_intervals(self) -> Sequence[SoakInterval]:
        """Rows of a soak that all agents have ended since the last call."""

    def wait(self, timeout_s: float) -> FleetOutcome | None:
        """The outcome, or None when an agent is not at its end after `timeout_s`."""

    def rests(self) -> Callable[[], bool] | None:
        """What sleeps until the trial is to be sampled, and says whether it still runs: where it is done by this
        process. None where the waiting thread samples itself.
        """

    def cancel(self) -> None:
        """Ask all agents to stop."""
