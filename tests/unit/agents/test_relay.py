"""Many machines heard through relays: the same merged view, and whoever is silent or gone is so to the controller."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from bakeoff.agents.merge import merged_snapshot
from bakeoff.agents.remote import agent as near
from bakeoff.agents.remote import relay as relay_module
from bakeoff.agents.remote.agent import RemoteAgent, RemoteSession
from bakeoff.agents.remote.relay import Bundle, Group, Relay, groups
from bakeoff.agents.remote.wire import Answer, LineDownError, Pulse
from bakeoff.agents.result import OperationCount, RecentResult, Snapshot
from tests.control import PATIENCE_S

NAMES = [f"m{i}" for i in range(6)]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine of this process is lost because it is busy."""
    for name in ("SILENCE_S", "IDLE_SILENCE_S", "BEGIN_S", "ANSWER_S"):
        monkeypatch.setattr(near, name, PATIENCE_S)
    for name in ("STILL_S", "BEGIN_S"):
        monkeypatch.setattr(relay_module, name, PATIENCE_S)


def snapshot_of(number: int, operations: int = 0) -> Snapshot:
    """A machine with times of its own."""
    count = operations or 100 * (number + 1)
    times = ((1_000 * (number + 1), count - 1), (9_000, 1))
    return Snapshot(
        elapsed_s=1.0 + number / 10, phase="window", operations=count, errors=number, bytes_in=count * 10,
        per_operation=(OperationCount(name="get", operations=count, errors=number),),
        recent=RecentResult(span_s=1.0, operations=count, p50_ns=1_000 * (number + 1), p99_ns=9_000, times=times),
    )  # fmt: skip


class FakeLine:
    """Gives the pulses that a test puts into it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._here, self._pulses, self._down = threading.Condition(), list[str](), ""

    def put(self, pulse: Pulse) -> None:
        with self._here:
            self._pulses.append(pulse.model_dump_json())
            self._here.notify_all()

    def cut(self, why: str) -> None:
        with self._here:
            self._down = why
            self._here.notify_all()

    def ask(self, method: str, *words: Any) -> "FakeLine":
        self.asked.append(method)
        return self

    def get(self, timeout_s: float) -> Answer:
        return "", 7

    def pulse(self, timeout_s: float) -> str | None:
        with self._here:
            self._here.wait_for(lambda: self._pulses or self._down, timeout_s)
            if self._pulses:
                return self._pulses.pop(0)
            if self._down:
                raise LineDownError(self._down)
            return None

    def drop(self) -> None:
        pass


class Bundles:
    """A relay's bundles as they cross: when a test passes them on, or always."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    def next(self, timeout_s: float) -> str | None:
        threading.Event().wait(0.005)
        return self._relay.bundle().to_json()


@contextmanager
def relayed(lines: dict[str, FakeLine], width: int) -> Iterator[dict[str, RemoteAgent]]:
    agents, relays = {}, []
    for names in groups(list(lines), width):
        relays.append(Relay({name: lines[name] for name in names}))
        group = Group(Bundles(relays[-1]).next)
        agents |= {name: RemoteAgent(name, group.line(name, lines[name])) for name in names}
    try:
        yield agents
    finally:
        for relay in relays:
            relay.close()
        for agent in agents.values():
            agent.close()


def until(what: Callable[[], bool]) -> None:
    """Waits for what other threads bring about."""
    done = threading.Event()
    for _ in range(int(PATIENCE_S / 0.005)):
        if what():
            return
        done.wait(0.005)
    raise AssertionError("it did not come about")


def view(agents: dict[str, RemoteAgent], trial: int, names: Sequence[str] = NAMES) -> Snapshot:
    parts = [(name, RemoteSession(agents[name], trial).snapshot()) for name in names]
    return merged_snapshot([(name, snapshot) for name, snapshot in parts if snapshot is not None])


def test_few_machines_need_no_relay() -> None:
    assert groups(list(range(64))) == [] and [len(group) for group in groups(list(range(150)))] == [64, 64, 22]


def test_the_merged_view_is_that_of_all_machines_heard_directly() -> None:
    lines = {name: FakeLine() for name in NAMES}
    directly, seen = merged_snapshot([(name, snapshot_of(i)) for i, name in enumerate(NAMES)]), list[Snapshot]()
    with relayed(lines, width=4) as agents:

        def all_are_seen() -> bool:
            for i, line in enumerate(lines.values()):  # machines tell again and again
                line.put(Pulse(trial=1, armed=True, snapshot=snapshot_of(i)))
            seen.append(view(agents, 1))  # while relays hear the first ones it is a part of them
            return seen[-1].model_copy(update={"per_agent": ()}) == directly.model_copy(update={"per_agent": ()})

        until(all_are_seen)
    merged = seen[-1]
    assert sorted(merged.per_agent, key=lambda one: one.agent) == list(directly.per_agent)


