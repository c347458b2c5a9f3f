"""The agents of a run as one: every trial is divided among them, and what they tell becomes one outcome.

One agent is the ordinary case: its trials are whole, and what it tells is passed on as it is.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, TypeVar

from bakeoff.agents.base import Agent, Facts, TrialSession
from bakeoff.agents.merge import merged_outcome, merged_snapshot
from bakeoff.agents.result import EngineEvent, Outcome, Snapshot, SoakRow
from bakeoff.agents.spec import Slice, TrialSpec
from bakeoff.errors import AgentLostError, BakeoffError, LabError, PlanError
from bakeoff.run.clocks import ClockCheck, check_clock, common_start
from bakeoff.store.records import AgentRecord

T = TypeVar("T")
TURN_S = 0.02  # of each of several agents, so that one that is lost is noticed while another goes on


@dataclass(frozen=True)
class AgentOutcome:
    """What became of an agent's part of a trial: its own outcome, or none and why it was lost. Of several agents it
    began `start_offset_ns` after the first one, by the clock here; None when it did not.
    """

    agent: str
    clients: int
    outcome: Outcome | None
    lost: str = ""
    start_offset_ns: int | None = None


@dataclass(frozen=True)
class FleetOutcome:
    """A trial that ended: what all agents measured together, None when each of them was lost, and what each did."""

    whole: Outcome | None
    parts: tuple[AgentOutcome, ...]

    @property
    def spread_s(self) -> float:
        """From the start of the first agent to that of the last."""
        return max((part.start_offset_ns or 0 for part in self.parts), default=0) / 1e9

    @property
    def lost(self) -> str:
        """`agent b was lost: …` for those that were, or nothing."""
        return "; ".join(str(AgentLostError(part.agent, part.lost)) for part in self.parts if part.lost)


class Fleet:
    """1 … n agents; each drives its slice of every mix. Raises PlanError when two are called alike."""

    def __init__(self, agents: Sequence[Agent]) -> None:
        names = [agent.name for agent in agents]
        if not names or len(set(names)) < len(names):
            raise PlanError(f"a run needs agents with a name for each, not {names}: call no two alike")
        self.agents = tuple(agents)
        self._facts: dict[str, Facts] = {}

    def slices(self) -> Mapping[str, Slice]:
        """The part of each agent."""
        return {agent.name: Slice(index=i, of=len(self.agents)) for i, agent in enumerate(self.agents)}

    def facts(self, agent: str) -> Facts:
        """What an agent's machine is; each is asked once."""
        if agent not in self._facts:
            self._facts |= {one.name: one.facts() for one in self.agents if one.name == agent}
        return self._facts[agent]

    def records(self) -> tuple[AgentRecord, ...]:
        """The agents as a run file keeps them."""
        return tuple(AgentRecord(agent.name, _stored(self.facts(agent.name))) for agent in self.agents)

    def each(self, ask: Callable[[Agent], T]) -> dict[str, T]:
        """The answers of all agents by name, asked one after the other; errors as with `named`."""
        return {agent.name: self.named(agent.name, partial(ask, agent)) for agent in self.agents}

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
        for agent, part, _ in self._parts(specs):
            self.named(agent.name, partial(agent.accept, specs[agent.name], part))

    def start(self, specs: Mapping[str, TrialSpec], here: TrialSpec | None = None) -> "FleetSession":
        """Have a trial made ready, which begins while its session is waited for; `specs` are by agent, since each may
        see the contender at another address. `here` is the specification by which their results are merged; the first
        of them unless it names what only its machine has.

        Raises what Agent.start raises; agents that had begun are stopped then.
        """
        begun: list[_Part] = []
        try:
            for agent, part, clients in self._parts(specs):
                session = self.named(agent.name, partial(agent.start, specs[agent.name], part))
                begun.append(_Part(agent, clients, session))
        except BaseException:
            for one in begun:
                one.session.cancel()
            raise
        return FleetSession(next(iter(specs.values())) if here is None else here, begun)

    def _parts(self, specs: Mapping[str, TrialSpec]) -> list[tuple[Agent, Slice, int]]:
        """Agents with their slices and how many clients are in them; a small mix leaves some without any."""
        slices = self.slices()
        parts = [(a, slices[a.name], slices[a.name].clients(specs[a.name].load.clients)) for a in self.agents]
        return [part for part in parts if part[2]]


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


