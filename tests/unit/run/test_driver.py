import os
import signal
from itertools import count
from math import exp, sqrt
from pathlib import Path
from typing import NoReturn

import pytest

from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import WHOLE, NullWorkload, Slice, TrialSpec
from bakeoff.compare import compare_run
from bakeoff.compare.validity.generator_capacity import unmeasured_capacities
from bakeoff.core.errors import ContenderError, GeneratorError, PlanError, RunFileError
from bakeoff.kinds.web.spec import WebWorkload
from bakeoff.plan.design.order import order_trials
from bakeoff.run.driver import RunInterruptedError, resume_run, start_run
from bakeoff.store.sqlite.read import histogram, read_run
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME
from tests.unit.run.fake import (
    HDR,
    FakeAgent,
    FakeSession,
    Notebook,
    count_lines,
    plan_for,
    result,
    small_manifest,
    two_contenders,
)


def test_every_planned_trial_is_run_in_order_and_stored(tmp_path: Path) -> None:
    path, agent, notebook = tmp_path / "x.bakeoff", FakeAgent(), Notebook()
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address)
        start_run(plan, path, [agent], notebook)
    run = read_run(path)
    planned = order_trials(plan)
    assert [(t.order, t.contender, t.load_step, t.block, t.seed) for t in run.trials] == [
        (p.order, p.contender, p.load_step, p.block, p.seed) for p in planned
    ]
    assert [(s.load, s.seed) for s in agent.specs] == [(p.load_step, p.seed) for p in planned]
    for spec, p in zip(agent.specs, planned, strict=True):
        assert isinstance(spec.workload, WebWorkload)
        assert spec.workload.host == (one if p.contender == "a" else two).address.removeprefix("http://")
    assert {t.state for t in run.trials} == {"ok"} and run.finished_at is not None
    assert run.null_operations_per_s == 1_000_000.0
    assert (run.plan_hash, run.plan, run.trials_planned) == (plan.hash, plan.to_dict(), 8)
    assert run.environment["content"]["corpus"]["files"] == 16
    assert run.environment["cpu"]["model"] and run.environment["sysctl"]["net.core.somaxconn"]
    assert run.tool["engine_version"] == "fake" and run.tool["version"]
    assert histogram(path, 1, "service") == HDR
    assert [e.trial_id for e in run.events if e.text == "seen"] == list(range(1, 9))
    assert notebook.said[:4] == ["run 8", "start 0", "snapshot 0", "end 0"] and notebook.said[-1] == "over"
    assert [p.name for p in tmp_path.iterdir()] == ["x.bakeoff"]


def test_a_trial_is_stored_before_the_next_one_starts(tmp_path: Path) -> None:
    path, stored = tmp_path / "x.bakeoff", list[int]()

    def look(_: TrialSpec, number: int) -> None:
        stored.append(len(read_run(path).trials) - (number - 1))

    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address), path, [FakeAgent(before=look)], Notebook())
    assert set(stored) == {0} and len(stored) == 16


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_keeps_what_was_measured_and_resume_finishes_it(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "x.bakeoff"

    def stop(_: TrialSpec, trial: int) -> None:
        if trial == 3:
            os.kill(os.getpid(), number)

    with two_contenders() as (one, two):
        plan, notebook = plan_for(one.address, two.address), Notebook()
        with pytest.raises(RunInterruptedError) as caught:
            start_run(plan, path, [FakeAgent(before=stop)], notebook)
        assert caught.value.path == path and notebook.said[-1] == "over"
        run = read_run(path)
        assert [t.state for t in run.trials] == ["ok", "ok", "interrupted"] and run.finished_at is None
        assert histogram(path, 3, "service") == HDR
        assert [p.name for p in tmp_path.iterdir()] == ["x.bakeoff"]

        agent = FakeAgent()
        assert resume_run(path, [agent], Notebook()) == 6
        run = read_run(path)
        assert [t.state for t in run.trials] == ["ok"] * 8 and run.finished_at is not None
        assert [s.seed for s in agent.specs] == [p.seed for p in order_trials(plan)][2:]
        assert any(e.text.startswith("trial interrupted: block 1, ") and e.trial_id == 3 for e in run.events)
        assert any(e.text == "resumed with 6 of 8 trials to do" for e in run.events)
        assert resume_run(path, [FakeAgent()], Notebook()) == 0


def test_a_stop_before_the_first_trial_leaves_no_file(tmp_path: Path) -> None:
    with two_contenders() as (one, two):

        def interrupt(path: str, count: int) -> None:
            os.kill(os.getpid(), signal.SIGINT)

        two.fault = interrupt
        with pytest.raises(RunInterruptedError) as caught:
            start_run(plan_for(one.address, two.address), tmp_path / "x.bakeoff", [FakeAgent()], Notebook())
    assert caught.value.path is None and list(tmp_path.iterdir()) == []


def test_failed_and_voided_trials_are_stored_and_the_run_goes_on(tmp_path: Path) -> None:
    path, count = tmp_path / "x.bakeoff", 0

    def answer(spec: TrialSpec) -> TrialResult:
        nonlocal count
        count += 1
        if count == 1:
            return result(operations=0, errors={"refused": 9}, errors_total=9)
        return result(errors={"ports_exhausted": 2}, errors_total=2) if count == 2 else result(spec.load.clients)

    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address), path, [FakeAgent(answer)], Notebook())
    run = read_run(path)
    assert [t.state for t in run.trials] == ["failed", "voided", "ok", "ok", "ok", "ok", "ok", "ok"]
    assert run.trials[0].errors == {"refused": 9} and run.finished_at is not None


