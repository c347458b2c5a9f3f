"""A trial of several agents: all are armed, begin at one moment, and are watched, each by a thread of its own. Work
whose clients wait for each other in the middle of it (cell by cell) goes on together from each of these barriers.

Nobody waits for an agent that does not answer: whoever asks for figures gets the last that each has told.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from bakeoff.agents.base import Agent, TrialSession
from bakeoff.agents.merge import merged_interval, merged_outcome, merged_snapshot
from bakeoff.agents.result import EngineEvent, Outcome, Snapshot, SoakInterval
from bakeoff.agents.spec import Slice, TrialSpec
from bakeoff.core.errors import AgentLostError, BakeoffError
from bakeoff.run.fleet.clocks import BARRIER_NS, ClockCheck, check_clock, common_start
from bakeoff.run.fleet.parallel import in_background
from bakeoff.run.fleet.session import AgentOutcome, FleetOutcome

POLL_S = 0.1  # so often each agent is asked
FOLDED_POLL_S = 0.5  # … and one whose figures another tells: of a thousand most have nothing to say but that they live
WATCHDOG_S = 2.0  # an agent that does not answer for so long is lost
READY_S = 30.0  # the same, until it has taken its part: names are looked up, and what is sent may be long
ANSWER_POLL_S = 0.1  # so often answers are looked for …
SILENCE_STEP_S = 0.3  # … and no longer a time counts as silence: whoever controls the run may have been stopped
NOTHING = Snapshot(elapsed_s=0, phase="starting", operations=0, errors=0, bytes_in=0)


class AgentPart:
    """An agent's part of a trial, asked by one thread. What it told last is read by others under the trial's lock."""

    def __init__(self, agent: Agent, part: Slice, spec: TrialSpec, clients: int) -> None:
        self.agent, self.part, self.spec, self.clients = agent, part, spec, clients
        self.session: TrialSession | None = None
        self.armed = False
        self.clock: ClockCheck | None = None
        self.barrier = 0
        self.snapshot: Snapshot | None = None
        self.events: list[EngineEvent] = []
        self.rows: list[SoakInterval] = []
        self.outcome: Outcome | None = None
        self.lost = ""
        self.fault: BaseException | None = None
        self.unresponsive_s = 0.0

    @property
    def name(self) -> str:
        """The agent's."""
        return self.agent.name

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.outcome is not None or bool(self.lost) or self.fault is not None

    @property
    def is_fatal(self) -> bool:
        """Whether its engine gave the trial up."""
        return self.outcome is not None and self.outcome.result.fatal is not None

    @property
    def began_ns(self) -> int | None:
        """When its traffic began by the clock here, where that is known."""
        start = None if self.outcome is None else self.outcome.result.start
        return None if start is None or self.clock is None else self.clock.here(start.real_ns)


def _once(snapshots: Sequence[tuple[str, Snapshot]]) -> list[tuple[str, Snapshot]]:
    """Without what an agent told itself before another one began to tell its figures: its thread may not know yet."""
    by_others = {one.agent for name, snapshot in snapshots for one in snapshot.per_agent if one.agent != name}
    return [(name, snapshot) for name, snapshot in snapshots if snapshot.per_agent or name not in by_others]