@dataclass
class _Part:
    by: Agent
    clients: int
    session: TrialSession
    armed: bool = False
    clock: ClockCheck | None = None
    outcome: Outcome | None = None
    lost: str = ""

    @property
    def agent(self) -> str:
        return self.by.name

    @property
    def over(self) -> bool:
        return self.outcome is not None or bool(self.lost)

    @property
    def began_ns(self) -> int | None:
        """When its traffic began by the clock here, where that is known."""
        start = None if self.outcome is None else self.outcome.result.start
        return None if start is None or self.clock is None else self.clock.here(start.real_ns)


@dataclass
class FleetSession:
    """A trial that its agents carry out. Where one is lost the others are stopped: a smaller load is another trial.

    Each call but `cancel` raises LabError when an engine broke.
    """

    spec: TrialSpec
    _parts: list[_Part]
    _cancelled: bool = field(default=False, init=False)
    _off: bool = field(default=False, init=False)

    def snapshot(self) -> Snapshot:
        """How far the trial is."""
        answers = [(p.agent, self._ask(p, p.session.snapshot)) for p in self._parts if not p.lost]
        return merged_snapshot([(agent, snapshot) for agent, snapshot in answers if snapshot is not None])

    def drain_events(self) -> Sequence[EngineEvent]:
        """What the engines noticed since the last call, with the agent's name when there are several."""
        events: list[EngineEvent] = []
        for part in self._parts:
            for event in (None if part.lost else self._ask(part, part.session.drain_events)) or ():
                text = event.text if len(self._parts) == 1 else f"agent {part.agent}: {event.text}"
                events.append(event.model_copy(update={"text": text}))
        return sorted(events, key=lambda event: event.at_s)

    def drain_rows(self) -> Sequence[SoakRow]:
        """Rows of a soak, which has one agent, that ended since the last call."""
        answers = [self._ask(part, part.session.drain_rows) for part in self._parts if not part.lost]
        return [row for rows in answers for row in rows or ()]

    def wait(self, timeout_s: float) -> FleetOutcome | None:
        """The outcome, or None when an agent is not at its end after `timeout_s`. All begin once all are armed."""
        until = time.monotonic() + timeout_s
        while not self._off:
            self._begin(until)
            if not self._off and time.monotonic() >= until:
                return None
        while True:
            for part in self._parts:
                if not part.over:
                    left_s = max(0.0, until - time.monotonic())
                    turn_s = left_s if len(self._parts) == 1 else min(left_s, TURN_S)
                    part.outcome = self._ask(part, partial(part.session.wait, turn_s))
            if all(part.over for part in self._parts):
                return self._outcome()
            if len(self._parts) == 1 or time.monotonic() >= until:
                return None

    def cancel(self) -> None:
        """Ask all agents to stop."""
        self._cancelled = True
        for part in self._parts:
            if not part.over:
                part.session.cancel()

    def _begin(self, until: float) -> None:
        """Give the word, unless an agent is not ready yet; a single one waits for nobody."""
        if len(self._parts) > 1:
            for part in self._parts:
                if not part.armed and not part.lost:
                    turn_s = min(TURN_S, max(0.0, until - time.monotonic()))
                    part.armed = bool(self._ask(part, partial(part.session.armed, turn_s)))
            if not all(part.armed or part.lost for part in self._parts):
                return
            self._check_clocks()
        self._off = True
        if not self._cancelled:
            checks = [part.clock for part in self._parts if part.clock is not None]
            start_ns = common_start(checks, time.monotonic_ns())
            for part in self._parts:
                at_ns = 0 if part.clock is None else part.clock.there(start_ns)
                self._ask(part, partial(part.session.go, at_ns))

    def _check_clocks(self) -> None:
        for part in self._parts:
            if not self._cancelled:
                part.clock = self._ask(part, partial(check_clock, part.by.clock))

    def _ask(self, part: _Part, ask: Callable[[], T]) -> T | None:
        """An agent's answer, or None when it is lost."""
        try:
            return ask()
        except AgentLostError as error:
            part.lost = error.reason or "it does not answer"
        except LabError as error:
            if len(self._parts) > 1:
                raise LabError(f"agent {part.agent}: {error}") from None
            raise
        if not self._cancelled:
            self.cancel()
        return None

    def _outcome(self) -> FleetOutcome:
        outcomes = [(part.agent, part.outcome) for part in self._parts if part.outcome is not None]
        starts = {part.agent: part.began_ns for part in self._parts if part.began_ns is not None}
        first_ns = min(starts.values(), default=0)
        late_ns = {agent: at_ns - first_ns for agent, at_ns in starts.items()}
        parts = tuple(AgentOutcome(p.agent, p.clients, p.outcome, p.lost, late_ns.get(p.agent)) for p in self._parts)
        whole = merged_outcome(self.spec, outcomes) if outcomes else None
        return FleetOutcome(whole, parts)
