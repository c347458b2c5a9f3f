"""Several agents in one trial: a common start by clocks that differ, and nobody waits for one that does not answer."""

import threading
import time
from collections.abc import Sequence
from typing import Any, Self

import pytest

from bakeoff.agents.merge import merged_interval
from bakeoff.agents.result import (
    AgentSnapshot,
    EngineEvent,
    IntervalResult,
    Outcome,
    Snapshot,
    SoakInterval,
    StartResult,
)
from bakeoff.agents.spec import WHOLE, NullWorkload, Slice, TrialSpec
from bakeoff.core.errors import AgentLostError, GeneratorError
from bakeoff.load.load_step import Clients
from bakeoff.run.fleet import multi_agent_trial
from bakeoff.run.fleet.agent_results import trial_record
from bakeoff.run.fleet.session import AgentOutcome, FleetOutcome
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.store.records.run_records import PlannedTrial
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY
from tests.control import PATIENCE_S
from tests.unit.run.fake import WEB, FakeAgent, result

HOUR_NS = 3_600_000_000_000
SPEC = TrialSpec(workload=NullWorkload(), load=Clients(4), length_s=1.0)


class Far(FakeAgent):
    """An agent on another machine: its clock is off, its traffic begins so late, and calls in `hangs` never return."""

    def __init__(self, name: str, ahead_ns: int = 0, late_ns: int = 0, hangs: str = "") -> None:
        super().__init__(name=name)
        self.ahead_ns, self.late_ns, self.hangs = ahead_ns, late_ns, hangs
        self.notified_ns: int | None = None
        self.cancelled, self.forever = threading.Event(), threading.Event()
        self.rows: list[SoakInterval] = []
        self.asked = 0

    def clock(self) -> int:
        self.call("clock")
        return time.monotonic_ns() + self.ahead_ns

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> Any:
        self.call("start")
        return FarSession(self)

    def call(self, name: str) -> None:
        if name in self.hangs.split():
            self.forever.wait()


class FarSession:
    def __init__(self, agent: Far) -> None:
        self._agent = agent

    def armed(self, timeout_s: float) -> bool:
        self._agent.call("armed")
        return True

    def go(self, at_ns: int = 0) -> Self:
        self._agent.notified_ns = at_ns
        return self

    def barrier(self) -> int:
        return 0

    def release_barrier(self, number: int, at_ns: int) -> None:
        raise AssertionError("nobody waits")

    def snapshot(self) -> Snapshot:
        self._agent.asked += 1
        return Snapshot(elapsed_s=1.0, phase="window", operations=10, errors=0, bytes_in=100)

    def drain_events(self) -> Sequence[EngineEvent]:
        return []

    def drain_intervals(self) -> Sequence[SoakInterval]:
        rows, self._agent.rows = self._agent.rows, []
        return rows

    def wait(self, timeout_s: float) -> Outcome | None:
        self._agent.call("wait")
        notified_ns = self._agent.notified_ns
        start = None
        if notified_ns is not None:
            start = StartResult(planned_ns=notified_ns, real_ns=notified_ns + self._agent.late_ns, unix_ns=notified_ns)
        elif not self._agent.cancelled.is_set():
            return None
        return Outcome(result(2).model_copy(update={"start": start}), {})

    def cancel(self) -> None:
        self._agent.call("cancel")
        self._agent.cancelled.set()


@pytest.fixture(autouse=True)
def one_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is not asked to merge what it has not measured."""
    monkeypatch.setattr(multi_agent_trial, "merged_outcome", lambda spec, outcomes: outcomes[0][1])


# An agent that hangs is lost so soon: long enough for those beside it, however busy the machine is.
HANGS_S = 5.0


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that hangs is lost soon."""
    for name in ("WATCHDOG_S", "READY_S"):
        monkeypatch.setattr(multi_agent_trial, name, HANGS_S)


def carried_out(*agents: Far) -> FleetOutcome:
    found = Fleet(agents).start({agent.name: SPEC for agent in agents})
    outcome = found.wait(PATIENCE_S)
    assert outcome is not None
    return outcome