def test_a_reset_runs_before_each_visit_of_its_contender(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address, resets={"a": f"echo reset >> {log}"})
        start_run(plan, tmp_path / "x.bakeoff", [FakeAgent()], Notebook())
    assert count_lines(log) == 1 + 2, "before the check and before the slot of each of 2 blocks"


def test_by_load_steps_a_reset_runs_before_each_trial_of_its_contender(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address, plan={"order": "load_steps"}, resets={"a": f"echo reset >> {log}"})
        start_run(plan, tmp_path / "x.bakeoff", [FakeAgent()], Notebook())
    assert count_lines(log) == 1 + 4, "before the check and before both load steps in each of 2 blocks"


def test_by_load_steps_who_is_gone_fails_its_block_and_the_others_go_on(tmp_path: Path) -> None:
    log, path = tmp_path / "log", tmp_path / "x.bakeoff"
    command = f"echo x >> {log}; test $(wc -l < {log}) -ne 3 || exit 3"  # the check, a trial, and not the next
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address, plan={"order": "load_steps"}, resets={"a": command})
        start_run(plan, path, [FakeAgent()], Notebook())
    states = {name: [t.state for t in read_run(path).trials if t.contender == name] for name in "ab"}
    assert states == {"a": ["ok", "failed", "ok", "ok"], "b": ["ok"] * 4}
    assert count_lines(log) == 5, "a block in which it failed asks no more of it"


@pytest.mark.parametrize(("order", "spread"), [("load_steps", 0.0), ("contenders", 0.02 * sqrt(8 / 7))])
def test_pairs_are_those_of_a_block_and_a_load_step_so_that_drift_stays_out(
    tmp_path: Path, order: str, spread: float
) -> None:
    """Equal contenders on a machine that becomes slower by 1 % with each trial. The ratio is 1 in either order, which
    is balanced; what each block deviates by is what the interval is made of.
    """
    path, done = tmp_path / "x.bakeoff", count()

    def answer(spec: TrialSpec) -> TrialResult:
        operations, clients = round(1e6 * exp(-0.01 * next(done))), spec.load.clients
        own = {"operations": operations // clients, "errors": 0, "bytes_in": 1, "busy_s": 1.9}
        return result(clients, operations=operations, per_client=[{"client": i, **own} for i in range(clients)])

    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address, plan={"order": order, "blocks": 8})
        start_run(plan, path, [FakeAgent(answer)], Notebook())
    end = compare_run(read_run(path)).pairs[0].primary
    assert end.ratio == pytest.approx(1.0, abs=1e-4)
    assert end.log_sd == pytest.approx(spread, abs=1e-4)


def test_a_reset_that_fails_later_fails_the_visit_not_the_run(tmp_path: Path) -> None:
    log, path = tmp_path / "log", tmp_path / "x.bakeoff"
    with two_contenders() as (one, two):
        command = f"echo x >> {log}; test $(wc -l < {log}) -lt 3 || {{ echo out of luck; exit 3; }}"
        start_run(plan_for(one.address, two.address, resets={"a": command}), path, [FakeAgent()], Notebook())
    run = read_run(path)
    failed = [t for t in run.trials if t.state == "failed"]
    assert [(t.contender, t.block) for t in failed] == [("a", 2), ("a", 2)]
    assert "a: reset command ended with exit code 3: out of luck" in failed[0].reason
    assert len(run.trials) == 8 and any("out of luck" in e.text for e in run.events)


def test_a_reset_that_fails_at_once_stops_before_anything_is_written(tmp_path: Path) -> None:
    with (
        two_contenders() as (one, two),
        pytest.raises(ContenderError, match="a: reset command ended with exit code 7"),
    ):
        start_run(
            plan_for(one.address, two.address, resets={"a": "exit 7"}),
            tmp_path / "x",
            [FakeAgent()],
            Notebook(),
        )
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    path.write_text("precious")
    with two_contenders() as (one, two):
        with pytest.raises(RunFileError, match="exists already: choose another name with -o"):
            start_run(plan_for(one.address, two.address), path, [FakeAgent()], Notebook())
        assert one.requests == [], "nothing was sent"
    assert path.read_text() == "precious"


def test_an_unreachable_contender_stops_before_anything_is_written(tmp_path: Path) -> None:
    with two_contenders() as (one, _), pytest.raises(ContenderError, match=r"b .*connection refused"):
        start_run(plan_for(one.address, "http://127.0.0.1:1"), tmp_path / "x", [FakeAgent()], Notebook())
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_stops_the_run_and_keeps_its_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.bakeoff"

    def fill(_: TrialSpec, trial: int) -> None:
        if trial == 3:
            monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 0})())

    with two_contenders() as (one, two):
        plan, notebook = plan_for(one.address, two.address), Notebook()
        with pytest.raises(GeneratorError, match=r"0\.0 MB free"):
            start_run(plan, path, [FakeAgent(before=fill)], notebook)
    assert len(read_run(path).trials) == 3 and notebook.said[-1] == "over"


