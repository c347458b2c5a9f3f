"""What the generator asks at most, in each way in which contenders of a run are asked: measured at its start."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from bakeoff.agents.result import Outcome
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.core.errors import AgentLostError, GeneratorError, PlanError
from bakeoff.kinds.spec import NullCalibration
from bakeoff.load.load_step import Clients
from bakeoff.plan.model import Plan
from bakeoff.run.checks.capacity_limit import GeneratorCapacity
from bakeoff.run.contenders.prepared import Specs
from bakeoff.run.fleet.session import FleetOutcome, FleetSession
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.store.records.run_records import CAPACITY_WHY_NOT, GENERATOR_CAPACITIES, RunRecord
from bakeoff.store.sqlite.write import RunWriter

LENGTHS_S = (0.5, 2.0, 8.0)
# So many requests at once keep a load thread busy, on so many connections at least: where there is one, either side
# waits for the other. So many connections at most are made again, each of which takes a port for a while.
AT_ONCE, LEAST_CONNECTIONS, MOST_CONNECTIONS = 32, 4, 10_000
OVERDUE_S = 30.0


class _UnmeasurableError(Exception):
    """Nothing can be asked for it on this machine, as without a loopback of its own. Contenders can, all the same."""


class GeneratorCapacities:
    """Those of the contenders of one run; none where Bakeoff has no server that does nothing for this way of asking."""

    def __init__(self, plan: Plan, specs: Specs, fleet: Fleet, run: RunRecord) -> None:
        self._plan, self._specs, self._fleet = plan, specs, fleet
        self._known = _stored(run)

    def of(self, contender: str) -> GeneratorCapacity | None:
        """That of a contender's own way of asking."""
        return self._known.get(contender)

    def measure(self, writer: RunWriter) -> None:
        """Measure each that is not known: each agent asks a server on its own loopback that does nothing, all at once,
        and it is stored. A machine so busy that not one operation was done is asked for longer.
        """
        ways = [(names, calibration) for names, calibration in self._specs.null_calibration if calibration is not None]
        missing = [(names, calibration) for names, calibration in ways if names[0] not in self._known]
        why_not: dict[str, str] = {}
        for names, calibration in missing:
            try:
                self._known |= dict.fromkeys(names, self._measured(calibration))
            except _UnmeasurableError as error:
                why_not |= dict.fromkeys(names, str(error))
        if not missing:
            return
        capacities = {
            n: self._stored_capacity(n, calibration) for names, calibration in ways for n in names if n in self._known
        }
        writer.set_generator_capacities(capacities | {name: {CAPACITY_WHY_NOT: why} for name, why in why_not.items()})
        if len(self._specs.null_calibration) == 1 and not why_not:
            found = self._known[missing[0][0][0]]
            writer.set_null_rate(found.per_s, found.by_agent)

    def _stored_capacity(self, name: str, calibration: NullCalibration) -> dict[str, Any]:
        found = self._known[name]
        streams = self._specs.streams
        return {
            "words": calibration.words + (f", {streams} streams on each connection" if streams > 1 else ""),
            "operations_per_s": found.per_s,
            "busy_share": found.busy_share,
            "agents": dict(found.by_agent),
        }

    def fewer(self) -> None:
        """Fewer agents are left, and so the capacities are lower. The run file keeps those of all."""
        for names, calibration in self._specs.null_calibration:
            known = self._known.get(names[0])
            if calibration is not None and known is not None:
                with suppress(_UnmeasurableError):
                    self._known |= dict.fromkeys(names, self._once(calibration, LENGTHS_S[0]) or known)

    def _measured(self, calibration: NullCalibration) -> GeneratorCapacity:
        for length_s in LENGTHS_S:
            if found := self._once(calibration, length_s):
                return found
        raise _UnmeasurableError("not one operation was done at a built-in server on its own loopback")

    def _once(self, calibration: NullCalibration, length_s: float) -> GeneratorCapacity | None:
        """None when not one operation was done."""
        outcome = self._outcome(calibration, length_s)
        per_s = _per_s(None if outcome is None else outcome.whole)
        if outcome is None or not per_s:
            return None
        by_agent = {part.agent: _per_s(part.outcome) for part in outcome.parts}
        return GeneratorCapacity(per_s, by_agent, min(_busy_share(part.outcome) for part in outcome.parts))

    def _outcome(self, calibration: NullCalibration, length_s: float) -> FleetOutcome | None:
        """What all agents asked of servers that do nothing in `length_s`; None when they did not end."""
        settings, load_threads = self._plan.settings, self._plan.settings.clock.load_threads
        streams = self._specs.streams
        connections = max(LEAST_CONNECTIONS, AT_ONCE // streams) * load_threads * len(self._fleet.active)
        spec = TrialSpec(
            workload=NullWorkload(server=calibration),
            load=Clients(min(connections, calibration.most_clients)),
            streams=streams,
            length_s=length_s,
            max_operations=None
            if calibration.connects_every is None
            else MOST_CONNECTIONS * calibration.connects_every,
            load_threads=load_threads,
            pin=settings.pin,
        )
        # What they tell is merged as that of the work itself, for which any address will do.
        merged_by = spec.model_copy(update={"workload": calibration.asked.at("127.0.0.1:1")})
        session: FleetSession | None = None
        try:
            session = self._fleet.start({agent.name: spec for agent in self._fleet.active}, merged_by)
            outcome = session.wait(length_s + OVERDUE_S)
        except AgentLostError:
            raise
        except (GeneratorError, PlanError) as error:
            if session is not None:
                session.cancel()
            raise _UnmeasurableError(str(error)) from None
        if outcome is not None and outcome.lost:
            raise GeneratorError(f"{outcome.lost}: bring it back, then run the plan again")
        if outcome is None:
            session.cancel()
        return outcome


def _stored(run: RunRecord) -> dict[str, GeneratorCapacity]:
    """What an earlier part of the run has measured."""
    stored = run.environment.get(GENERATOR_CAPACITIES)
    if isinstance(stored, dict):
        return {
            name: GeneratorCapacity(float(each["operations_per_s"]), each.get("agents") or {}, each.get("busy_share"))
            for name, each in stored.items()
            if CAPACITY_WHY_NOT not in each
        }
    if run.null_operations_per_s is None:
        return {}
    own = {agent.name: agent.null_operations_per_s or 0.0 for agent in run.agents}
    return {contender.name: GeneratorCapacity(run.null_operations_per_s, own) for contender in run.contenders}


def _busy_share(outcome: Outcome | None) -> float:
    """How much of the window all load threads worked: one that waits for the server is not at its limit."""
    result = None if outcome is None else outcome.result
    if result is None or result.window_s <= 0:
        return 0.0
    return (result.generator.cpu_s - result.generator.polled_s) / (result.generator.threads * result.window_s)


def _per_s(outcome: Outcome | None) -> float:
    """Operations per second of the `null` workload; 0 without any."""
    result = None if outcome is None else outcome.result
    return result.operations / result.window_s if result is not None and result.window_s > 0 else 0.0