def test_agents_whose_clocks_are_hours_apart_are_told_one_moment() -> None:
    agents = [Far("a"), Far("b", 5 * HOUR_NS), Far("c", -9 * HOUR_NS)]
    outcome = carried_out(*agents)
    found = [agent.notified_ns - agent.ahead_ns for agent in agents if agent.notified_ns is not None]
    # Each may be wrong by half of its shortest round trip: of a call in this process that is microseconds, on a machine
    # that stood still in all twenty of them more.
    assert len(found) == 3 and max(found) - min(found) < 50_000_000
    assert outcome.spread_s == max(part.start_offset_ns or 0 for part in outcome.parts) / 1e9


def test_agents_that_begin_apart_void_the_trial_with_names_and_figures() -> None:
    outcome = carried_out(Far("a"), Far("b", HOUR_NS, late_ns=0), Far("c", late_ns=60_000_000_000))
    offsets = {part.agent: part.start_offset_ns or 0 for part in outcome.parts}
    assert offsets["c"] > 59_000_000_000 > 1_000_000_000 > offsets["b"]
    planned = PlannedTrial(order=0, contender="x", load_step=Clients(4), block=1, seed=1)
    record = trial_record(planned, "", outcome, 0.01, None, WEB, False, 5.0)
    assert record.state == "voided" and "the agents did not begin together" in record.reason
    assert "c 60" in record.reason and "over the limit of 5000 ms" in record.reason
    assert [share.start_offset_ns for share in record.per_agent] == [offsets["a"], offsets["b"], offsets["c"]]
    assert trial_record(planned, "", outcome, 0.01, None, WEB, False, 90.0).state == "ok"
    assert [share.clock_error_ns for share in record.per_agent] == [part.clock_error_ns for part in outcome.parts]


@pytest.mark.parametrize(("error_ns", "state"), [(0, "ok"), (500_000, "ok"), (600_000, "voided")])
def test_what_is_not_known_of_two_clocks_counts_against_the_limit(error_ns: int, state: str) -> None:
    whole = Outcome(result(4), {})
    parts = tuple(
        AgentOutcome(name, 2, whole, start_offset_ns=offset_ns, clock_error_ns=error_ns)
        for name, offset_ns in (("a", 0), ("b", 4_000_000))
    )
    planned = PlannedTrial(order=0, contender="x", load_step=Clients(4), block=1, seed=1)
    record = trial_record(planned, "", FleetOutcome(whole, parts), 0.01, None, WEB, False, 0.005)
    assert record.state == state
    assert state == "ok" or "b 4.0 ms ± 1.2 ms after a, over the limit of 5 ms" in record.reason


class Meeting(Far):
    """Its clients wait twice for those of others; it comes to each meeting when `comes` allows it."""

    def __init__(self, name: str, ahead_ns: int = 0, ends_at: int = 2) -> None:
        super().__init__(name, ahead_ns)
        self.comes, self.ends_at = threading.Event(), ends_at
        self.met: dict[int, int] = {}

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> Any:
        return MeetingSession(self)


class MeetingSession(FarSession):
    def barrier(self) -> int:
        assert isinstance(self._agent, Meeting)
        return min(len(self._agent.met) + 1, 2) if self._agent.comes.is_set() else 0

    def release_barrier(self, number: int, at_ns: int) -> None:
        assert isinstance(self._agent, Meeting)
        self._agent.met[number] = at_ns - self._agent.ahead_ns

    def wait(self, timeout_s: float) -> Outcome | None:
        assert isinstance(self._agent, Meeting)
        return super().wait(timeout_s) if len(self._agent.met) >= self._agent.ends_at else None


def test_clients_of_all_agents_go_on_from_a_meeting_at_one_moment_and_not_before_the_last_is_there() -> None:
    agents = [Meeting("a"), Meeting("b", 5 * HOUR_NS), Meeting("c", -9 * HOUR_NS)]
    found = Fleet(agents).start({agent.name: SPEC for agent in agents})
    agents[0].comes.set()
    agents[1].comes.set()
    assert found.wait(0.3) is None and not any(agent.met for agent in agents)
    before_ns = time.monotonic_ns()
    agents[2].comes.set()
    assert found.wait(PATIENCE_S) is not None
    for number in (1, 2):
        listed = [agent.met[number] for agent in agents]
        assert max(listed) - min(listed) < 50_000_000 and min(listed) > before_ns - 50_000_000


