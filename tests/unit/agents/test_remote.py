"""Agents on other machines: what crosses, what is said of errors, and what happens when one end is silent."""

import contextlib
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.machine.socket_capacity import Demand
from bakeoff.agents.remote import agent as near
from bakeoff.agents.remote import host
from bakeoff.agents.remote import spooled as spooled_module
from bakeoff.agents.remote import trial as there
from bakeoff.agents.remote.agent import RemoteAgent
from bakeoff.agents.remote.host import Host
from bakeoff.agents.remote.plan_folder import plan_folder
from bakeoff.agents.remote.spec import Cutter, Parts, send
from bakeoff.agents.remote.spooled import Keeper, read_spooled
from bakeoff.agents.result import SpooledResult
from bakeoff.agents.spec import NullWorkload, Slice, TrialSpec
from bakeoff.core.errors import AgentLostError, ContenderError, GeneratorError, PlanError
from bakeoff.load.load_step import Clients
from bakeoff.plan.input.files import gathered
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.run.outcome.result_spool import ResultSpool
from bakeoff.store.records.run_records import PlannedTrial
from bakeoff.store.sqlite.read import read_run
from bakeoff.store.sqlite.write import RunWriter
from tests.control import PATIENCE_S
from tests.unit.agents.direct import DirectLine, direct
from tests.unit.run.fake import plan_for
from tests.unit.store.builders import header, planned

