"""A dead contender: its trial is cut, its slot ends, the run goes on without it, and it gains nothing by that."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.agents.result import Snapshot, TrialResult
from bakeoff.agents.spec import WHOLE, Slice, TrialSpec
from bakeoff.compare import compare_run
from bakeoff.plan.model import Plan
from bakeoff.report.narrate.document import to_dict
from bakeoff.run.contenders.dead_contenders import FAILURES, Silence, is_dead
from bakeoff.run.driver import resume_run, start_run
from bakeoff.run.modes.amend import Asked
from bakeoff.run.prompts import Prompts
from bakeoff.store.records.run_records import LEFT_OUT, RunRecord
from bakeoff.store.sqlite.read import read_run
from tests.told import headline_of
from tests.unit.report.shown import shown
from tests.unit.run.fake import FakeAgent, FakeSession, Notebook, WebServer, plan_for, result, two_contenders

BLOCKS = 6


def failing(spec: TrialSpec) -> TrialResult:
    return result(operations=0, errors={"refused": 9}, errors_total=9)


def seen(plan: Plan, *snapshots: tuple[float, int, int]) -> list[str | None]:
    """What is said of (elapsed_s, operations, errors), one after the other."""
    silence = Silence(plan)
    return [
        silence.add(Snapshot(elapsed_s=at, phase="window", operations=good, errors=bad, bytes_in=0))
        for at, good, bad in snapshots
    ]


def plan(length: str = "60s", **head: object) -> Plan:
    return plan_for("http://127.0.0.1:1", "http://127.0.0.1:2", plan=head, length=length)


def test_nothing_but_failures_for_some_seconds_is_dead() -> None:
    observed = seen(plan(dead_after="5s"), (1.0, 500, 0), (3.0, 500, 40), (5.9, 500, 90), (6.1, 500, 95))
    assert observed[:3] == [None] * 3
    assert observed[3] == (
        "dead: nothing but failures came back for 5s (95 of them), so that the trial was cut after 6s"
    )


@pytest.mark.parametrize(
    ("why", "head", "snapshots"),
    [
        ("one success in between", {"dead_after": "5s"}, [(1.0, 1, 0), (5.0, 2, 50), (9.0, 2, 99)]),
        ("too few failures", {"dead_after": "5s"}, [(1.0, 1, 0), (9.0, 1, FAILURES - 1)]),
        ("nothing comes back at all: it is slow", {"dead_after": "5s"}, [(1.0, 1, 50), (2.0, 1, 90), (9.0, 1, 90)]),
        ("it would not be failed by that", {"dead_after": "1s", "error_limit": "50%"}, [(1.0, 1, 0), (20.0, 1, 900)]),
        ("all errors are taken", {"dead_after": "1s", "error_limit": "100%"}, [(1.0, 1, 0), (59.0, 1, 900)]),
        ("nobody wants that", {"dead_after": "auto"}, [(1.0, 1, 0), (59.0, 1, 900)]),
    ],
)
def test_a_trial_is_not_cut(why: str, head: dict[str, object], snapshots: list[tuple[float, int, int]]) -> None:
    assert set(seen(plan(**head), *snapshots)) == {None}, why


class Dying(FakeSession):
    """Never ends by itself, and nothing succeeds in it; a snapshot is 4 s after the one before."""

    def __init__(self, outcome: TrialResult) -> None:
        super().__init__(outcome, None, ends_at=10**9)
        self.samples = 0

    def snapshot(self) -> Snapshot:
        self.samples += 1
        return Snapshot(
            elapsed_s=4.0 * self.samples, phase="window", operations=0, errors=50 * self.samples, bytes_in=0
        )


class DyingAgent(FakeAgent):
    """Of contender b every trial is like that."""

    def __init__(self, address: str, dead: Callable[[int], bool] = lambda number: True) -> None:
        super().__init__()
        self.host, self.dead, self.cut = address.removeprefix("http://"), dead, list[Dying]()

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> FakeSession:
        if getattr(spec.workload, "host", None) != self.host or not self.dead(len(self.cut)):
            return super().start(spec, part)
        self.specs.append(spec)
        self.cut.append(Dying(failing(spec)))
        return self.cut[-1]


def goes_away(site: WebServer) -> None:
    """It was there for the checks, and does not answer from now on."""

    def refuse(path: str, count: int) -> tuple[int, bytes] | None:
        raise ConnectionError

    site.fault = refuse


def run_with_dead_b(
    path: Path, *, ask: Callable[[str], bool] | None = None, notebook: Notebook | None = None, **head: object
) -> tuple[RunRecord, DyingAgent]:
    """b answers the checks before the first trial, and nothing after it."""
    with two_contenders() as (one, two):
        agent = DyingAgent(two.address)
        wanted = plan_for(one.address, two.address, plan={"blocks": BLOCKS, "dead_after": "5s", **head}, length="60s")

        class Leaving(Notebook):
            def on_trial_start(self, trial: object) -> None:
                goes_away(two)

        start_run(wanted, path, [agent], notebook or Leaving(), Prompts(ask=ask))
    return read_run(path), agent


def test_a_dead_contender_is_cut_not_asked_further_and_left_out_after_two_visits(tmp_path: Path) -> None:
    run, agent = run_with_dead_b(tmp_path / "x.bakeoff")
    own = [t for t in run.trials if t.contender == "b"]
    assert len(own) == 2 * BLOCKS and {t.state for t in own} == {"failed"}, "each of them is there, and lost"
    assert len(agent.cut) <= 2 and all(session.samples <= 4 for session in agent.cut)
    first = [t.reason for t in own if t.block <= 2]
    assert any("dead: nothing but failures came back" in reason for reason in first)
    later = {t.reason for t in own if t.block > 2}
    assert later == {f"left out: dead in 2 of {BLOCKS} blocks, left out from block 3"}
    assert {t.block for t in own if t.code == LEFT_OUT} == set(range(3, BLOCKS + 1))
    (amended,) = run.amended(LEFT_OUT)
    assert (amended.contender, amended.text) == ("b", f"dead in 2 of {BLOCKS} blocks, left out from block 3")
    assert any(e.level == "warning" and "b: dead in 2 of 6 blocks, left out from block 3" in e.text for e in run.events)
    assert {t.state for t in run.trials if t.contender == "a"} == {"ok"} and run.is_complete


def test_who_dies_loses_and_report_and_json_say_it(tmp_path: Path) -> None:
    run, _ = run_with_dead_b(tmp_path / "x.bakeoff")
    found = compare_run(run)
    end = found.pairs[0].primary
    assert end.forfeited["b"] == end.pairs_counted == 2 * BLOCKS and end.ratio < 1.0, "missing slots are failures"
    assert end.verdict.winner != "b"
    (left,) = found.run.left_out
    assert (left.contender, left.from_block) == ("b", 3)
    assert f"b was dead in 2 of {BLOCKS} blocks, left out from block 3; what it was not asked counts as failed." in (
        headline_of(found)
    )
    assert f"b: dead in 2 of {BLOCKS} blocks, left out from block 3" in shown(run, width=300)
    assert to_dict(found)["run"]["left_out"][0]["from_block"] == 3


@pytest.mark.parametrize(("answer", "left_out"), [(True, True), (False, False)])
def test_at_a_terminal_it_is_asked(tmp_path: Path, answer: bool, left_out: bool) -> None:
    asked: list[str] = []

    def ask(question: str) -> bool:
        asked.append(question)
        return answer

    run, _ = run_with_dead_b(tmp_path / "x.bakeoff", ask=ask)
    assert asked[0] == "b was dead in 2 of 6 blocks. Go on without it? What it is not asked counts as failed."
    assert bool(run.amended(LEFT_OUT)) is left_out
    assert len(asked) == (1 if answer else 2), "who is kept is asked about again after as many blocks"


@pytest.mark.parametrize(
    ("head", "from_block"),
    [({"when_dead": "go-on"}, None), ({"when_dead": "leave-out"}, 3), ({"dead_blocks": 3}, 4)],
)
def test_the_plan_says_what_becomes_of_it(tmp_path: Path, head: dict[str, object], from_block: int | None) -> None:
    def ask(question: str) -> bool:
        raise AssertionError(question)

    run, _ = run_with_dead_b(tmp_path / "x.bakeoff", ask=ask if "when_dead" in head else None, **head)
    found = compare_run(run).run.left_out
    assert [each.from_block for each in found] == ([] if from_block is None else [from_block])
    assert sum(t.contender == "b" and t.state == "failed" for t in run.trials) == 2 * BLOCKS


def test_one_that_answers_again_is_asked_for_the_rest_of_its_visit(tmp_path: Path) -> None:
    """It broke under the higher load step alone: that is a result, and no dead block."""
    path = tmp_path / "x.bakeoff"

    def heavy_fails(spec: TrialSpec) -> TrialResult:
        return failing(spec) if spec.load.clients == 2 else result(spec.load.clients)

    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address, plan={"blocks": 4}), path, [FakeAgent(heavy_fails)], Notebook())
    run = read_run(path)
    assert {(t.load_step.clients, t.state) for t in run.trials} == {(1, "ok"), (2, "failed")} and not run.amendments


def test_visits_that_say_nothing_are_neither_dead_nor_alive(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    with two_contenders() as (one, two):
        start_run(plan_for(one.address, two.address), path, [FakeAgent(failing)], Notebook())
    failed = list(read_run(path).trials)
    assert is_dead(failed) is True and is_dead([]) is None
    voided = [t for t in failed if t.__dict__.update(state="voided") is None]
    assert is_dead(voided) is None


def test_resumed_it_stays_left_out_until_its_failed_trials_are_repeated(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    with two_contenders() as (one, two):
        agent = DyingAgent(two.address)
        wanted = plan_for(one.address, two.address, plan={"blocks": 4, "dead_after": "5s"}, length="60s")
        start_run(wanted, path, [agent], Notebook())
        assert read_run(path).amended(LEFT_OUT)
        more = FakeAgent()
        resume_run(path, [more], Notebook(), asked=Asked(more_blocks=1))
        assert [t.state for t in read_run(path).trials if t.block == 5 and t.contender == "b"] == ["failed"] * 2
        resume_run(path, [more], Notebook(), asked=Asked(retry_failed=True))
        run = read_run(path)
        assert {t.state for t in run.trials} == {"ok"} and not compare_run(run).run.left_out
        assert len(run.earlier) == 10
        resume_run(path, [more], Notebook(), asked=Asked(more_blocks=1))
        assert {t.state for t in read_run(path).trials} == {"ok"}, "it takes part again"
        assert "had failed 10 trials" in " ".join(headline_of(compare_run(read_run(path))))