def test_an_agent_that_has_ended_its_part_is_not_waited_for_at_a_meeting() -> None:
    agents = [Meeting("a"), Meeting("b", ends_at=0)]
    found = Fleet(agents).start({agent.name: SPEC for agent in agents})
    agents[0].comes.set()
    outcome = found.wait(PATIENCE_S)
    assert outcome is not None and not outcome.lost and set(agents[0].met) == {1, 2}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("hangs", ["wait cancel", "armed cancel", "clock cancel"])
def test_an_agent_that_hangs_is_lost_by_name_and_the_others_are_stopped(hangs: str) -> None:
    agents = [Far("a"), Far("b", hangs=hangs), Far("c")]
    outcome = carried_out(*agents)
    assert outcome.lost == f"agent b was lost: it did not answer for {HANGS_S:g} s"
    assert [part.outcome is None for part in outcome.parts] == [False, True, False], "what survivors measured is kept"


@pytest.mark.usefixtures("quick")
def test_an_agent_that_does_not_take_its_part_is_lost_before_anything_is_sent() -> None:
    agents = [Far("a"), Far("b", hangs="start")]
    with pytest.raises(AgentLostError, match=f"agent b was lost: it did not answer for {HANGS_S:g} s"):
        Fleet(agents).start({agent.name: SPEC for agent in agents})
    assert agents[0].cancelled.wait(PATIENCE_S) and agents[0].notified_ns is None


@pytest.mark.usefixtures("quick")
def test_an_agent_that_was_lost_and_comes_to_itself_sends_no_load_into_later_trials() -> None:
    agents = [Far("a"), Far("b", hangs="wait"), Far("c")]
    assert carried_out(*agents).lost == f"agent b was lost: it did not answer for {HANGS_S:g} s"
    assert agents[1].cancelled.wait(PATIENCE_S), "it was stopped as the others were"


class GaveUp(Far):
    """Its engine gives the trial up before anything is sent."""

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> Any:
        return GaveUpSession(self)


class GaveUpSession(FarSession):
    def wait(self, timeout_s: float) -> Outcome | None:
        return Outcome(result(2).model_copy(update={"fatal": "a mailbox cannot be emptied"}), {})


class Preparing(Far):
    """Is not ready before it is stopped."""

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> Any:
        return PreparingSession(self)


class PreparingSession(FarSession):
    def armed(self, timeout_s: float) -> bool:
        return self._agent.cancelled.wait(timeout_s)


def test_a_trial_that_one_engine_gives_up_is_not_begun_by_the_others_and_has_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    merged = Outcome(result(4).model_copy(update={"fatal": "b: a mailbox cannot be emptied", "cancelled": True}), {})
    monkeypatch.setattr(multi_agent_trial, "merged_outcome", lambda spec, outcomes: merged)
    agents = [Far("a"), GaveUp("b"), Preparing("c")]
    outcome = carried_out(*agents)
    assert [agents[0].notified_ns, agents[2].notified_ns] == [None, None]
    assert agents[0].cancelled.is_set() and agents[2].cancelled.is_set() and not outcome.lost
    planned = PlannedTrial(order=0, contender="x", load_step=Clients(4), block=1, seed=1)
    record = trial_record(planned, "", outcome, 0.01, None, WEB, False, 5.0)
    # Were it interrupted, a run would repeat it and never count it against the contender.
    assert (record.state, record.reason) == ("failed", "b: a mailbox cannot be emptied")


