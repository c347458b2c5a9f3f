"""The agents of a run as one: every trial is divided among them, and what they tell becomes one outcome.

One agent is the ordinary case: its trials are whole, and what it tells is passed on as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from bakeoff.agents.base import Agent, Facts, RunsHere, TrialSession
from bakeoff.agents.merge import EMPTY_SNAPSHOT
from bakeoff.agents.result import EngineEvent, Snapshot, SoakInterval
from bakeoff.agents.spec import Slice, TrialSpec
from bakeoff.core.errors import AgentLostError, BakeoffError, PlanError
from bakeoff.run.fleet.multi_agent_trial import AgentPart, Together
from bakeoff.run.fleet.parallel import run_parallel
from bakeoff.run.fleet.session import AgentOutcome, FleetOutcome, FleetSession
from bakeoff.store.records.run_records import AgentRecord

T = TypeVar("T")


class Fleet:
    """1 … n agents; each drives its slice of every load step. Raises PlanError when two are called alike."""

    def __init__(self, agents: Sequence[Agent]) -> None:
        names = [agent.name for agent in agents]
        if not names or len(set(names)) < len(names):
            raise PlanError(f"a run needs agents with a name for each, not {names}: call no two alike")
        self.agents = tuple(agents)
        self._facts: dict[str, Facts] = {}
        self._lost: set[str] = set()

    @property
    def active(self) -> tuple[Agent, ...]:
        """Those that were not lost."""
        return tuple(agent for agent in self.agents if agent.name not in self._lost)

    def lose(self, agent: str) -> None:
        """Go on without it: from now on the others divide every load step among them."""
        self._lost.add(agent)

    def slices(self) -> Mapping[str, Slice]:
        """The part of each agent in a load step that has clients for all of them."""
        return self.division(len(self.active))

    def division(self, clients: int) -> Mapping[str, Slice]:
        """The part of each agent that has any of so many clients; of few the last agents have none."""
        taking = self.active[:clients]
        return {agent.name: Slice(index=i, of=len(taking)) for i, agent in enumerate(taking)}

    def facts(self, agent: str) -> Facts:
        """What an agent's machine is; each is asked once, all beside each other."""
        if not self._facts:
            self._facts = self.each(lambda one: one.facts())
        return self._facts[agent]

    def records(self) -> tuple[AgentRecord, ...]:
        """The agents as a run file keeps them."""
        return tuple(AgentRecord(agent.name, _stored(self.facts(agent.name))) for agent in self.agents)

    def each(self, ask: Callable[[Agent], T]) -> dict[str, T]:
        """The answers of all agents by name, asked beside each other; errors as with `named`."""
        return run_parallel({agent.name: partial(self.named, agent.name, partial(ask, agent)) for agent in self.active})

    def named(self, agent: str, work: Callable[[], T]) -> T:
        """What `work` for an agent gives. Its error says whose it is, when there are several."""
        try:
            return work()
        except AgentLostError:
            raise
        except BakeoffError as error:
            if len(self.agents) == 1:
                raise
            raise type(error)(f"agent {agent}: {error}") from None

    def accept(self, specs: Mapping[str, TrialSpec]) -> None:
        """Raises PlanError when an agent would refuse its part of a trial; `specs` are by agent."""
        parts = {part.name: partial(part.agent.accept, part.spec, part.part) for part in self._parts(specs)}
        run_parallel({name: partial(self.named, name, work) for name, work in parts.items()})

    def start(self, specs: Mapping[str, TrialSpec], here: TrialSpec | None = None) -> FleetSession:
        """Have a trial made ready, which begins while its session is waited for; `specs` are by agent, since each may
        see the contender at another address. `here` is the specification by which their results are merged; the first
        of them unless it names what only its machine has.

        Raises what Agent.start raises; agents that had begun are stopped then.
        """
        parts = self._parts(specs)
        if len(parts) == 1:
            (one,) = parts
            return Alone(one.name, one.clients, self.named(one.name, partial(one.agent.start, one.spec, one.part)))
        together = Together(parts, next(iter(specs.values())) if here is None else here)
        together.begin()
        return together

    def _parts(self, specs: Mapping[str, TrialSpec]) -> list[AgentPart]:
        clients = specs[self.active[0].name].load.clients
        agents = {agent.name: agent for agent in self.active}
        slices = self.division(clients).items()
        return [AgentPart(agents[name], part, specs[name], part.clients(clients)) for name, part in slices]


def _stored(facts: Facts) -> dict[str, Any]:
    """Facts as a run file keeps them: what lasts."""
    links = [
        {
            "name": link.name,
            "addresses": list(link.addresses),
            "speed": link.unjudged or f"{link.speed_bits_per_s or 0:,} bits/s",
        }
        for link in facts.links
    ]
    limits = {name: value for name, value in asdict(facts.limits).items() if value not in (None, "")}
    return {**facts.environment, "limits": limits, "links": links}


class Alone:
    """See FleetSession: the trial of one agent, which is asked in the thread of who asks, and told to go at once."""

    def __init__(self, agent: str, clients: int, session: TrialSession) -> None:
        self._agent, self._clients, self._session = agent, clients, session
        self._lost = ""
        self._ask(session.go)

    def snapshot(self) -> Snapshot:
        return self._ask(self._session.snapshot) or EMPTY_SNAPSHOT

    def drain_events(self) -> Sequence[EngineEvent]:
        events = self._ask(self._session.drain_events)
        return () if events is None else events

    def drain_intervals(self) -> Sequence[SoakInterval]:
        rows = self._ask(self._session.drain_intervals)
        return () if rows is None else rows

    def wait(self, timeout_s: float) -> FleetOutcome | None:
        outcome = self._ask(partial(self._session.wait, timeout_s))
        if outcome is None and not self._lost:
            return None
        return FleetOutcome(outcome, (AgentOutcome(self._agent, self._clients, outcome, self._lost),))

    def rests(self) -> Callable[[], bool] | None:
        return self._session.next_sample if isinstance(self._session, RunsHere) else None

    def cancel(self) -> None:
        self._session.cancel()

    def _ask(self, ask: Callable[[], T]) -> T | None:
        """The agent's answer, or None when it is lost."""
        try:
            return None if self._lost else ask()
        except AgentLostError as error:
            self._lost = error.reason or "it does not answer"
        return None
