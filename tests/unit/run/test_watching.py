"""Contenders that are watched in a run: what is seen is stored with their trials, and losing sight fails nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan, with_flags
from bakeoff.run.checks.trust import acts
from bakeoff.run.driver import start_run
from bakeoff.run.observe.watching import Watching
from bakeoff.store.records.run_records import PlannedTrial
from bakeoff.store.sqlite.read import read_run
from bakeoff.telemetry.model import Cost, Telemetry
from bakeoff.telemetry.reading import Reading, SampleError
from tests.control import PATIENCE_S
from tests.unit.compare.synthetic import run
from tests.unit.run import fake

SENDER = Telemetry(
    role="generator", name="local", source="this process", window_s=(0.0, 1.0), cost=Cost(samples=7, cpu_s=2.0)
)


class Fading:
    """Sees three looks, then nothing more."""

    samples = 0

    def sample(self, deadline_s: float) -> Reading:
        Fading.samples += 1
        if Fading.samples > 1:
            raise SampleError("process 7 is gone")
        return Reading({"own_user_s": float(self.samples), "own_system_s": 0.0}, {}, {})

    def traffic(self) -> tuple[int, int]:
        return 3, 4

    def helper_cpu_s(self) -> float:
        return 0.0

    def close(self) -> None:
        pass


def planned(**watched: str) -> PlanInput:
    given = PlanInput(
        "test", {"suite": "web-url"}, {}, parse_contenders(["a=http://127.0.0.1:1/", "b=http://127.0.0.1:2/"])
    )
    return with_flags(given, {}, {}, {}, watched=watched)


def test_a_watch_is_part_of_the_plan_and_what_it_does_is_listed() -> None:
    plan = resolve_plan(planned(a="pid:7", b="ssh://me@there"))
    assert [c.watch for c in plan.contenders] == ["pid:7", "ssh://me@there"]
    assert "log in by ssh and read /proc on me@there (contender b is watched)" in acts(plan)
    assert type(plan).from_dict(plan.to_dict()) == plan


@pytest.mark.parametrize(
    ("watched", "why"),
    [
        ({"c": "pid:7"}, "there is no contender 'c'"),
        ({"a": "telnet:x"}, "no way to watch"),
        ({"a": ""}, "write pid:1234"),
    ],
)
def test_a_watch_that_cannot_be_is_refused(watched: dict[str, str], why: str) -> None:
    with pytest.raises(PlanError, match=why):
        resolve_plan(planned(**watched))


def test_losing_sight_is_told_and_fails_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.run.observe.watching.source_of", lambda place: Fading())
    monkeypatch.setattr("bakeoff.telemetry.sampler.PATIENCE_S", PATIENCE_S)
    Fading.samples = 0
    path = tmp_path / "x.bakeoff"
    with fake.two_contenders() as (one, two):
        plan = fake.plan_for(one.address, two.address)
        contenders = tuple(c.model_copy(update={"watch": "pid:7"} if c.name == "b" else {}) for c in plan.contenders)
        start_run(plan.model_copy(update={"contenders": contenders}), path, [fake.FakeAgent()], fake.Notebook())
    stored = read_run(path)
    assert {trial.state for trial in stored.trials} == {"ok"} and stored.finished_at is not None
    assert [len(trial.telemetry) for trial in stored.trials if trial.contender == "a"] == [0] * 4
    seen = [trial.telemetry[0] for trial in stored.trials if trial.contender == "b"]
    assert [each.source for each in seen] == ["pid:7"] * 4 and all(each.gaps for each in seen[1:])
    first = next(trial.order + 1 for trial in stored.trials if trial.contender == "b" and trial.telemetry[0].gaps)
    watched = [event.text for event in stored.events if "telemetry" in event.text]
    assert watched == [f"telemetry of b stopped at trial {first}: process 7 is gone"]
    assert any(event.text.startswith("watching b took") for event in stored.events)


def test_watching_the_machine_that_sends_is_told_of_all_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of those of contenders that nobody watches."""
    monkeypatch.setattr("bakeoff.run.observe.watching.source_of", lambda place: Fading())
    found: list[str] = []
    watching = Watching(resolve_plan(planned(b="pid:7")), lambda note: found.append(note.text))
    record = replace(run(blocks=1).trials[0], contender="a", telemetry=(SENDER,))
    planned_trial = PlannedTrial(0, "a", record.load_step, 1, 1)
    watching.begin(planned_trial)
    assert watching.seen(planned_trial, None, record) == ()
    watching.close()
    assert found[-1] == "watching the machine that sends the load took 2.00 s of processor time in 7 samples"
