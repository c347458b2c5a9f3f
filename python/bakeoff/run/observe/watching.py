"""Contenders that are watched while their trials run. Losing sight of one is told, and fails nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from bakeoff.core.times import s_of
from bakeoff.plan.model import Plan
from bakeoff.run.fleet.session import FleetOutcome
from bakeoff.run.kind import Note
from bakeoff.store.records.run_records import PlannedTrial, TrialRecord
from bakeoff.telemetry.model import CONTENDER, EVERY_S, Cost, Telemetry
from bakeoff.telemetry.readers.sources import source_of
from bakeoff.telemetry.reading import Source
from bakeoff.telemetry.sampler import Clock, Sampler
from bakeoff.telemetry.where import parse

# The clock of an agent is this one when it tells the same start, s.
SAME_CLOCK_S = 1.0


class Watching:
    """One run's. Sources live as long as it does: a login is made once."""

    def __init__(self, plan: Plan, tell: Callable[[Note], None], clock: Clock = time.monotonic) -> None:
        self._plan, self._tell, self._clock = plan, tell, clock
        watched = {c.name: parse(c.watch) for c in plan.contenders if c.watch is not None}
        self._words = {name: place.word for name, place in watched.items()}
        self._sources: dict[str, Source] = {name: source_of(place) for name, place in watched.items()}
        self._turns = {name: threading.Lock() for name in watched}
        self._sampler: Sampler | None = None
        self._lost = set[str]()
        self._totals = dict.fromkeys(watched, (0.0, 0.0, 0, 0))
        self._generator: list[Cost] = []
        self._began_s = 0.0
        self._traffic_s: float | None = None

    def begin(self, trial: PlannedTrial) -> None:
        """Its trial is made ready now."""
        self.drop()
        source = self._sources.get(trial.contender)
        self._began_s, self._traffic_s = self._clock(), None
        if source is not None:
            self._sampler = Sampler(source, EVERY_S, self._clock, self._turns[trial.contender])

    def elapsed(self, elapsed_s: float) -> None:
        """Its traffic has gone on for so long: time for another sample."""
        if self._sampler is not None:
            self._sampler.tick()
        if elapsed_s > 0.0:
            began_s = self._clock() - elapsed_s
            self._traffic_s = began_s if self._traffic_s is None else min(began_s, self._traffic_s)

    def seen(self, trial: PlannedTrial, outcome: FleetOutcome | None, record: TrialRecord) -> tuple[Telemetry, ...]:
        """What was seen of its contender, now that it is over."""
        sampler, self._sampler = self._sampler, None
        if self._sources:
            self._generator += [each.cost for each in record.telemetry]
        if sampler is None:
            return ()
        ramp_s = self._plan.settings.clock.ramp_up_s
        window_s = (ramp_s, ramp_s + record.window_s)
        name = trial.contender
        found = sampler.finish(CONTENDER, name, self._words[name], self._traffic(outcome), window_s)
        self._tell_of(trial, found)
        return (found,)

    def drop(self) -> None:
        """Nobody wants to know what was seen."""
        if self._sampler is not None:
            self._sampler.drop()
            self._sampler = None

    def close(self) -> None:
        """The run is over: what watching took is told."""
        self.drop()
        for name, source in self._sources.items():
            source.close()
            here_s, there_s, sent, received = self._totals[name]
            there = f", {there_s:.2f} s there" if there_s else ""
            asked = f"; {sent:,} bytes sent, {received:,} received" if received else ""
            self._tell(Note("info", f"watching {name} took {here_s:.2f} s of processor time here{there}{asked}"))
        if self._generator:
            own_s, samples = sum(cost.cpu_s for cost in self._generator), sum(cost.samples for cost in self._generator)
            took = f"{own_s:.2f} s of processor time in {samples:,} samples"
            self._tell(Note("info", f"watching the machine that sends the load took {took}"))

    def _traffic(self, outcome: FleetOutcome | None) -> float:
        """When traffic began, by the clock here: as the agent tells it, where that is its clock, too."""
        guess_s = self._began_s if self._traffic_s is None else self._traffic_s
        for part in () if outcome is None else outcome.parts:
            start = None if part.outcome is None else part.outcome.result.start
            if start is not None and abs(s_of(start.planned_ns) - guess_s) < SAME_CLOCK_S:
                return s_of(start.planned_ns)
        return guess_s

    def _tell_of(self, trial: PlannedTrial, found: Telemetry) -> None:
        name, cost, before = trial.contender, found.cost, self._totals[trial.contender]
        more = (cost.cpu_s, cost.remote_cpu_s or 0.0, cost.out_bytes, cost.in_bytes)
        self._totals[name] = tuple(one + other for one, other in zip(before, more, strict=True))  # type: ignore[assignment]
        ends_s = found.at_s[-1] + found.width_s[-1] if found.at_s else None
        is_lost = bool(found.gaps) and (ends_s is None or found.gaps[-1].to_s > ends_s)
        number = trial.order + 1
        if is_lost and name not in self._lost:
            self._lost.add(name)
            self._tell(Note("warning", f"telemetry of {name} stopped at trial {number}: {found.gaps[-1].why}"))
        elif not is_lost and name in self._lost:
            self._lost.remove(name)
            self._tell(Note("info", f"telemetry of {name} is back at trial {number}"))
        elif not is_lost and found.gaps:
            self._tell(Note("warning", f"telemetry of {name} has a gap in trial {number}: {found.gaps[0].why}"))