class Together:
    """See FleetSession. Results are merged by the specification `merged_by`."""

    def __init__(
        self, parts: Sequence[AgentPart], merged_by: TrialSpec, now_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._parts, self._merged_by, self._now_ns = parts, merged_by, now_ns
        self._reported = threading.Condition()
        self._start_ns: int | None = None
        self._barriers: dict[int, int] = {}  # when those of each go on, by the clock here
        self._cancelled = self._given_up = False
        self._sampled_s = time.monotonic()
        self._row = 0

    def begin(self) -> None:
        """Have all parts taken. Raises what Agent.start raises; agents that had begun are stopped then."""
        for part in self._parts:
            threading.Thread(target=self._watch_over, args=(part,), daemon=True, name=f"agent-{part.name}").start()
        with self._reported:
            try:
                while not all(part.session or part.over for part in self._parts):
                    self._reported.wait(ANSWER_POLL_S)
                    self._poll()
                self._raise_faults()
                for part in self._parts:
                    if part.lost and part.session is None:  # later it is an outcome: something may have been sent
                        raise AgentLostError(part.name, part.lost)
            except BaseException:
                self.cancel()
                raise

    def snapshot(self) -> Snapshot:
        with self._reported:
            self._poll()
            self._raise_faults()
            left = [part for part in self._parts if not part.lost]
            snapshots = _once([(part.name, part.snapshot) for part in left if part.snapshot is not None])
        return merged_snapshot(snapshots) if snapshots or not left else NOTHING

    def drain_events(self) -> Sequence[EngineEvent]:
        events: list[EngineEvent] = []
        with self._reported:
            for part in self._parts:
                events, part.events = part.events, []
                events += [event.model_copy(update={"text": f"agent {part.name}: {event.text}"}) for event in events]
        return sorted(events, key=lambda event: event.at_s)

    def drain_intervals(self) -> Sequence[SoakInterval]:
        """See FleetSession. An interval that a lost agent has not told is none."""
        rows: list[SoakInterval] = []
        with self._reported:
            ended = all(part.outcome is not None for part in self._parts)
            while True:
                ready = [part.rows[0] for part in self._parts if part.rows and part.rows[0].figures.number == self._row]
                if not ready or (len(ready) < len(self._parts) and not ended):
                    return rows
                for part in self._parts:
                    part.rows = [row for row in part.rows if row.figures.number != self._row]
                rows.append(merged_interval(ready))
                self._row += 1

    def wait(self, timeout_s: float) -> FleetOutcome | None:
        until = time.monotonic() + timeout_s
        with self._reported:
            while True:
                self._poll()
                self._raise_faults()
                if all(part.over for part in self._parts):
                    break
                left_s = until - time.monotonic()
                if left_s <= 0:
                    return None
                self._reported.wait(min(left_s, ANSWER_POLL_S))
        return self._outcome()

    def rests(self) -> Callable[[], bool] | None:
        return None

    def cancel(self) -> None:
        """See FleetSession. Each is asked in the background: one that hangs keeps no other from stopping. One that was
        lost is asked as well: when it comes to itself it must not go on with its load into later trials.
        """
        with self._reported:
            self._cancelled = True
            for part in self._parts:
                if part.session is not None and part.outcome is None:
                    in_background(part.session.cancel, BakeoffError)
            self._reported.notify_all()

    def _watch_over(self, part: AgentPart) -> None:
        """The thread of one agent: from its start to its end."""
        try:
            self._carry_out(part)
        except AgentLostError as error:
            self._tell(part, lost=error.reason or "it does not answer")
        except BaseException as error:  # raised where the trial is waited for
            self._tell(part, fault=error)

    def _carry_out(self, part: AgentPart) -> None:
        session = part.agent.start(part.spec, part.part)
        self._tell(part, session=session)
        if self._cancelled:
            session.cancel()
        while not session.armed(POLL_S):
            self._ask(part, session)
        self._tell(part, armed=True)
        self._stand_by(part, session, self._all_armed)
        if not self._cancelled:
            self._tell(part, clock=check_clock(partial(self._clock, part), self._now_ns))
            self._stand_by(part, session, lambda: self._start_ns is not None)
        if self._start_ns is not None and part.clock is not None and not self._cancelled:
            session.go(part.clock.there(self._start_ns))
        while part.outcome is None and not part.lost:
            self._ask(part, session, session.wait(POLL_S if part.snapshot is not None else FOLDED_POLL_S))
            if part.outcome is None and (number := session.barrier()) > part.barrier:
                self._at_barrier(part, session, number)

    def _at_barrier(self, part: AgentPart, session: TrialSession, number: int) -> None:
        """All clients of the agent wait for those of the others: have them go on together when all are there. Clocks
        are looked at again, as a trial may be long.
        """
        clock = check_clock(partial(self._clock, part), self._now_ns)
        self._tell(part, barrier=number)
        self._stand_by(part, session, lambda: self._moment(number) is not None)
        at_ns = self._barriers.get(number)
        if at_ns is not None and part.outcome is None and not self._cancelled:
            session.release_barrier(number, clock.there(at_ns))

    def _moment(self, number: int) -> int | None:
        """When agents at a barrier go on, once all agents that are still in the trial are at it."""
        if number not in self._barriers and all(part.over or part.barrier >= number for part in self._parts):
            checks = [part.clock for part in self._parts if part.clock is not None]
            self._barriers[number] = common_start(checks, self._now_ns(), BARRIER_NS)
        return self._barriers.get(number)

    def _clock(self, part: AgentPart) -> int:
        shown_ns = part.agent.clock()
        self._tell(part)
        return shown_ns

    def _stand_by(self, part: AgentPart, session: TrialSession, until: Callable[[], bool]) -> None:
        """Wait for others; whether the agent is still there, and its trial not over already, is asked meanwhile."""
        while part.outcome is None:
            with self._reported:
                if self._reported.wait_for(lambda: until() or self._cancelled, POLL_S):
                    return
            self._ask(part, session, session.wait(0.0))

    def _ask(self, part: AgentPart, session: TrialSession, outcome: Outcome | None = None) -> None:
        snapshot, events, rows = session.snapshot(), session.drain_events(), session.drain_intervals()
        with self._reported:
            part.events += events
            part.rows += rows
            self._tell(part, snapshot=snapshot, outcome=outcome)

    def _tell(self, part: AgentPart, **news: Any) -> None:
        """Write down what an agent has told just now."""
        with self._reported:
            if part.lost:  # it was given up, and what comes now comes too late
                return
            for name, value in news.items():
                setattr(part, name, value)
            part.unresponsive_s = 0.0
            if part.lost or part.fault is not None:
                self._stop_the_others()
            elif part.is_fatal and not self._cancelled:  # the trial has failed, and nothing is left to be measured
                self._given_up = True
                self._stop_the_others()
            if self._is_turn(part, news):
                self._reported.notify_all()

    def _is_turn(self, part: AgentPart, news: Mapping[str, Any]) -> bool:
        """Whether others waited for these news: many agents that wake each other with each word have time for nothing
        else.
        """
        if "clock" in news:
            self._settle()
            return self._start_ns is not None
        if "session" in news:
            return all(other.session or other.over for other in self._parts)
        if "barrier" in news:
            return self._moment(part.barrier) is not None
        return self._all_armed() if "armed" in news else part.over

    def _all_armed(self) -> bool:
        return all(part.armed or part.over for part in self._parts)

    def _settle(self) -> None:
        """All clocks are known: now it is known when to begin."""
        checks = [part.clock for part in self._parts if part.clock is not None]
        if self._start_ns is None and len(checks) == len(self._parts):
            self._start_ns = common_start(checks, self._now_ns())

    def _poll(self) -> None:
        """Who has been silent for too long is lost. Time in which nobody could look is nobody's silence."""
        now_s = time.monotonic()
        passed_s, self._sampled_s = min(now_s - self._sampled_s, SILENCE_STEP_S), now_s
        for part in self._parts:
            part.unresponsive_s += passed_s
            patience_s = READY_S if part.session is None else WATCHDOG_S
            if not part.over and part.unresponsive_s > patience_s:
                part.lost = f"it did not answer for {patience_s:g} s"
                self._stop_the_others()

    def _stop_the_others(self) -> None:
        if not self._cancelled:
            self.cancel()

    def _raise_faults(self) -> None:
        for part in self._parts:
            if isinstance(part.fault, BakeoffError):
                raise type(part.fault)(f"agent {part.name}: {part.fault}") from None
            if part.fault is not None:
                raise part.fault

    def _outcome(self) -> FleetOutcome:
        starts = {part.name: part.began_ns for part in self._parts if part.began_ns is not None}
        first_ns = min(starts.values(), default=0)
        offsets = {name: at_ns - first_ns for name, at_ns in starts.items()}
        outcomes = [(part.name, part.outcome) for part in self._parts if part.outcome is not None]
        whole = merged_outcome(self._merged_by, outcomes) if outcomes else None
        if whole is not None and self._given_up:  # nobody stopped it: what one agent told is why it failed
            whole = Outcome(whole.result.model_copy(update={"cancelled": False}), whole.histograms)
        parts = [
            AgentOutcome(
                p.name, p.clients, p.outcome, p.lost, offsets.get(p.name), None if p.clock is None else p.clock.error_ns
            )
            for p in self._parts
        ]
        return FleetOutcome(whole, tuple(parts))