def test_agents_that_wait_for_each_other_are_not_asked_at_each_word_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a thousand each would wake a thousand with every look at its clock."""
    monkeypatch.setattr(multi_agent_trial, "POLL_S", PATIENCE_S)
    monkeypatch.setattr(multi_agent_trial, "WATCHDOG_S", 2 * PATIENCE_S)
    agents = [Far(f"a{number:02}") for number in range(20)]
    many = SPEC.model_copy(update={"load": Clients(20)})
    outcome = Fleet(agents).start({agent.name: many for agent in agents}).wait(PATIENCE_S)
    assert outcome is not None and not outcome.lost
    assert [agent.asked for agent in agents] == [1] * 20


def test_a_cancel_that_hangs_keeps_no_other_from_stopping() -> None:
    agents = [Far("a", hangs="wait cancel"), Far("b", hangs="wait"), Far("c", hangs="wait")]
    found = Fleet(agents).start({agent.name: SPEC for agent in agents})
    found.cancel()
    assert agents[1].cancelled.wait(PATIENCE_S) and agents[2].cancelled.wait(PATIENCE_S)
    assert not agents[0].cancelled.is_set()


def test_a_trial_that_is_cancelled_before_it_begins_never_does() -> None:
    agents = [Far("a", hangs="clock"), Far("b", hangs="clock")]
    found = Fleet(agents).start({agent.name: SPEC for agent in agents})
    found.cancel()
    for agent in agents:
        agent.forever.set()
    outcome = found.wait(PATIENCE_S)
    assert outcome is not None and not outcome.lost and outcome.spread_s == 0.0
    assert [agent.notified_ns for agent in agents] == [None, None]


def test_what_breaks_in_one_engine_is_raised_with_its_name() -> None:
    class Broken(Far):
        def call(self, name: str) -> None:
            if name == "wait":
                raise GeneratorError("the engine broke")

    agents = [Far("a"), Broken("b")]
    with pytest.raises(GeneratorError, match="agent b: the engine broke"):
        carried_out(*agents)


def test_all_agents_are_asked_beside_each_other() -> None:
    """Each waits until all have been asked: one after the other that would never end."""
    agents = [Far(name) for name in "abc"]
    met = threading.Barrier(3)
    assert Fleet(agents).each(lambda agent: met.wait(PATIENCE_S) >= 0) == {"a": True, "b": True, "c": True}


def row(number: int, operations: int, length_s: float = 2.0) -> SoakInterval:
    """Without histograms: nothing has been timed."""
    observed = IntervalResult(
        number=number, start_s=2.0 * number, length_s=length_s, operations=operations, errors={"refused": 1},
        bytes_in=10, bytes_out=1, service=EMPTY_SUMMARY, cpu_share=0.1 * operations, run_delay_share=0.0, stolen_s=0.0,
        rss_bytes=7,
    )  # fmt: skip
    return SoakInterval(observed, b"", None)


def test_rows_of_a_soak_come_together_by_their_number() -> None:
    both = merged_interval([row(3, 5), row(3, 2, length_s=1.5)])
    observed = both.figures
    assert (observed.number, observed.start_s, observed.length_s, observed.operations, observed.errors) == (
        3,
        6.0,
        2.0,
        7,
        {"refused": 2},
    )
    assert (observed.bytes_in, observed.cpu_share, observed.service.count, both.service, both.response) == (
        20,
        0.5,
        0,
        b"",
        None,
    )
    agents = [Far("a", hangs="wait"), Far("b", hangs="wait")]
    found = Fleet(agents).start({agent.name: SPEC for agent in agents})
    agents[0].rows, agents[1].rows = [row(0, 1), row(1, 1), row(2, 1)], [row(0, 2), row(1, 2)]
    for agent in agents:
        agent.forever.set()
    assert found.wait(PATIENCE_S) is not None
    rows = found.drain_intervals()
    # The last one was cut off when only one agent had begun it.
    assert [(one.figures.number, one.figures.operations) for one in rows] == [(0, 3), (1, 3), (2, 1)]
    assert found.drain_intervals() == []


def shown(operations: int, *bundled: tuple[str, int]) -> Snapshot:
    per_agent = tuple(
        AgentSnapshot(agent=name, elapsed_s=1.0, operations=count, errors=0, p50_ns=None, p99_ns=None)
        for name, count in bundled
    )
    return Snapshot(elapsed_s=1.0, phase="window", operations=operations, errors=0, bytes_in=0, per_agent=per_agent)


def test_an_agent_whose_figures_another_tells_counts_once() -> None:
    """What it told itself before lies there until its thread has asked again."""
    bundle = ("a", shown(30, ("a", 10), ("b", 20)))
    assert multi_agent_trial._once([bundle, ("b", shown(19))]) == [bundle]
    alone = [bundle, ("c", shown(5)), ("d", shown(9, ("d", 4), ("e", 5)))]
    assert multi_agent_trial._once(alone) == alone
