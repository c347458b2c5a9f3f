"""Between many machines and the one that controls them: a relay hears some, and tells what they did together as one.

Snapshots are merged there, which is what costs the controller most; everything else goes to each machine and back as it
did. Who is silent to the relay is silent to the controller: only what was just heard is passed on.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from bakeoff.agents.merge import merged_snapshot
from bakeoff.agents.remote.wire import BEGIN_S, PULSE_S, Line, LineDownError, Pulse, Reply

# Of more agents than this each relay hears so many.
WIDTH = 64
LISTEN_S = 0.5
# A relay may stand still for so long, as a busy controller may: what it did not hear then is no silence of a machine.
STILL_S = 5.0
BUNDLES = 1000  # they end now and then and are asked for again, as pulses do
T = TypeVar("T")


def groups(things: Sequence[T], width: int = WIDTH) -> list[Sequence[T]]:
    """Those of each relay; none where the controller hears them itself."""
    if len(things) <= width:
        return []
    return [things[first : first + width] for first in range(0, len(things), width)]


class Bundle(BaseModel):
    """What a relay heard since the last one, by agent, and why others are gone. One of the pulses has the snapshot of
    all agents that are in the trial; the others are `folded` into it.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    pulses: dict[str, Pulse] = {}
    down: dict[str, str] = {}

    def to_json(self) -> str:
        """It as it crosses."""
        texts = {name: pulse.model_dump_json() for name, pulse in self.pulses.items()}
        return Sealed(pulses=texts, down=self.down).model_dump_json()


class Sealed(BaseModel):
    """A bundle whose pulses are the texts that an agent would tell itself: each is read once, by who listens to it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    pulses: dict[str, str] = {}
    down: dict[str, str] = {}


class Relay:
    """Hears the machines at the ends of these lines, each in a thread of its own, until it is closed."""

    def __init__(self, lines: Mapping[str, Line]) -> None:
        self._lock = threading.Lock()
        self._last: dict[str, Pulse] = {}
        self._fresh: set[str] = set()
        self._down: dict[str, str] = {}
        self._trial: dict[str, int] = {}
        self._closed = False
        for name, line in lines.items():
            threading.Thread(target=self._listen, args=(name, line), name=f"relay of {name}", daemon=True).start()

    def bundles(self, pause: Callable[[float], None] = time.sleep) -> Iterator[str]:
        """One every 200 ms, as JSON."""
        for _ in range(BUNDLES):
            yield self.bundle().to_json()
            pause(PULSE_S)

    def bundle(self) -> Bundle:
        """What was heard since the last one."""
        with self._lock:
            heard = {name: self._last[name] for name in sorted(self._fresh)}
            members = {name: self._last[name] for name in sorted(self._trial)}
            self._fresh, down = set(), dict(self._down)
        snapshots = [(name, pulse.snapshot) for name, pulse in members.items() if pulse.snapshot is not None]
        together = merged_snapshot(snapshots)
        leader = snapshots[0][0] if snapshots else ""
        pulses = {
            name: pulse.model_copy(
                update={"snapshot": together} if name == leader else {"snapshot": None, "folded": name in members}
            )
            for name, pulse in heard.items()
        }
        return Bundle(pulses=pulses, down=down)

    def close(self) -> None:
        """Hear nothing any more."""
        self._closed = True

    def _listen(self, name: str, line: Line) -> None:
        while not self._closed:
            try:
                text = line.pulse(LISTEN_S)
            except LineDownError as error:
                with self._lock:
                    self._down[name] = str(error)
                return
            if text is not None:
                self._take(name, Pulse.model_validate_json(text))

    def _take(self, name: str, pulse: Pulse) -> None:
        """Those are in a trial that began since all were over the last time: the next one only begins then."""
        with self._lock:
            if pulse.trial is not None and not pulse.over:
                if all(self._last[other].over for other in self._trial):
                    self._trial = {}
                self._trial[name] = pulse.trial
            self._last[name] = pulse
            self._fresh.add(name)


class Group:
    """The relay's machines as the controller hears them: one thread takes the bundles apart. Who listens to a machine
    is woken by what is new of it alone: that it still does the same is told when the call ends.
    """

    def __init__(self, next_bundle: Callable[[float], str | None]) -> None:
        """`next_bundle` is as `Line.pulse`."""
        self._next, self._lock = next_bundle, threading.Lock()
        self._news: dict[str, threading.Condition] = {}
        self._pulses: dict[str, str] = {}
        self._taken: dict[str, str] = {}
        self._down: dict[str, str] = {}
        self._gone, self._bundles = "", 0
        self._names: set[str] = set()
        self._closed = False
        self._listener = threading.Thread(target=self._listen, name="group of a relay", daemon=True)
        self._listener.start()

    def line(self, name: str, direct: Line) -> "GroupLine":
        """The way to one of its machines: pulses by the relay, all else directly."""
        with self._lock:
            self._names.add(name)
        return GroupLine(self, name, direct)

    def leave(self, name: str) -> None:
        """Nobody listens to this machine any more; without any the relay is not listened to either."""
        with self._lock:
            self._names.discard(name)
            self._closed = not self._names
        if self._closed:
            self._listener.join(2 * LISTEN_S)

    def pulse(self, name: str, timeout_s: float) -> str | None:
        """The next pulse of a machine; see Line. While the relay itself is silent the call lasts longer, from which the
        agent knows that it was not the machine.
        """
        with self._lock:
            news = self._news.setdefault(name, threading.Condition(self._lock))
            bundle, last = self._bundles, time.monotonic()
            while True:
                news.wait_for(lambda: self._is_new(name) or name in self._down or self._gone, timeout_s)
                if name in self._pulses:
                    self._taken[name] = self._pulses.pop(name)
                    return self._taken[name]
                if name in self._down or self._gone:
                    raise LineDownError(self._down.get(name) or self._gone)
                if self._bundles > bundle:
                    return None
                patience_s = STILL_S if self._bundles else BEGIN_S
                if time.monotonic() - last > patience_s:
                    raise LineDownError(f"the relay that hears it said nothing for {patience_s:g} s")

    def _listen(self) -> None:
        while not self._closed:
            try:
                text = self._next(LISTEN_S)
            except LineDownError as error:
                with self._lock:
                    self._gone = f"the relay that hears it is gone ({error})"
                    self._tell(self._news)
                return
            if text is not None:
                bundle = Sealed.model_validate_json(text)
                with self._lock:
                    self._pulses |= bundle.pulses  # a later one says all that an earlier one did
                    self._down |= bundle.down
                    self._bundles += 1
                    self._tell((*filter(self._is_new, bundle.pulses), *bundle.down))

    def _is_new(self, name: str) -> bool:
        return name in self._pulses and self._pulses[name] != self._taken.get(name)

    def _tell(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._news:
                self._news[name].notify_all()


class GroupLine:
    """The way to a machine whose pulses come by a relay."""

    def __init__(self, group: Group, name: str, direct: Line) -> None:
        self._group, self._name, self._direct = group, name, direct

    def ask(self, method: str, *words: Any) -> Reply:
        return self._direct.ask(method, *words)

    def pulse(self, timeout_s: float) -> str | None:
        return self._group.pulse(self._name, timeout_s)

    def drop(self) -> None:
        self._direct.drop()
        self._group.leave(self._name)
