"""The agent in this process: the Rust engine through `bakeoff._engine`."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from bakeoff.agents.base import Facts
from bakeoff.agents.engine import explained, load_engine, read_outcome
from bakeoff.agents.machine.environment import environment, own_addresses
from bakeoff.agents.machine.limits import limits
from bakeoff.agents.machine.links import Meter, links_to
from bakeoff.agents.machine.other_load import Others, other_load_now
from bakeoff.agents.machine.preflight import preflight
from bakeoff.agents.machine.socket_capacity import Demand
from bakeoff.agents.machine.thread_priority import idle_class_of
from bakeoff.agents.null_server import NullServer
from bakeoff.agents.result import (
    ControlResult,
    EngineEvent,
    IntervalResult,
    Outcome,
    Snapshot,
    SoakInterval,
    TrialResult,
)
from bakeoff.agents.spec import WHOLE, NullWorkload, Slice, TrialSpec
from bakeoff.core.system.links import links
from bakeoff.core.system.own_process import THIS
from bakeoff.core.times import s_of
from bakeoff.kinds.spec import Workload
from bakeoff.run.kind import run_part
from bakeoff.telemetry.model import EVERY_S, GENERATOR, Telemetry
from bakeoff.telemetry.readers.this_machine import ThisProcess
from bakeoff.telemetry.sampler import Sampler

if TYPE_CHECKING:
    from bakeoff.plan.model import Plan
    from bakeoff.run.kind import Check


class LocalAgent:
    """Runs trials in this process."""

    def __init__(self, name: str = "local") -> None:
        self.name = name
        self._engine = load_engine()
        self._routes: dict[tuple[object, ...], tuple[str, ...]] = {}

    def facts(self) -> Facts:
        return Facts(
            environment=environment(),
            build=dict(self._engine.build_info()),
            processors=tuple(sorted(os.sched_getaffinity(0))),
            addresses=own_addresses(),
            limits=limits(),
            links=links(),
        )

    def clock(self) -> int:
        return time.monotonic_ns()

    def preflight(self, demand: Demand) -> Sequence[str]:
        return [*preflight(demand), *other_load_now()]

    def check(self, plan: "Plan") -> "Check":
        return run_part(plan.kind).check(plan)

    def accept(self, spec: TrialSpec, part: Slice = WHOLE) -> None:
        with explained():
            self._engine.check(spec.part(part).to_json())

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> "LocalSession":
        with explained():
            server, sampler, others = None, None, None
            if isinstance(spec.workload, NullWorkload) and spec.workload.server is not None:
                server = NullServer(self._engine, spec.workload.server, spec.load_threads)
                spec = spec.model_copy(update={"workload": server.workload})
            meter = Meter(self._links_to(spec.workload))
            handle = self._engine.start(spec.part(part).to_json())
            if not isinstance(spec.workload, NullWorkload):
                sampler = Sampler(ThisProcess(), EVERY_S, alone=False)
                others = Others(spec.workload)
                if (how := idle_class_of(spec, self._engine.can_return())) is not None:
                    handle.run_in_background(*how)
            return LocalSession(self.name, spec.ramp_up_s, handle, meter, sampler, server, others)

    def _links_to(self, workload: Workload) -> tuple[str, ...]:
        """Asked of the kernel once for each contender: a name of a server may take a moment."""
        where = (workload.peers, workload.sources, workload.mounted)
        if where not in self._routes:
            self._routes[where] = links_to(workload)
        return self._routes[where]


class LocalSession:
    """A trial in this process, and the server that lives as long, where there is one."""

    def __init__(
        self,
        name: str,
        ramp_up_s: float,
        handle: Any,
        meter: Meter,
        sampler: Sampler | None,
        server: NullServer | None,
        others: Others | None = None,
    ) -> None:
        self._name, self._ramp_up_s, self._handle = name, ramp_up_s, handle
        self._meter, self._sampler, self._server, self._others = meter, sampler, server, others

    def armed(self, timeout_s: float) -> bool:
        return bool(self._handle.armed(timeout_s))

    def go(self, at_ns: int = 0) -> Self:
        self._handle.go(at_ns)
        return self

    def barrier(self) -> int:
        return int(self._handle.barrier())

    def release_barrier(self, number: int, at_ns: int) -> None:
        self._handle.release_barrier(number, at_ns)

    def snapshot(self) -> Snapshot:
        with explained():
            snapshot = Snapshot.model_validate(self._handle.snapshot())
        self._meter.sample(snapshot.phase)
        if self._sampler is not None:
            self._sampler.tick()
        return snapshot

    def next_sample(self) -> bool:
        return bool(self._handle.next_sample())

    def drain_events(self) -> Sequence[EngineEvent]:
        with explained():
            return [EngineEvent.model_validate(json.loads(text)) for text in self._handle.drain_events()]

    def drain_intervals(self) -> Sequence[SoakInterval]:
        with explained():
            rows = self._handle.drain_intervals()
            return [SoakInterval(IntervalResult.model_validate_json(figures), *blobs) for figures, *blobs in rows]

    def wait(self, timeout_s: float) -> Outcome | None:
        with explained():
            raw = self._handle.wait(timeout_s)
            outcome = None if raw is None else read_outcome(raw)
        if outcome is None:
            return None
        if self._server is not None:
            self._server.stop()
        seen = {
            "links": self._meter.used(),
            "telemetry": self._telemetry(outcome.result),
            "others": None if self._others is None else self._others.measure(),
            "control": self._control(),
        }
        return replace(outcome, result=outcome.result.model_copy(update=seen))

    def _telemetry(self, result: TrialResult) -> Telemetry | None:
        """What this machine had to do, by the clock that the engine has, too; None where traffic never began."""
        if self._sampler is None:
            return None
        self._sampler.stop()
        if result.start is None:
            return None
        window_s = (self._ramp_up_s, self._ramp_up_s + result.window_s)
        return self._sampler.finish(GENERATOR, self._name, "this process", s_of(result.start.planned_ns), window_s)

    def _control(self) -> ControlResult | None:
        """What the threads of this process took that make no load."""
        took = self._handle.control() if THIS.is_own else None
        return None if took is None else ControlResult(cpu_s=took[0], span_s=took[1], longest_s=took[2])

    def cancel(self) -> None:
        self._handle.cancel()
        if self._sampler is not None:
            self._sampler.stop()
