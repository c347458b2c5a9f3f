"""Several agents as one: who gets which clients, what becomes of a trial that loses one, and whose figures are kept."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.base import Facts
from bakeoff.agents.local import LocalAgent
from bakeoff.agents.merge import merged_snapshot
from bakeoff.agents.result import Outcome, Snapshot, TrialResult
from bakeoff.agents.spec import WHOLE, NullWorkload, Slice, TrialSpec
from bakeoff.core.errors import AgentLostError, ContenderError, GeneratorError, PlanError, RunFileError
from bakeoff.load.load_step import Clients
from bakeoff.run.contenders.prepared import PreparedContenders
from bakeoff.run.driver import resume_run, start_run
from bakeoff.run.fleet.session import FleetOutcome
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.run.kind import run_part
from bakeoff.run.outcome import disturbances
from bakeoff.store.sqlite.read import pending, read_run
from tests.control import PATIENCE_S
from tests.unit.run.fake import HDR, WHENEVER, FakeAgent, FakeSession, Notebook, plan_for, result, two_contenders


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No trial of this process is void because its machine stood still."""
    monkeypatch.setattr(disturbances, "STOP_S", PATIENCE_S)
    monkeypatch.setattr(disturbances, "LOST_SHARE", PATIENCE_S)


NULL = TrialSpec(workload=NullWorkload(), load=Clients(5), length_s=3600.0, max_operations=5_000)