# As long as its operations take, however busy the machine is.
NULL = TrialSpec(workload=NullWorkload(), load=Clients(3), length_s=3600.0, max_operations=1_000)
LONG = NULL.model_copy(update={"max_operations": None})


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent of this process is lost because its machine is busy."""
    for name in ("SILENCE_S", "IDLE_SILENCE_S", "BEGIN_S", "ANSWER_S"):
        monkeypatch.setattr(near, name, PATIENCE_S)
    monkeypatch.setattr(there, "DEAD_MAN_S", PATIENCE_S)
    monkeypatch.setattr(host, "CLEAR_S", PATIENCE_S)


@pytest.fixture
def far() -> Iterator[tuple[RemoteAgent, DirectLine]]:
    agent, line = direct()
    yield agent, line
    agent.close()


Far = tuple[RemoteAgent, DirectLine]


def test_a_trial_is_armed_begins_and_ends(far: Far) -> None:
    agent, _ = far
    session = agent.start(NULL)
    assert session.armed(PATIENCE_S)
    assert session.wait(0.0) is None and session.snapshot().operations == 0
    at_ns = agent.clock() + 50_000_000
    outcome = session.go(at_ns).wait(PATIENCE_S)
    assert outcome is not None and outcome.result.start is not None
    assert outcome.result.start.planned_ns == at_ns <= outcome.result.start.real_ns
    assert outcome.result.operations > 0 and not outcome.result.cancelled
    assert outcome.histograms and session.wait(0.0) is outcome
    assert list(session.drain_events()) == [] and list(session.drain_intervals()) == []


def test_facts_demand_and_refusals_cross(far: Far) -> None:
    agent, _ = far
    facts, own = agent.facts(), LocalAgent().facts()
    assert (facts.build, facts.processors, facts.limits) == (own.build, own.processors, own.limits)
    assert facts.environment["cpu"] == own.environment["cpu"]
    refused = NULL.model_copy(update={"load_threads": 100_000})
    with pytest.raises(PlanError) as local:
        LocalAgent().accept(refused)
    with pytest.raises(PlanError) as remote:
        agent.accept(refused)
    assert str(remote.value) == str(local.value)


def test_a_check_is_made_there_and_its_errors_keep_class_and_sentence(far: Far) -> None:
    agent, _ = far
    plan = plan_for("http://127.0.0.1:1/", suite="web-url")
    (contender,) = plan.contenders
    local, remote = LocalAgent().check(plan), agent.check(plan)
    for ask in ("answers", "examine"):
        with pytest.raises(ContenderError) as here:
            getattr(local, ask)(contender)
        with pytest.raises(ContenderError) as distant:
            getattr(remote, ask)(contender)
        assert str(distant.value) == str(here.value)
    assert list(remote.addresses(contender)) == list(local.addresses(contender)) == ["127.0.0.1:1"]
    assert remote.facts() == local.facts()
    assert list(remote.close()) == list(local.close()) == []


def test_a_soak_tells_its_rows_and_the_last_ones_after_its_end(far: Far) -> None:
    agent, _ = far
    session = agent.start(LONG.model_copy(update={"length_s": 0.5, "interval_s": 0.1})).go()
    rows = []
    while (outcome := session.wait(0.05)) is None:
        rows += session.drain_intervals()
    rows += session.drain_intervals()
    assert [row.figures.number for row in rows] == [0, 1, 2, 3, 4]
    assert sum(row.figures.operations for row in rows) == outcome.result.operations
    assert all(bool(row.service) == bool(row.figures.operations) for row in rows) and not session.drain_intervals()


def test_what_is_large_crosses_once() -> None:
    cutter, parts, sent = Cutter(), Parts(), set[str]()
    spec = NULL.model_copy(update={"workload": Bulky(words=tuple(f"word {i}" for i in range(2000)))})
    crossed: list[str] = []

    def take(digest: str, piece: bytes, last: bool) -> None:
        crossed.append(digest)
        parts.take(digest, piece, last)

    for seed in (1, 2):
        part, trial = Slice(index=1, of=3), spec.for_trial(Clients(5), seed, "a mark", 7)
        cut = cutter.cut(trial, part)
        send(cutter.texts, cut.parts, sent, take)
        assert len(cut.head + cut.work) < 1000
        assert json.loads(parts.joined(cut)) == json.loads(trial.part(part).to_json())
    assert len(crossed) == 1
    with pytest.raises(GeneratorError, match="damaged"):
        parts.take("0" * 64, b"x", True)


class Bulky(NullWorkload):
    """Work with a long list."""

    words: tuple[str, ...]


def test_a_silent_machine_is_lost(far: Far, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, line = far
    session = agent.start(LONG).go()
    assert session.armed(PATIENCE_S)
    monkeypatch.setattr(near, "SILENCE_S", 0.3)
    line.mute = True
    with pytest.raises(AgentLostError, match=r"agent far was lost: nothing was heard from it for 0\.3 s"):
        session.wait(PATIENCE_S)
    for ask in (session.snapshot, session.drain_events, session.drain_intervals, agent.clock, lambda: session.armed(0)):
        with pytest.raises(AgentLostError):
            ask()
    session.cancel()
    assert line.dropped.wait(PATIENCE_S)


class Slow(Host):
    """Tells facts and outcomes only when it may."""

    def __init__(self) -> None:
        super().__init__("far")
        self.may = threading.Event()

    def do_facts(self) -> str:
        self.may.wait(PATIENCE_S)
        return super().do_facts()

    def do_outcome(self, trial: int) -> tuple[str, dict[str, bytes]]:
        self.may.wait(PATIENCE_S)
        return super().do_outcome(trial)


def test_a_machine_that_is_alive_and_does_not_answer_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "ANSWER_S", 0.3)
    slow = Slow()
    agent = RemoteAgent("far", DirectLine(slow))
    with pytest.raises(AgentLostError, match=r"did not answer within 0\.3 s \(asked for facts\)"):
        agent.facts()
    slow.may.set()
    agent.close()


def test_a_large_outcome_that_is_under_way_keeps_nobody_waiting() -> None:
    slow = Slow()
    agent = RemoteAgent("far", DirectLine(slow))
    session = agent.start(NULL).go()
    assert agent.until(1, lambda pulse: pulse.over, PATIENCE_S) is not None
    assert session.wait(0.0) is None and session.snapshot().operations > 0
    slow.may.set()
    outcome = session.wait(PATIENCE_S)
    assert outcome is not None and [name for name, _ in agent._line.asked].count("outcome") == 1  # type: ignore[attr-defined]
    agent.close()


def test_a_line_that_breaks_says_why_to_whoever_waits(far: Far) -> None:
    agent, line = far
    session = agent.start(LONG).go()
    threading.Timer(0.1, lambda: setattr(line, "down", "its process ended")).start()
    with pytest.raises(AgentLostError, match="its process ended"):
        session.wait(PATIENCE_S)


def test_a_trial_ends_when_the_controller_is_silent(far: Far, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, _ = far
    monkeypatch.setattr(near, "HEARD_EVERY_S", 1000.0)
    session = agent.start(LONG).go()
    assert session.armed(PATIENCE_S)
    monkeypatch.setattr(there, "DEAD_MAN_S", 0.3)
    outcome = session.wait(PATIENCE_S)
    assert outcome is not None and outcome.result.cancelled
    assert [event.text for event in session.drain_events()] == [there.CONTROLLER_SILENT]


def test_a_trial_that_is_still_there_is_stopped_before_the_next(far: Far) -> None:
    agent, _ = far
    first = agent.start(LONG).go()
    assert first.armed(PATIENCE_S)
    second = agent.start(NULL).go().wait(PATIENCE_S)
    assert second is not None and not second.result.cancelled
    with pytest.raises(GeneratorError, match="followed by another"):
        first.wait(PATIENCE_S)


def test_cancel_needs_no_word_to_begin(far: Far) -> None:
    agent, _ = far
    session = agent.start(LONG)
    session.cancel()
    outcome = session.wait(PATIENCE_S)
    assert outcome is not None and outcome.result.cancelled


def test_several_are_a_fleet() -> None:
    agents = [direct(name)[0] for name in ("a", "b")]
    outcome = Fleet(agents).start({agent.name: NULL for agent in agents}).wait(PATIENCE_S)
    assert outcome is not None and outcome.whole is not None
    assert [(part.agent, part.clients) for part in outcome.parts] == [("a", 1), ("b", 2)]
    assert outcome.whole.result.operations == sum(
        part.outcome.result.operations for part in outcome.parts if part.outcome
    )
    for agent in agents:
        agent.close()


def test_files_of_a_plan_need_not_be_on_the_machine(far: Far, tmp_path: Path) -> None:
    """Accounts are read there from what came with the plan, and their file is gone when the agent is."""
    agent, _ = far
    users = tmp_path / "users.csv"
    users.write_text("user,password,domain\n" + "".join(f"u{number},secret,example.test\n" for number in range(200)))
    plan = plan_for("smtp=127.0.0.1:1,pop3=127.0.0.1:2", suite="mail-pop", users=str(users), mailboxes=2)
    here = LocalAgent().check(plan).facts()["corpus"]
    packed = gathered(plan)
    users.rename(tmp_path / "only the controller has it")
    with pytest.raises(PlanError, match="cannot be read"):
        agent.check(plan)
    users.write_bytes((tmp_path / "only the controller has it").read_bytes())
    assert agent.check(plan).facts()["corpus"] == here and len(packed) > 100


def test_a_result_is_kept_until_the_run_file_has_it(tmp_path: Path) -> None:
    agents = [RemoteAgent(name, DirectLine(Host(name, tmp_path))) for name in ("a", "b")]
    RunWriter.create(tmp_path / "x.bakeoff", header(), planned()).close()
    run = read_run(tmp_path / "x.bakeoff")
    fleet, specs = Fleet(agents), {agent.name: NULL for agent in agents}
    trial = PlannedTrial(order=4, contender="x", load_step=NULL.load, block=1, seed=1)
    ResultSpool(run, fleet, resumed=False).begin(trial)
    measured = fleet.start(specs).wait(PATIENCE_S)
    assert measured is not None and measured.whole is not None
    assert len(list(tmp_path.glob("results/*/*.json"))) == 2
    assert ResultSpool(run, fleet, resumed=False).find(trial, specs) is None
    kept = ResultSpool(run, fleet, resumed=True)
    found = kept.find(trial, specs)
    assert found is not None and found.outcome.whole is not None and found.note.startswith("trial 5 had ended")
    assert found.outcome.whole == measured.whole
    assert [(part.agent, part.clients) for part in found.outcome.parts] == [("a", 1), ("b", 2)]
    assert kept.find(replace(trial, order=5), specs) is None
    # The whole load is another part.
    assert ResultSpool(run, Fleet(agents[:1]), resumed=True).find(trial, specs) is None
    # A later attempt that is broken off leaves nothing of the one before: its other part may be of neither moment.
    kept.begin(trial)
    again = fleet.start({agent.name: LONG for agent in agents})
    again.cancel()
    assert again.wait(PATIENCE_S) is not None and kept.find(trial, specs) is None
    kept.begin(trial)
    assert fleet.start(specs).wait(PATIENCE_S) is not None and kept.find(trial, specs) is not None
    kept.stored(trial)
    assert kept.find(trial, specs) is None and not list(tmp_path.glob("results/*/*.json"))
    for agent in agents:
        agent.close()


def test_what_is_kept_is_bounded_and_what_is_damaged_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spooled_module, "MOST_FILES", 2)
    keeper, outcome = Keeper("a", tmp_path), LocalAgent().start(NULL).go().wait(PATIENCE_S)
    assert outcome is not None
    result = SpooledResult("2026-01-01T00:00:00.000+00:00", outcome, ())
    for number in range(3):
        keeper.keep(f"{'0' * 8}-{number}-0-1", result)
    assert [keeper.find(f"{'0' * 8}-{number}-0-1") is not None for number in range(3)] == [False, True, True]
    assert read_spooled(keeper.find(f"{'0' * 8}-2-0-1") or "") == result
    for text in ("", "{}", "[1]", '{"started_at": 1, "result": {}, "histograms": {"x": "?"}, "events": []}'):
        assert read_spooled(text) is None
    assert keeper.find("../../key") is None
    keeper.keep("../../key", result)
    assert sorted(path.name for path in tmp_path.rglob("*.json")) == [f"{'0' * 8}-{n}-0-1.json" for n in (1, 2)]


def test_what_a_process_that_was_killed_left_of_a_plan_is_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = (
        "import os, signal, sys; from bakeoff.agents.remote.plan_folder import plan_folder\n"
        "class Keeper: pass\n"
        "keeper = Keeper(); print(plan_folder(keeper), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    left = Path(killed.stdout.strip())
    assert left.is_dir() and left.parent == tmp_path
    (left / "users.csv").write_text("a,b,c")
    others = tmp_path / ".bakeoff-plan-x"
    others.mkdir()
    living = Host("a", tmp_path / "state")
    mine = plan_folder(living)
    assert mine.is_dir() and not left.exists() and others.is_dir()
    assert plan_folder(living) != mine, "one for each plan"
    del living
    gc.collect()
    assert [path.name for path in tmp_path.iterdir()] == [others.name]


class Garbler:
    """A line whose machine says, in place of each pulse, or of each answer to these questions, something else."""

    def __init__(self, line: DirectLine, pulse: str | None = None, answers: Mapping[str, Any] | None = None) -> None:
        self._line, self._pulse, self._answers = line, pulse, answers or {}

    def ask(self, method: str, *words: Any) -> Any:
        reply = self._line.ask(method, *words)
        return Said(self._answers[method]) if method in self._answers else reply

    def pulse(self, timeout_s: float) -> str | None:
        found = self._line.pulse(timeout_s)
        return found if found is None or self._pulse is None else self._pulse

    def drop(self) -> None:
        self._line.drop()


class Said:
    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def get(self, timeout_s: float) -> Any:
        return self._answer


RUBBISH = ("", "garbage", "[" * 100_000, '{"trial": "x"}', '{"trial": 1, "snapshot": [1]}', "9" * 1_000_000)


@pytest.mark.parametrize("text", RUBBISH)
def test_a_machine_whose_pulses_nobody_can_read_is_lost_and_no_contender_is_blamed(text: str) -> None:
    line = DirectLine(Host("garbler"))
    agent = RemoteAgent("garbler", Garbler(line, pulse=text))
    with pytest.raises(AgentLostError, match="what this build cannot read"):
        agent.until(1, lambda pulse: True, PATIENCE_S)
    agent.close()


ANSWERS: list[tuple[str, Any, Callable[[RemoteAgent], Any]]] = [
    ("clock", ("", "garbage"), lambda agent: agent.clock()),
    ("clock", ("", None), lambda agent: agent.clock()),
    ("clock", ("", 1, 2), lambda agent: agent.clock()),
    ("preflight", ("", 5), lambda agent: agent.preflight(Demand(1))),
    ("start", ("", [1]), lambda agent: agent.start(NULL)),
    ("spooled", ("", "[" * 100_000), lambda agent: agent.spooled("a" * 8 + "-1-1-1")),
    ("outcome", ("", ("{}", {})), lambda agent: agent.start(NULL).go().wait(PATIENCE_S)),
    ("outcome", ("", ("[" * 100_000, {})), lambda agent: agent.start(NULL).go().wait(PATIENCE_S)),
    ("outcome", ("", 7), lambda agent: agent.start(NULL).go().wait(PATIENCE_S)),
]


@pytest.mark.parametrize(("method", "answer", "asked"), ANSWERS)
def test_an_answer_that_nobody_can_read_is_a_lost_machine_and_no_traceback(
    method: str, answer: Any, asked: Callable[[RemoteAgent], Any]
) -> None:
    line = DirectLine(Host("garbler"))
    agent = RemoteAgent("garbler", Garbler(line, answers={method: answer}))
    if method == "spooled":  # what was kept is worth no run
        with contextlib.suppress(AgentLostError):
            assert asked(agent) is None
    else:
        with pytest.raises(AgentLostError, match="what this build cannot read"):
            asked(agent)
    agent.close()
