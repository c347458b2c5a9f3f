"""Trials that ended while nobody could write them down: their results are on the disks of the machines that did them.

A controller that is killed takes running trials with it, but not those that had ended. A run that goes on takes such a
result when every machine of the trial has its part of the same run, trial and division.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from bakeoff.agents.base import Agent, KeepsResults
from bakeoff.agents.merge import merged_outcome
from bakeoff.agents.result import EngineEvent, SpooledResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.run.fleet.session import AgentOutcome, FleetOutcome
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.store.records.run_records import PlannedTrial, RunRecord

TAKEN = "trial {number} had ended before the controller did: its result is from the disk of {agents}"


@dataclass(frozen=True)
class SpooledTrial:
    """A trial as its machines kept it; `note` says so."""

    started_at: str
    outcome: FleetOutcome
    events: tuple[EngineEvent, ...]
    note: str


class ResultSpool:
    """What the agents of a run keep of its trials. Only one that is `resumed` asks them."""

    def __init__(self, run: RunRecord, fleet: Fleet, resumed: bool) -> None:
        self._run = hashlib.sha256(f"{run.created_at}\n{run.plan_hash}".encode()).hexdigest()[:32]
        self._fleet, self._resumed = fleet, resumed

    def begin(self, trial: PlannedTrial) -> None:
        """The next trial that is started is this one."""
        for key, agent in self._keys(trial).items():
            agent.keep_next(key)

    def stored(self, trial: PlannedTrial) -> None:
        """The run file has it."""
        for key, agent in self._keys(trial).items():
            agent.forget(key)

    def find(self, trial: PlannedTrial, specs: Mapping[str, TrialSpec]) -> SpooledTrial | None:
        """The trial, when every agent that has clients of it kept its part."""
        if not self._resumed:
            return None
        spooled: dict[str, SpooledResult] = {}
        for key, agent in self._keys(trial).items():
            found = agent.spooled(key) if self._clients(agent, trial) else None
            if found is not None:
                spooled[agent.name] = found
        driving = [agent for agent in self._fleet.active if self._clients(agent, trial)]
        if not driving or any(agent.name not in spooled for agent in driving):
            return None
        return self._whole(trial, specs, driving, spooled)

    def _whole(
        self,
        trial: PlannedTrial,
        specs: Mapping[str, TrialSpec],
        driving: list[Agent],
        spooled: Mapping[str, SpooledResult],
    ) -> SpooledTrial:
        names = [agent.name for agent in driving]
        late_ns = {name: _late_ns(spooled[name]) for name in names}
        first_ns = min(late_ns.values())
        several = len(driving) > 1
        parts = tuple(
            AgentOutcome(
                agent.name,
                self._clients(agent, trial),
                spooled[agent.name].outcome,
                start_offset_ns=late_ns[agent.name] - first_ns if several else None,
            )
            for agent in driving
        )
        whole = merged_outcome(specs[names[0]], [(name, spooled[name].outcome) for name in names])
        events = [
            event.model_copy(update={"text": f"agent {name}: {event.text}" if several else event.text})
            for name in names
            for event in spooled[name].events
        ]
        return SpooledTrial(
            started_at=min(result.started_at for result in spooled.values()),
            outcome=FleetOutcome(whole, parts),
            events=tuple(sorted(events, key=lambda event: event.at_s)),
            note=TAKEN.format(number=trial.order + 1, agents=", ".join(names)),
        )

    def _clients(self, agent: Agent, trial: PlannedTrial) -> int:
        part = self._fleet.division(trial.load_step.clients).get(agent.name)
        return 0 if part is None else part.clients(trial.load_step.clients)

    def _keys(self, trial: PlannedTrial) -> "dict[str, KeepsResults]":
        """What each agent's part of a trial is called; another division of it is called otherwise."""
        slices = self._fleet.division(trial.load_step.clients)
        keeping = [agent for agent in self._fleet.active if agent.name in slices and isinstance(agent, KeepsResults)]
        return {f"{self._run}-{trial.order}-{slices[a.name].index}-{slices[a.name].of}": a for a in keeping}


def _late_ns(result: SpooledResult) -> int:
    """How long after the common moment the traffic of an agent began."""
    start = result.outcome.result.start
    return 0 if start is None else start.real_ns - start.planned_ns