class Recorded(FakeAgent):
    """Writes its parts down; the engine merges what it answers only when the figures fit, so they are the engine's."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name)
        self.parts: list[tuple[int, Slice]] = []
        self.lost_in: set[int] = set()
        self.gone = False
        self.peer: Recorded | None = None
        self._engine = LocalAgent(name)

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> Any:
        if self.gone:
            raise AgentLostError(self.name, "no answer")
        # As long as its operations take, however busy the machine is.
        counted = {"workload": NullWorkload(), "max_operations": 1_000, "length_s": 3600.0, "delay_s": 0.0}
        self.last = session = self._engine.start(spec.model_copy(update=counted), part)
        if spec.workload.kind == "null":
            return session
        self.parts.append((spec.load.clients, part))
        return Losing(session, self) if len(self.parts) in self.lost_in else session


class Losing:
    """A session whose machine goes away in the middle: when its peer has done something in the same trial. Before that
    it does not end, and holds up nobody who asks whether it has.
    """

    def __init__(self, session: Any, agent: Recorded) -> None:
        self._session, self._agent, self._is_over = session, agent, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def wait(self, timeout_s: float) -> Outcome | None:
        agent, peer = self._agent, self._agent.peer
        if peer is None or (len(peer.parts) == len(agent.parts) and peer.last.snapshot().operations):
            raise AgentLostError(agent.name, "the cable was cut")
        pause_s = min(timeout_s, 0.01)
        if self._is_over:  # the engine tells that once
            time.sleep(pause_s)
        else:
            self._is_over = self._session.wait(pause_s) is not None
        return None


def waited(fleet: Fleet, spec: TrialSpec) -> FleetOutcome:
    outcome = fleet.start({agent.name: spec for agent in fleet.agents}).wait(PATIENCE_S)
    assert outcome is not None
    return outcome


@pytest.mark.parametrize("clients", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("agents", [1, 2, 3, 8])
def test_every_client_is_driven_once(clients: int, agents: int) -> None:
    assert sum(Slice(index=i, of=agents).clients(clients) for i in range(agents)) == clients


def test_a_fleet_of_one_passes_on_what_its_agent_tells() -> None:
    session = FakeSession(result(), None, ends_at=1)

    class One(FakeAgent):
        def start(self, spec: TrialSpec, part: Slice = WHOLE) -> FakeSession:
            assert part == WHOLE
            return session

    found = Fleet([One()]).start({"local": NULL})
    assert found.snapshot() == session.snapshot() and found.drain_events() == session.drain_events()
    outcome = found.wait(1.0)
    assert outcome is not None and outcome.whole is not None and not outcome.lost
    assert outcome.whole.result == result() and outcome.whole.histograms == {"service": HDR}


def test_two_agents_drive_the_clients_of_one_trial() -> None:
    fleet = Fleet([LocalAgent("one"), LocalAgent("two")])
    outcome = waited(fleet, NULL)
    assert outcome.whole is not None and [part.clients for part in outcome.parts] == [2, 3]
    own = [part.outcome.result for part in outcome.parts if part.outcome is not None]
    whole = outcome.whole.result
    assert whole.operations == sum(part.operations for part in own) > 0
    assert [client.client for client in whole.per_client] == [0, 1, 2, 3, 4]
    assert [client.client for client in own[1].per_client] == [2, 3, 4]
    assert whole.service.count == whole.operations and whole.generator.threads == 2
    assert not any(name.startswith("second/") or name in ("lag", "late_start") for name in outcome.whole.histograms)
    assert sum(second.operations for second in whole.per_second) == whole.operations == 5_000


def test_a_load_step_with_fewer_clients_than_agents_leaves_some_idle() -> None:
    fleet = Fleet([LocalAgent("one"), LocalAgent("two"), LocalAgent("three")])
    outcome = waited(fleet, NULL.model_copy(update={"load": Clients(1)}))
    assert [(part.agent, part.clients) for part in outcome.parts] == [("one", 1)]


def test_an_agent_that_is_lost_stops_the_others_and_is_named() -> None:
    losing = Recorded("two")
    losing.lost_in, losing.peer = {1}, (one := Recorded("one"))
    long = NULL.model_copy(update={"max_operations": None, "workload": Other()})
    found = Fleet([one, losing]).start({"one": long, "two": long})
    outcome = found.wait(PATIENCE_S)
    assert outcome is not None and outcome.lost == "agent two was lost: the cable was cut"
    assert outcome.whole is not None and outcome.whole.result.operations > 0
    assert [(part.agent, part.lost) for part in outcome.parts] == [("one", ""), ("two", "the cable was cut")]
    assert found.snapshot().operations > 0 and found.drain_events() == []


class Other(NullWorkload):
    """A workload that is not the one the generator capacity is measured with."""

    kind: Any = "web"


def test_names_are_unlike() -> None:
    for names in (["a", "a"], []):
        with pytest.raises(PlanError, match="call no two alike"):
            Fleet([FakeAgent(name=name) for name in names])


def test_what_cannot_be_divided_is_refused_before_anything_is_sent() -> None:
    matrix = {
        "kind": "file-matrix", "folder": "/tmp", "pairs": [[65536, 4096]], "tests": ["write"], "keep": False,
        "fsync": False, "close": False, "direct": False, "dsync": False, "sync": False, "mmap": False, "verify": True,
        "cache": "warm", "drop_caches": False, "cold_command": None, "stonewall": True, "mixed_read_percent": None,
        "stride": 17, "carrier": "disk", "link_bytes_per_s": None, "stall_s": 60.0,
    }  # fmt: skip
    spec = TrialSpec.model_validate({"workload": matrix, "load": {"clients": 4}, "length_s": 1.0})
    Fleet([LocalAgent()]).accept({"local": spec})
    with pytest.raises(
        PlanError,
        match=r"agent one: .*trials of `file-matrix` cannot be divided among several machines: a small file is",
    ):
        Fleet([LocalAgent("one"), LocalAgent("two")]).accept({"one": spec, "two": spec})


def test_errors_say_whose_they_are_when_there_are_several() -> None:
    def unhappy(agent: Any) -> None:
        raise ContenderError("no route")

    with pytest.raises(ContenderError, match=r"^no route"):
        Fleet([FakeAgent()]).each(unhappy)
    with pytest.raises(ContenderError, match=r"^agent one: no route"):
        Fleet([FakeAgent(name="one"), FakeAgent(name="two")]).each(unhappy)


def test_snapshots_add_up_and_the_slowest_says_the_phase() -> None:
    def snapshot_at(
        phase: str, elapsed_s: float, operations: int, errors: int, times: list[tuple[int, int]]
    ) -> Snapshot:
        count = {"name": "get", "operations": operations, "errors": errors}
        recent = {"span_s": elapsed_s / 2, "operations": operations, "times": times}
        return Snapshot.model_validate(
            {"elapsed_s": elapsed_s, "phase": phase, "operations": operations, "errors": errors,
             "bytes_in": 2 * operations, "per_operation": [count], "recent": recent}
        )  # fmt: skip

    one = snapshot_at("ramp_down", 2.0, 5, 1, [(10, 3), (30, 2)])
    two = snapshot_at("window", 1.5, 7, 0, [(10, 6), (900, 1)])
    both = merged_snapshot([("one", one), ("two", two)])
    assert (both.elapsed_s, both.phase, both.operations, both.errors, both.bytes_in) == (2.0, "window", 12, 1, 24)
    assert [(c.name, c.operations, c.errors) for c in both.per_operation] == [("get", 12, 1)]
    recent = both.recent
    assert (recent.span_s, recent.operations, recent.times) == (1.0, 12, ((10, 9), (30, 2), (900, 1)))
    assert (recent.p50_ns, recent.p99_ns) == (10, 900)
    assert merged_snapshot([("one", one)]) is one
    idle = snapshot_at("starting", 0.0, 0, 0, [])
    assert merged_snapshot([("one", idle), ("two", idle)]).recent.p50_ns is None


def test_a_run_of_two_agents_keeps_the_figures_of_each(tmp_path: Path) -> None:
    path, agents = tmp_path / "x.bakeoff", [Recorded("one"), Recorded("two")]
    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address, clients="2,4", fleet=WHENEVER), path, agents, Notebook())
    run = read_run(path)
    assert [agent.name for agent in run.agents] == ["one", "two"] and run.agents[0].facts["kernel"]
    assert {trial.state for trial in run.trials} == {"ok"} and run.null_operations_per_s
    for trial in run.trials:
        assert [share.clients for share in trial.per_agent] == [trial.load_step.clients // 2] * 2
        assert sum(share.operations for share in trial.per_agent) == trial.operations > 0
        assert len(trial.per_client) == trial.load_step.clients
    assert agents[0].parts == [(trial.load_step.clients, Slice(index=0, of=2)) for trial in run.trials]
    assert run.environment["content"]["agents"]["two"]["contenders"]


def test_a_lost_agent_voids_its_trial_by_name_and_the_run_goes_on(tmp_path: Path) -> None:
    path, agents = tmp_path / "x.bakeoff", [Recorded("one"), Recorded("two")]
    agents[1].lost_in, agents[1].peer = {2}, agents[0]
    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address, clients="2,4", fleet=WHENEVER), path, agents, Notebook())
    run = read_run(path)
    assert [trial.state for trial in run.trials] == ["ok", "voided", *["ok"] * 6] and run.finished_at
    voided = run.trials[1]
    assert voided.reason == "agent two was lost: the cable was cut"
    assert [(share.agent, share.lost) for share in voided.per_agent] == [("one", ""), ("two", "the cable was cut")]
    assert voided.per_agent[0].operations == voided.operations > 0, "what the other measured is kept"


def test_an_agent_that_stays_away_ends_the_run_which_goes_on_when_it_is_back(tmp_path: Path) -> None:
    path, agents = tmp_path / "x.bakeoff", [Recorded("one"), Recorded("two")]

    class Watching(Notebook):
        def on_trial_end(self, record: Any) -> None:
            super().on_trial_end(record)
            agents[1].gone = len(self.trials) == 3

    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address, clients="2,4", fleet=WHENEVER)
        with pytest.raises(GeneratorError, match="agent two was lost: no answer: bring it back, then `bakeoff resume"):
            start_run(plan, path, agents, Watching())
        assert [trial.state for trial in read_run(path).trials] == ["ok"] * 3 and len(pending(path)) == 5
        with pytest.raises(RunFileError, match="measured by the agents one, two, not by one: go on with the same ones"):
            resume_run(path, agents[:1], Notebook())
        agents[1].gone = False
        assert resume_run(path, agents, Notebook()) == 5
    assert [trial.state for trial in read_run(path).trials] == ["ok"] * 8


def test_a_run_goes_on_without_a_lost_agent_where_the_plan_allows_that(tmp_path: Path) -> None:
    path, agents, notes = tmp_path / "x.bakeoff", [Recorded("one"), Recorded("two"), Recorded("three")], Notebook()
    agents[1].lost_in, agents[1].peer = {3}, agents[0]
    fleet = WHENEVER | {"agents": "3", "least": "2"}
    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address, clients="3,6", fleet=fleet), path, agents, notes)
    run = read_run(path)
    assert [trial.state for trial in run.trials] == ["ok", "ok", "voided", *["ok"] * 5] and run.finished_at
    assert [len(trial.per_agent) for trial in run.trials] == [3, 3, 3, 2, 2, 2, 2, 2]
    for trial in run.trials:  # the load is the same, whoever drives it
        assert sum(share.clients for share in trial.per_agent) == trial.load_step.clients
    assert agents[2].parts[-1] == (run.trials[-1].load_step.clients, Slice(index=1, of=2))
    texts = [event.text for event in run.events if "goes on with" in event.text]
    goes_on = "the run goes on with one, three, which divide the whole of each load step among them from here on"
    assert texts == [f"agent two was lost: the cable was cut: {goes_on}"]


def test_an_agent_that_is_gone_before_a_trial_is_left_out_of_it(tmp_path: Path) -> None:
    path, agents = tmp_path / "x.bakeoff", [Recorded("one"), Recorded("two")]

    class Watching(Notebook):
        def on_trial_end(self, record: Any) -> None:
            super().on_trial_end(record)
            agents[0].gone = len(self.trials) >= 3

    fleet = WHENEVER | {"agents": "2", "least": "1"}
    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address, clients="2,4", fleet=fleet), path, agents, Watching())
    run = read_run(path)
    assert [trial.state for trial in run.trials] == ["ok"] * 8 and run.finished_at
    assert agents[1].parts[-1] == (run.trials[-1].load_step.clients, WHOLE), "one that is alone has all of it"
    (texts,) = [event.text for event in run.events if "goes on with" in event.text]
    assert texts.endswith("the run goes on with two, which drives the whole of each load step from here on")


def test_a_run_that_would_have_too_few_agents_ends_and_is_resumed_with_all(tmp_path: Path) -> None:
    path, agents = tmp_path / "x.bakeoff", [Recorded("one"), Recorded("two"), Recorded("three")]
    agents[1].lost_in, agents[1].peer = {2}, agents[0]
    agents[2].lost_in, agents[2].peer = {4}, agents[0]
    fleet = WHENEVER | {"agents": "3", "least": "2"}
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address, clients="3,6", fleet=fleet)
        with pytest.raises(
            GeneratorError, match="agent three was lost: the cable was cut: bring it back, then `bakeoff"
        ):
            start_run(plan, path, agents, Notebook())
        assert [trial.state for trial in read_run(path).trials] == ["ok", "voided", "ok", "voided"]
        assert resume_run(path, agents, Notebook()) == 4
    assert [len(trial.per_agent) for trial in read_run(path).trials] == [3, 3, 2, 2, 3, 3, 3, 3]


def test_what_befell_one_machine_voids_the_trial_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of both machines it is told what befell them: nothing else can.
    monkeypatch.setattr(disturbances, "LOST_SHARE", 0.02)
    path = tmp_path / "x.bakeoff"

    class Stopped(Recorded):
        """Its process stood still so long, for half of each window."""

        def __init__(self, name: str, stopped_s: float) -> None:
            super().__init__(name)
            self._stopped_s = stopped_s

        def start(self, spec: TrialSpec, part: Slice = WHOLE) -> Any:
            session = super().start(spec, part)
            return session if spec.workload.kind == "null" else Altered(session, self._stopped_s)

    class Altered:
        def __init__(self, session: Any, stopped_s: float) -> None:
            self._session, self._stopped_s = session, stopped_s

        def __getattr__(self, name: str) -> Any:
            return getattr(self._session, name)

        def wait(self, timeout_s: float) -> Outcome | None:
            outcome = self._session.wait(timeout_s)
            if outcome is None:
                return None
            table = outcome.result.model_dump()
            window_s = table["window_s"]
            stop = {"at_s": 0.0, "length_s": self._stopped_s, "window_s": window_s / 2}
            table["generator"]["disturbances"] = {"stops": [stop] if self._stopped_s else []}
            return Outcome(TrialResult.model_validate(table), outcome.histograms)

    with two_contenders() as (one, _):
        agents = [Stopped("one", 0.0), Stopped("two", 2 * PATIENCE_S)]
        start_run(plan_for(one.address, clients="2", fleet=WHENEVER), path, agents, Notebook())
    (first, *_) = read_run(path).trials
    assert first.state == "voided" and first.reason.startswith("agent two: the load generator did not run for")
    assert "generator-paused" in first.marks
    found = [share.disturbances.keys() - {"clock_error_ns"} for share in first.per_agent]
    assert [bool(names) for names in found] == [False, True]


def test_agents_that_see_other_contents_are_refused(tmp_path: Path) -> None:
    class Elsewhere(Recorded):
        def check(self, plan: Any) -> Any:
            check = super().check(plan)
            facts = check.facts
            check.facts = lambda: {**facts(), "corpus": {"seed": 2}}  # type: ignore[method-assign]
            return check

    with two_contenders() as (one, _), pytest.raises(ContenderError, match="serve other contents to agent two"):
        start_run(plan_for(one.address), tmp_path / "x", [Recorded("one"), Elsewhere("two")], Notebook())
    assert not list(tmp_path.iterdir())


def test_facts_are_asked_once() -> None:
    asked = 0

    class Curious(FakeAgent):
        def facts(self) -> Facts:
            nonlocal asked
            asked += 1
            return super().facts()

    fleet = Fleet([Curious()])
    assert fleet.records()[0].facts["kernel"] and fleet.facts("local") is fleet.facts("local") and asked == 1


def test_an_agent_reaches_a_contender_where_the_plan_says() -> None:
    """Each is asked at its own address, and that is where the engine is sent."""
    with two_contenders() as (one, two), two_contenders() as (other, _):
        plan = plan_for(one.address, two.address, agents={"far": {"addresses": {"a": other.address}}})
        prepared = PreparedContenders(plan, Fleet([FakeAgent(name="near"), FakeAgent(name="far")]))
        assert [server.requests != [] for server in (one, two, other)] == [True] * 3
        specs = prepared.specs().of("a", Clients(1), 1)
    asked = {name: spec.workload.addresses[0] for name, spec in specs.items()}  # type: ignore[attr-defined]
    assert asked == {"near": one.address.split("/")[2], "far": other.address.split("/")[2]}


def test_the_agents_of_a_trial_have_one_secret_and_no_other_trial_has_it() -> None:
    with two_contenders() as (one, two):
        prepared = PreparedContenders(
            plan_for(one.address, two.address), Fleet([FakeAgent(name="near"), FakeAgent(name="far")])
        )
        found = [{spec.secret for spec in prepared.specs().of("a", Clients(1), 1).values()} for _ in range(4)]
    assert [len(each) for each in found] == [1] * 4 and len(set.union(*found)) == 4


def test_an_address_of_an_agent_that_does_not_take_part_is_refused() -> None:
    plan = plan_for("http://127.0.0.1:1/", agents={"fra": {"addresses": {"a": "http://127.0.0.1:2/"}}})
    with pytest.raises(PlanError, match=r"addresses for agent fra, and the agents of this run are near, far: correct"):
        PreparedContenders(plan, Fleet([FakeAgent(name="near"), FakeAgent(name="far")]))


@pytest.mark.parametrize(("alone", "most"), [(True, 1), (False, 3)])
def test_agents_examine_one_after_the_other_where_they_are_in_each_others_way(
    monkeypatch: pytest.MonkeyPatch, alone: bool, most: int
) -> None:
    """Two logins to one mailbox at a time: the server refuses the second, and calls the account in use."""
    barrier, here, seen = threading.Barrier(3), threading.Semaphore(3), list[int]()

    def examine(check: Any, contender: Any) -> None:
        here.acquire()
        if not alone:
            barrier.wait(PATIENCE_S)
        seen.append(3 - here._value)
        if not alone:
            barrier.wait(PATIENCE_S)
        here.release()

    plan = plan_for("http://a.invalid/", "http://b.invalid/")
    part = run_part(plan.kind)
    monkeypatch.setattr(type(part), "one_agent_at_a_time", alone)
    monkeypatch.setattr(part.check, "examine", examine)
    monkeypatch.setattr(part.check, "answers", lambda check, contender: None)
    monkeypatch.setattr(part.check, "compare", lambda check: ())
    monkeypatch.setattr(part.check, "facts", lambda check: {"corpus": None, "contenders": {}})
    PreparedContenders(plan, Fleet([FakeAgent(name=name) for name in ("one", "two", "three")]))
    assert max(seen) == most and len(seen) == 6


def test_mail_is_examined_by_one_agent_at_a_time() -> None:
    assert run_part("mail").one_agent_at_a_time and not run_part("web").one_agent_at_a_time
