"""What stands on the controller for a machine that sends load: an agent whose every answer comes over a line."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import ValidationError

from bakeoff.agents.base import Facts
from bakeoff.agents.machine.socket_capacity import Demand
from bakeoff.agents.remote.spec import PIECE, Cutter, send
from bakeoff.agents.remote.spooled import read_spooled
from bakeoff.agents.remote.wire import (
    BEGIN_S,
    DEMAND,
    FACTS,
    IDLE_SILENCE_S,
    PULSE_S,
    SILENCE_S,
    Answer,
    Line,
    LineDownError,
    Pulse,
    Reply,
    opened,
    unpack_events,
    unpack_interval,
    unpack_outcome,
)
from bakeoff.agents.result import EngineEvent, Outcome, Snapshot, SoakInterval, SpooledResult
from bakeoff.agents.spec import WHOLE, Slice, TrialSpec
from bakeoff.core.errors import AgentLostError, GeneratorError

if TYPE_CHECKING:
    from bakeoff.agents.remote.check import RemoteCheck
    from bakeoff.plan.model import Plan

T = TypeVar("T")
NOT_OURS = "it says what this build cannot read: install the same wheel there, then join it again"
LISTEN_S = 0.5  # at most in one go
HEARD_EVERY_S = 1.0
# A machine that is alive, and does not answer for so long, is lost: most questions take no time, and a look at the
# contenders as long as their contents are large.
ANSWER_S, SLOW_ANSWER_S = 120.0, 3600.0
SLOW_METHODS = frozenset(("check", "examine", "answers", "unchanged", "compare", "workload", "found", "close"))
NOT_BEGUN = Snapshot(elapsed_s=0.0, phase="prepare", operations=0, errors=0, bytes_in=0)


def _texts(answer: Any) -> list[str]:
    return [str(text) for text in answer]


class RemoteAgent:
    """A machine at the other end of a line. What it says by itself is listened to in a thread of its own: without a
    pulse for too long it is lost, whatever it was doing, and stays so.
    """

    def __init__(self, name: str, line: Line, now: Callable[[], float] = time.monotonic) -> None:
        self.name = name
        self._line, self._now = line, now
        self._cutter, self._sent = Cutter(), set[str]()
        self._state = threading.Condition()
        self._pulse = Pulse()
        self._running: int | None = None
        self._key = self._lost = ""
        self._begun = False
        self._closed = False
        self._listener = threading.Thread(target=self._listen, name=f"agent {name}", daemon=True)
        self._listener.start()

    def facts(self) -> Facts:
        text = self.ask("facts")
        try:
            facts: Facts = FACTS.validate_json(text)
        except ValidationError:
            raise GeneratorError(
                f"agent {self.name} has another build of Bakeoff: install the same wheel there"
            ) from None
        return facts

    def clock(self) -> int:
        return self.read(int, "clock")

    def preflight(self, demand: Demand) -> Sequence[str]:
        return self.read(_texts, "preflight", DEMAND.dump_json(demand).decode())

    def check(self, plan: "Plan") -> "RemoteCheck":
        from bakeoff.agents.remote.check import RemoteCheck
        from bakeoff.plan.input.files import gathered

        packed = gathered(plan)
        for start in range(0, len(packed), PIECE):
            self.ask("files", packed[start : start + PIECE])
        return RemoteCheck(self.read, plan, self.read(int, "check", json.dumps(plan.to_dict())))

    def accept(self, spec: TrialSpec, part: Slice = WHOLE) -> None:
        self._ask_of_spec("accept", spec, part)

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> "RemoteSession":
        key, self._key = self._key, ""
        reply = self._ask_of_spec("start", spec, part, key)
        number = self.understood(lambda: int(reply))
        with self._state:
            self._running = number
        return RemoteSession(self, number)

    def keep_next(self, key: str) -> None:
        self._key = key

    def spooled(self, key: str) -> SpooledResult | None:
        return self.read(lambda text: None if text is None else read_spooled(text), "spooled", key)

    def forget(self, key: str) -> None:
        with suppress(AgentLostError):
            self.ask("forget", key)

    def _ask_of_spec(self, method: str, spec: TrialSpec, part: Slice, *more: Any) -> Any:
        cut = self._cutter.cut(spec, part)
        send(self._cutter.texts, cut.parts, self._sent, lambda *words: self.ask("part", *words))
        return self.ask(method, cut.head, cut.work, dict(cut.parts), *more)

    def ask(self, method: str, *words: Any) -> Any:
        """What the machine answers. Raises the error that it tells, or AgentLostError: also of one that is alive and
        gives no answer, as when what it looks at hangs.
        """
        reply, limit_s = self.begin(method, *words), SLOW_ANSWER_S if method in SLOW_METHODS else ANSWER_S
        until = self._now() + limit_s
        while (answer := self.answer(reply, PULSE_S)) is None:
            if self._now() > until:
                self.give_up(f"it did not answer within {limit_s:g} s (asked for {method}): see what hangs there")
        heard = answer
        return self.understood(lambda: opened(heard))

    def read(self, what: Callable[[Any], T], method: str, *words: Any) -> T:
        """What the answer of the machine says. Raises as `ask` does."""
        answer = self.ask(method, *words)
        return self.understood(lambda: what(answer))

    def understood(self, read: Callable[[], T]) -> T:
        """What was read of an answer; a machine that says what nobody can read is lost. Raises AgentLostError."""
        try:
            return read()
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self.give_up(NOT_OURS)
            raise AgentLostError(self.name, self._lost) from None

    def begin(self, method: str, *words: Any) -> Reply:
        """Ask without waiting. Raises AgentLostError."""
        self.raise_if_lost()
        try:
            return self._line.ask(method, *words)
        except LineDownError as error:
            self.give_up(str(error))
            raise AgentLostError(self.name, self._lost) from None

    def answer(self, reply: Reply, timeout_s: float) -> Answer | None:
        """What came of it within `timeout_s`. Raises AgentLostError."""
        try:
            return reply.get(timeout_s)
        except TimeoutError:
            self.raise_if_lost()
            return None
        except LineDownError as error:
            self.give_up(str(error))
            raise AgentLostError(self.name, self._lost) from None

    def raise_if_lost(self) -> None:
        """Raises AgentLostError when the machine is gone."""
        if self._lost:
            raise AgentLostError(self.name, self._lost)

    def until(self, number: int, what: Callable[[Pulse], bool], timeout_s: float) -> Pulse | None:
        """A pulse of a trial for which this is so, or of one that followed it; None after `timeout_s` without. Raises
        AgentLostError.
        """
        end = self._now() + timeout_s
        with self._state:
            while True:
                self.raise_if_lost()
                begun = self._pulse.trial or 0
                if begun > number or (begun == number and what(self._pulse)):
                    return self._pulse
                left_s = end - self._now()
                if left_s <= 0:
                    return None
                self._state.wait(min(left_s, LISTEN_S))

    def of(self, number: int) -> Pulse | None:
        """The last pulse of a trial, if there was one."""
        with self._state:
            return self._pulse if self._pulse.trial == number else None

    def ended(self, number: int) -> None:
        """The outcome of a trial is here."""
        with self._state:
            if self._running == number:
                self._running = None

    def tell(self, method: str, *words: Any) -> None:
        """Ask without waiting for the answer."""
        if not self._lost:
            try:
                self._line.ask(method, *words)
            except LineDownError as error:
                self.give_up(str(error))

    def close(self) -> None:
        """Listen no more, and let the machine go."""
        self._closed = True
        self._listener.join()
        self._line.drop()

    def _listen(self) -> None:
        heard = reported = self._now()
        while not self._closed and not self._lost:
            before = self._now()
            try:
                text = self._line.pulse(LISTEN_S)
            except LineDownError as error:
                self.give_up(str(error))
                return
            except Exception as error:  # a defect of ours: its trial must not wait for ever
                self.give_up(f"what brings its words here broke ({type(error).__name__})")
                raise
            now = self._now()
            if text is not None:
                try:
                    self._take(Pulse.model_validate_json(text))
                except ValidationError:
                    self.give_up(NOT_OURS)
                    return
                heard = now
            elif now - before > 2 * LISTEN_S:  # it was this process that stood still
                heard = now
            limit_s = self._patience_s()
            if now - heard > limit_s:
                self.give_up(f"nothing was heard from it for {limit_s:g} s")
            elif now - reported > HEARD_EVERY_S:
                self.tell("heard")
                reported = now

    def _patience_s(self) -> float:
        if self._running is not None:
            return SILENCE_S
        return IDLE_SILENCE_S if self._begun else BEGIN_S

    def _take(self, pulse: Pulse) -> None:
        with self._state:
            is_news = (pulse.trial, pulse.armed, pulse.over) != (self._pulse.trial, self._pulse.armed, self._pulse.over)
            self._pulse, self._begun = pulse, True
            if is_news:  # of a thousand agents each wakes nobody for what nobody waits for
                self._state.notify_all()

    def give_up(self, reason: str) -> None:
        """The machine is lost, for the first reason that is known."""
        with self._state:
            first = not self._lost
            self._lost = self._lost or reason
            self._state.notify_all()
            running = self._running
        if first and not self._closed:
            if running is not None:
                with suppress(LineDownError):  # should it hear it, it ends sooner than it would alone
                    self._line.ask("cancel", running)
            threading.Thread(target=self._line.drop, daemon=True).start()


class RemoteSession:
    """A trial on another machine."""

    def __init__(self, agent: RemoteAgent, number: int) -> None:
        self._agent, self._number = agent, number
        self._events = self._rows = 0
        self._outcome: Outcome | None = None
        self._coming: Reply | None = None

    def armed(self, timeout_s: float) -> bool:
        return self._agent.until(self._number, lambda pulse: pulse.armed, timeout_s) is not None

    def go(self, at_ns: int = 0) -> Self:
        self._agent.ask("go", self._number, at_ns)
        return self

    def barrier(self) -> int:
        pulse = self._agent.of(self._number)
        return 0 if pulse is None else pulse.barrier

    def release_barrier(self, number: int, at_ns: int) -> None:
        self._agent.ask("release_barrier", self._number, number, at_ns)

    def snapshot(self) -> Snapshot | None:
        self._agent.raise_if_lost()
        pulse = self._agent.of(self._number)
        if pulse is not None and pulse.folded:
            return None
        return NOT_BEGUN if pulse is None or pulse.snapshot is None else pulse.snapshot

    def drain_events(self) -> Sequence[EngineEvent]:
        pulse = self._agent.of(self._number)
        if self._outcome is None and (pulse is None or pulse.events <= self._events):
            self._agent.raise_if_lost()
            return ()
        events = self._agent.read(unpack_events, "events", self._number, self._events)
        self._events += len(events)
        return events

    def drain_intervals(self) -> Sequence[SoakInterval]:
        pulse = self._agent.of(self._number)
        if self._outcome is None and (pulse is None or pulse.rows <= self._rows):
            self._agent.raise_if_lost()
            return ()
        rows = self._agent.read(
            lambda packed: [unpack_interval(row) for row in packed], "rows", self._number, self._rows
        )
        self._rows += len(rows)
        return rows

    def wait(self, timeout_s: float) -> Outcome | None:
        if self._outcome is None and self._agent.until(self._number, lambda pulse: pulse.over, timeout_s) is not None:
            # It may be large, and long under way: an agent that does more must not be taken for one that is silent.
            self._coming = self._coming or self._agent.begin("outcome", self._number)
            answer = self._agent.answer(self._coming, timeout_s)
            if answer is not None:
                heard = answer
                self._outcome = self._agent.understood(lambda: unpack_outcome(opened(heard)))
                self._agent.ended(self._number)
        return self._outcome

    def cancel(self) -> None:
        self._agent.tell("cancel", self._number)