def test_what_a_machine_is_asked_goes_to_it_and_not_to_the_relay() -> None:
    lines = {name: FakeLine() for name in NAMES}
    with relayed(lines, width=4) as agents:
        lines["m5"].put(Pulse())
        assert agents["m5"].clock() == 7
    assert "clock" in lines["m5"].asked and "clock" not in lines["m0"].asked


def test_a_machine_that_is_gone_is_gone_for_its_own_reason_and_no_other() -> None:
    lines = {name: FakeLine() for name in NAMES}
    with relayed(lines, width=4) as agents:
        lines["m1"].cut("its process ended")
        until(lambda: bool(agents["m1"]._lost))
        assert agents["m1"]._lost == "its process ended" and not agents["m0"]._lost


def test_a_relay_that_is_gone_takes_its_machines_with_it() -> None:
    def gone(timeout_s: float) -> str | None:
        raise LineDownError("its process ended")

    group = Group(gone)
    agent = RemoteAgent("m0", group.line("m0", FakeLine()))
    until(lambda: bool(agent._lost))
    assert agent._lost == "the relay that hears it is gone (its process ended)"
    agent.close()


def test_a_relay_that_stands_still_is_not_a_machine_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call lasts until it goes on, and from that the agent knows; one that does not go on is named."""
    still = threading.Event()

    def stalled(timeout_s: float) -> str | None:
        return Bundle().to_json() if still.wait(timeout_s) else None

    def mute(timeout_s: float) -> str | None:
        threading.Event().wait(timeout_s)
        return None

    heard = Group(stalled)
    threading.Timer(0.1, still.set).start()
    assert heard.pulse("m0", 0.01) is None and still.is_set()
    heard.line("m0", FakeLine()).drop()
    monkeypatch.setattr(relay_module, "BEGIN_S", 0.05)
    with pytest.raises(LineDownError, match="the relay that hears it said nothing for"):
        (silent := Group(mute)).pulse("m0", 0.01)
    silent.line("m0", FakeLine()).drop()


def test_only_who_was_just_heard_is_passed_on() -> None:
    """Else a machine behind a cut cable would seem to be there."""
    lines = {name: FakeLine() for name in NAMES[:2]}
    relay = Relay(lines)
    lines["m0"].put(Pulse(trial=1, snapshot=snapshot_of(0)))
    bundle = Bundle()

    def heard() -> bool:
        nonlocal bundle
        bundle = relay.bundle()
        return bool(bundle.pulses)

    until(heard)
    assert list(bundle.pulses) == ["m0"] and relay.bundle().pulses == {}
    relay.close()


@pytest.mark.parametrize("second", [["m0", "m1", "m2"], ["m1"]])
def test_a_machine_without_a_part_in_the_next_trial_is_not_counted(second: list[str]) -> None:
    """A low load step leaves some without clients; what they tell is still of the trial before."""
    relay = Relay({})
    for i, name in enumerate(NAMES[:3]):
        relay._take(name, Pulse(trial=1, snapshot=snapshot_of(i)))
    for i, name in enumerate(NAMES[:3]):
        relay._take(name, Pulse(trial=1, over=True, snapshot=snapshot_of(i)))
    assert relay.bundle().pulses["m0"].snapshot == merged_snapshot(
        [(n, snapshot_of(i)) for i, n in enumerate(NAMES[:3])]
    )
    for name in second:
        relay._take(name, Pulse(trial=2, snapshot=snapshot_of(0, operations=7)))
    for name in NAMES[:3]:
        if name not in second:
            relay._take(name, Pulse(trial=1, over=True, snapshot=snapshot_of(0)))
    pulses = relay.bundle().pulses
    together = pulses[second[0]].snapshot
    assert together is not None and together.operations == 7 * len(second)
    assert not any(pulses[name].folded for name in NAMES[:3] if name not in second)
    relay._take(second[0], Pulse(trial=2, over=True, snapshot=snapshot_of(0, operations=9)))
    reported_last = relay.bundle().pulses[second[0]].snapshot
    assert reported_last is not None and reported_last.operations == 9 + 7 * (len(second) - 1), (
        "who is done stays in the sum"
    )
