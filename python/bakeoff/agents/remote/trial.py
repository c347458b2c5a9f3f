"""A trial on the machine that sends the load: ready, gone, over; watched in a thread of its own."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from bakeoff.agents.base import TrialSession
from bakeoff.agents.machine.thread_priority import uncollected
from bakeoff.agents.remote.wire import (
    DEAD_MAN_S,
    PULSE_S,
    TRAFFIC_PULSE_S,
    PackedInterval,
    Pulse,
    pack_events,
    pack_interval,
    pack_outcome,
)
from bakeoff.agents.result import EngineEvent, Outcome
from bakeoff.core.errors import BakeoffError

T = TypeVar("T")
CONTROLLER_SILENT = f"the controller was silent for {DEAD_MAN_S:g} s: the trial was stopped"


class HostedTrial:
    """A trial that the machine carries out. `heard` says when the controller last said something, by the monotonic
    clock; when that is too long ago the trial is stopped. `changed` is called when it is armed, and when it is over.
    `keep` is given the outcome before anybody is told of it.
    """

    def __init__(
        self,
        number: int,
        session: TrialSession,
        heard: Callable[[], float],
        changed: Callable[[], None],
        keep: Callable[[Outcome, list[EngineEvent]], None],
    ) -> None:
        self.number = number
        self._session, self._heard, self._changed, self._keep = session, heard, changed, keep
        self._lock = threading.Lock()
        self._events: list[EngineEvent] = []
        self._rows: list[PackedInterval] = []
        self._events_gone = self._rows_gone = 0
        self._armed, self._over = threading.Event(), threading.Event()
        self._stopped = self._went = False
        self._outcome: Outcome | None = None
        self._failure: BaseException | None = None
        threading.Thread(target=self._watch, name=f"trial {number}", daemon=True).start()

    def go(self, at_ns: int) -> None:
        self._session.go(at_ns)
        self._went = True

    def release_barrier(self, number: int, at_ns: int) -> None:
        self._session.release_barrier(number, at_ns)

    def cancel(self) -> None:
        self._session.cancel()

    @property
    def over(self) -> bool:
        """Whether nothing of it runs any more."""
        return self._over.is_set()

    def wait(self, timeout_s: float) -> bool:
        """Whether it is over within `timeout_s`."""
        return self._over.wait(timeout_s)

    def pulse(self) -> Pulse:
        """How far it is."""
        over, snapshot = self._over.is_set(), None
        with suppress(BakeoffError):  # whoever asks for the outcome is told
            snapshot = self._session.snapshot()
            self._collect()
        with self._lock:
            return Pulse(
                trial=self.number,
                armed=self._armed.is_set(),
                over=over,
                events=self._events_gone + len(self._events),
                barrier=self._session.barrier(),
                rows=self._rows_gone + len(self._rows),
                snapshot=snapshot,
            )

    @property
    def pulse_s(self) -> float:
        """How long until the next pulse. Once traffic may run they are rare, but where clients wait for those of other
        machines again and again.
        """
        is_quiet = self._went and not self._over.is_set() and self._session.barrier() == 0
        return TRAFFIC_PULSE_S if is_quiet else PULSE_S

    def outcome(self) -> tuple[str, dict[str, bytes]]:
        """The outcome of a trial that is over. Raises what broke it."""
        if self._failure is not None:
            raise self._failure
        assert self._outcome is not None
        return pack_outcome(self._outcome)

    def events(self, since: int) -> str:
        """Events from number `since` on; those before are let go."""
        self._collect()
        with self._lock:
            del self._events[: since - self._events_gone]
            self._events_gone = since
            return pack_events(self._events)

    def rows(self, since: int) -> list[PackedInterval]:
        """Rows from number `since` on; those before are let go."""
        self._collect()
        with self._lock:
            del self._rows[: since - self._rows_gone]
            self._rows_gone = since
            return list(self._rows)

    def _collect(self) -> None:
        """Take over what the engine told since the last time."""
        with self._lock:
            self._events += self._session.drain_events()
            self._rows += [pack_interval(row) for row in self._session.drain_intervals()]

    def _watch(self) -> None:
        try:
            while not self._session.armed(PULSE_S):
                self._listen()
            self._armed.set()
            self._changed()
            with uncollected():
                while (outcome := self._session.wait(TRAFFIC_PULSE_S)) is None:
                    self._listen()
            self._collect()
            with self._lock:
                events = list(self._events)
            self._keep(outcome, events)
            self._outcome = outcome
        except BakeoffError as error:
            self._failure = error
        except BaseException as error:  # a defect, which whoever asks for the outcome gets to see
            self._failure = error
            raise
        finally:
            self._armed.set()
            self._over.set()
            self._changed()

    def _listen(self) -> None:
        """Stop a trial that nobody waits for."""
        if not self._stopped and time.monotonic() - self._heard() > DEAD_MAN_S:
            self._stopped = True
            snapshot = self._session.snapshot()
            at_s = 0.0 if snapshot is None else snapshot.elapsed_s
            self._session.cancel()
            with self._lock:
                self._events.append(EngineEvent(at_s=at_s, level="warning", text=CONTROLLER_SILENT))
