"""What a run does when machines that send load are lost: it goes on with enough of the others, or ends to be resumed.

The load stays what the plan says: those that are left divide the whole of each load step among them. A machine that
comes back is not taken in again before the run is resumed: its blocks would be measured by changing sets of machines.
"""

from collections.abc import Callable
from typing import TypeVar

from bakeoff.core.errors import AgentLostError, BakeoffError
from bakeoff.plan.model import Plan
from bakeoff.run.checks.preflight import demand_of
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.run.kind import Note

T = TypeVar("T")


class AgentLosses:
    """Keeps count of the agents of a run. `tell` gets what happened; `changed` is called when fewer are left."""

    def __init__(self, plan: Plan, fleet: Fleet, tell: Callable[[Note], None], changed: Callable[[], None]) -> None:
        self._plan, self._fleet, self._tell, self._changed = plan, fleet, tell, changed

    def surviving(self, work: Callable[[], T]) -> T:
        """Do `work`, again without an agent that is lost in it. Raises AgentLostError when too few are left."""
        while True:
            try:
                return work()
            except AgentLostError as error:
                lost = error
            self._without(lost)

    def after(self, losses: list[AgentLostError]) -> None:
        """Some were lost in the middle of a trial. A plan that needs all of them lets the next trial look for them."""
        if self._plan.fleet.least is not None:
            for error in losses:
                self._without(error)

    def _without(self, error: AgentLostError) -> None:
        """Go on without the agent of `error`, which is raised when the plan wants more than are left, or when one of
        those could not carry its larger part.
        """
        least = self._plan.fleet.least
        left = [agent.name for agent in self._fleet.active if agent.name != error.agent]
        if least is None or len(left) < max(1, least):
            raise error
        self._fleet.lose(error.agent)
        divide = (
            "divide the whole of each load step among them" if len(left) > 1 else "drives the whole of each load step"
        )
        self._tell(Note("warning", f"{error}: the run goes on with {', '.join(left)}, which {divide} from here on"))
        try:
            slices = self._fleet.slices()
            self._fleet.each(lambda agent: agent.preflight(demand_of(self._plan, slices[agent.name])))
            self._changed()
        except AgentLostError as another:
            self._without(another)
        except BakeoffError as refused:
            raise AgentLostError(error.agent, f"{error.reason}; and without it {refused}") from None