def test_resume_refuses_another_corpus(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"

    def stop(_: TrialSpec, trial: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with two_contenders() as (one, two):
        with pytest.raises(RunInterruptedError):
            start_run(plan_for(one.address, two.address), path, [FakeAgent(before=stop)], Notebook())
        manifest, pages = small_manifest(seed=5)
        one.pages = two.pages = pages | {MANIFEST_NAME: manifest.to_bytes()}
        with pytest.raises(RunFileError, match="measured with another corpus"):
            resume_run(path, [FakeAgent()], Notebook())


def test_an_engine_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.bakeoff"
    monkeypatch.setattr("bakeoff.run.trials.OVERDUE_S", -1000.0)
    with two_contenders() as (one, _):
        start_run(plan_for(one.address, plan={"blocks": 1}), path, [FakeAgent()], Notebook())
    assert {t.reason for t in read_run(path).trials} == {"the trial did not end in time and was given up"}


@pytest.mark.parametrize("call", ["start", "wait", "snapshot", "drain_events"])
def test_an_engine_that_breaks_voids_its_trial_and_the_run_goes_on(tmp_path: Path, call: str) -> None:
    """`call` fails in the second trial, and from then on while that is stopped."""

    def breaks() -> NoReturn:
        raise GeneratorError("the engine cannot run the trial: a load thread broke")

    class Breaking(FakeAgent):
        def start(self, spec: TrialSpec, part: Slice = WHOLE) -> FakeSession:
            session = super().start(spec, part)
            if len(self.specs) == 2 and not hasattr(self, "broken"):
                self.broken = True
                if call == "start":
                    breaks()
                setattr(session, call, lambda *_: breaks())
            return session

    path = tmp_path / "x.bakeoff"
    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address), path, [Breaking()], Notebook())
    run = read_run(path)
    assert [trial.state for trial in run.trials] == ["ok", "voided", *["ok"] * 6] and run.finished_at is not None
    assert run.trials[1].reason == "the engine cannot run the trial: a load thread broke"


def test_what_the_engine_would_refuse_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    class Strict(FakeAgent):
        def accept(self, spec: TrialSpec, part: Slice = WHOLE) -> None:
            if spec.load.clients > 1:
                raise PlanError("the engine refuses the trial: too many")

    agent = Strict()
    with two_contenders() as (one, two), pytest.raises(PlanError, match="too many"):
        start_run(plan_for(one.address, two.address), tmp_path / "x.bakeoff", [agent], Notebook())
    assert not list(tmp_path.iterdir()) and not agent.specs


def test_the_ceiling_is_measured_with_connections_for_each_core(tmp_path: Path) -> None:
    agent = FakeAgent()
    with two_contenders() as (one, _):
        start_run(plan_for(one.address, load_threads="2"), tmp_path / "x.bakeoff", [agent], Notebook())
    assert [(spec.load.clients, spec.load_threads) for spec in agent.null_specs] == [(64, 2)]
    (spec,) = agent.null_specs
    assert isinstance(spec.workload, NullWorkload) and spec.workload.server is not None
    asked = spec.workload.server.asked.at("127.0.0.1:1")
    assert isinstance(asked, WebWorkload) and asked.addresses == ("127.0.0.1:1",)
    # As the plan asks: web-static does not keep connections, each of which takes a port for a while.
    assert not asked.keep_alive and spec.max_operations == 10_000
    record = read_run(tmp_path / "x.bakeoff")
    words = {each["words"] for each in record.environment["generator_capacities"].values()}
    assert len(words) == 1 and words.pop().startswith("a connection for each request, replies of ")


class Robbed(FakeAgent):
    """Gets no processor while it is asked for its capacity, the first `times`."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._times = times

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> FakeSession:
        if spec.workload.kind == "null" and len(self.null_specs) < self._times:
            self.null_specs.append(spec)
            return FakeSession(result(operations=0), None, ends_at=1)
        return super().start(spec, part)


def test_a_machine_that_is_busy_is_asked_for_its_ceiling_for_longer(tmp_path: Path) -> None:
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address)
        agent = Robbed(2)
        start_run(plan, tmp_path / "x.bakeoff", [agent], Notebook())
        assert [spec.length_s for spec in agent.null_specs] == [0.5, 2.0, 8.0]
        start_run(plan, tmp_path / "y.bakeoff", [Robbed(3)], Notebook())
    without = read_run(tmp_path / "y.bakeoff")
    assert without.null_operations_per_s is None and len(without.trials) == len(read_run(tmp_path / "x.bakeoff").trials)
    assert set(unmeasured_capacities(without)) == {contender.name for contender in without.contenders}
    assert all("not one operation" in why for why in unmeasured_capacities(without).values())
    assert read_run(tmp_path / "x.bakeoff").null_operations_per_s == 1_000_000.0
