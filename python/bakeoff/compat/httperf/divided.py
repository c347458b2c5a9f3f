"""The machines of a cluster as the one agent of a run of httperf: what is started there is divided among them."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from bakeoff.agents.base import Agent, Facts
from bakeoff.agents.machine.socket_capacity import Demand
from bakeoff.agents.result import EngineEvent, Outcome, Snapshot, SoakInterval
from bakeoff.agents.spec import WHOLE, Slice, TrialSpec
from bakeoff.core.errors import GeneratorError
from bakeoff.plan.settings.fleet import ONE_MACHINE
from bakeoff.run.fleet.session import FleetSession
from bakeoff.run.fleet.sessions import Fleet

if TYPE_CHECKING:
    from bakeoff.plan.model import Plan
    from bakeoff.run.kind import Check


class Divided:
    """See Agent. What is not about a trial is answered for the first machine."""

    def __init__(self, agents: Sequence[Agent]) -> None:
        self._fleet, self._first = Fleet(agents), agents[0]
        self.name = ", ".join(agent.name for agent in agents)

    def facts(self) -> Facts:
        return self._first.facts()

    def clock(self) -> int:
        return time.monotonic_ns()

    def preflight(self, demand: Demand) -> Sequence[str]:
        return self._first.preflight(demand)

    def check(self, plan: "Plan") -> "Check":
        return self._first.check(plan)

    def accept(self, spec: TrialSpec, part: Slice = WHOLE) -> None:
        self._fleet.accept({agent.name: spec for agent in self._fleet.agents})

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> "DividedSession":
        return DividedSession(self._fleet.start({agent.name: spec for agent in self._fleet.agents}))


class DividedSession:
    """See TrialSession; the machines begin by themselves, at one moment."""

    def __init__(self, session: FleetSession) -> None:
        self._session = session
        self._apart: list[EngineEvent] = []

    def armed(self, timeout_s: float) -> bool:
        return True

    def go(self, at_ns: int = 0) -> Self:
        return self

    def barrier(self) -> int:
        return 0

    def release_barrier(self, number: int, at_ns: int) -> None:
        pass

    def snapshot(self) -> Snapshot | None:
        return self._session.snapshot()

    def drain_events(self) -> Sequence[EngineEvent]:
        events, self._apart = self._apart, []
        return [*self._session.drain_events(), *events]

    def drain_intervals(self) -> Sequence[SoakInterval]:
        return ()

    def wait(self, timeout_s: float) -> Outcome | None:
        """See TrialSession. Raises GeneratorError when a machine was lost: its connections were never counted."""
        outcome = self._session.wait(timeout_s)
        if outcome is None:
            return None
        if outcome.lost or outcome.whole is None:
            raise GeneratorError(f"{outcome.lost}: what it did is in no figure, so there is no report; run it again")
        if outcome.spread_s > ONE_MACHINE.start_spread_s:
            text = f"the machines began {outcome.spread_s * 1e3:.1f} ms apart: their starts are not one even sequence"
            self._apart.append(EngineEvent(at_s=0.0, level="warning", text=text))
        return outcome.whole

    def cancel(self) -> None:
        self._session.cancel()
