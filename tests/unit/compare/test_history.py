"""Histories of made-up runs whose changes are known."""

import functools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.compare.collections.history import history_of
from bakeoff.compare.collections.history_model import CopiedRun, GatesClosed, History, TrialsLost
from bakeoff.core.errors import PlanError
from bakeoff.report.collections.history import compose
from bakeoff.report.collections.history_document import document
from bakeoff.report.collections.history_schema import json_schema
from bakeoff.report.narrate.collections.history import cause_sentence, change_sentence, summary
from bakeoff.report.renderers import renderer
from bakeoff.store.records.marks import BEHIND_SCHEDULE
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run
from tests.stored_runs.files import unpack
from tests.unit.compare.synthetic import FAST, SLOW, at_rates, change, run
from tests.unit.store.builders import stored

RUNS = 12


@functools.cache
def nightly(at: int, fast: float = 1.0, slow: float = 1.0, kernel: str = "6.1.0", length_s: float = 20.0) -> RunRecord:
    """The run of one night; the capacities of both servers are multiplied."""
    servers = (replace(FAST, capacity=FAST.capacity * fast), replace(SLOW, capacity=SLOW.capacity * slow))
    made = run(servers, load_steps=(8, 32), blocks=6, seed=at, window_s=length_s)
    day = f"2026-10-{at + 1:02d}"
    trials = tuple(replace(t, started_at=t.started_at.replace("2026-11-20", day)) for t in made.trials)
    plan = {**made.plan, "seed": 1}
    environment = {**made.environment, "kernel": kernel}
    path = Path(f"night-{at:02d}.bakeoff")
    return replace(made, path=path, plan=plan, environment=environment, created_at=f"{day}T10:00", trials=trials)


def nights(changed: Sequence[int], **factors: float) -> list[RunRecord]:
    return [nightly(at, **factors) if at in changed else nightly(at) for at in range(RUNS)]


def found_in(runs: Sequence[RunRecord], metric: str | None = None) -> History:
    """As of files that come in any order."""
    by_path = {one.path: one for one in runs}
    return history_of(sorted(runs, key=lambda one: str(one.path), reverse=True), metric, by_path.__getitem__)


def test_a_server_that_became_slower_is_named_with_the_night_and_the_ratio() -> None:
    (plan,) = found_in(nights(range(7, RUNS), slow=0.8)).plans
    fast, slow = plan.levels
    assert not fast.changes
    (step,) = slow.changes
    assert (step.run, step.is_better, step.is_shared, step.runs) == (7, False, False, (7, 5))
    assert step.low < step.ratio < step.high and step.ratio == pytest.approx(0.86, abs=0.07)
    (ratio,) = plan.ratios
    assert [one.run for one in ratio.changes] == [7]
    text = change_sentence(plan, slow, step)
    assert text.startswith("apache is worse since 2026-10-08 10:0") and "requests/s" in text


def test_a_change_of_all_is_told_as_that_of_the_machine_with_what_differs_there() -> None:
    runs = [nightly(at, 0.7, 0.7, "6.8.0") if at >= 6 else nightly(at) for at in range(RUNS)]
    (plan,) = found_in(runs).plans
    assert [[(one.run, one.is_shared) for one in series.changes] for series in plan.levels] == [[(6, True)]] * 2
    assert not plan.ratios[0].changes
    text = cause_sentence(plan, plan.levels[0].changes[0])
    assert text.startswith("All contenders changed alike there") and "kernel (6.1.0 → 6.8.0)" in text


def test_nights_without_a_change_show_none() -> None:
    found = found_in(nights([]))
    assert summary(found) == "12 runs of 1 plan: no change of a level found."
    assert not any(one.changes for one in (*found.plans[0].levels, *found.plans[0].ratios))


def test_a_run_whose_trials_were_forfeited_flatters_no_level() -> None:
    """A server that serves half as much and drops its slow trials must not look steady or better."""
    runs = nights([])
    runs[5] = change(runs[5], "apache", 32, (1, 2), state="failed", reason="more than 1 % failed", operations=0)
    (plan,) = found_in(runs).plans
    point = plan.levels[1].points[5]
    assert point.left_out == TrialsLost(2, 12) and len(plan.levels[1].counted) == RUNS - 1
    assert len(plan.levels[0].counted) == RUNS and len(plan.ratios[0].counted) == RUNS - 1


def test_a_run_whose_verdict_would_be_withheld_makes_no_level() -> None:
    runs = nights([])
    wrong = replace(runs[3], trials=tuple(replace(t, errors={"wrong_body": t.operations // 5}) for t in runs[3].trials))
    runs[3] = wrong
    (plan,) = found_in(runs).plans
    assert all(isinstance(one.points[3].left_out, GatesClosed) for one in plan.levels)
    page = renderer("markdown").render(compose(found_in(runs)), "x").decode()
    assert "Left out of the level" in page and "nginx: " in page


def test_at_a_rate_the_response_time_is_what_is_followed() -> None:
    runs = [at_rates(one) for one in nights([])]
    (plan,) = found_in(runs).plans
    assert plan.title.startswith("99th percentile of response time") and not plan.higher_is_better


def test_late_starts_leave_a_run_out_of_the_metrics_that_they_are_in() -> None:
    """A response time begins at the planned start, a service time when the operation is sent."""
    runs = [at_rates(one) for one in nights([])]
    runs[3] = replace(runs[3], trials=tuple(replace(t, marks=(*t.marks, BEHIND_SCHEDULE)) for t in runs[3].trials))
    for metric, is_out in (("p99", True), ("service_p99", False)):
        (plan,) = found_in(runs, metric).plans
        assert all(isinstance(one.points[3].left_out, GatesClosed) == is_out for one in plan.levels), metric


@pytest.mark.parametrize(
    ("changed", "factors", "worse"),
    [
        (range(7, RUNS), {"slow": 0.8}, {("apache", ""), ("apache", "nginx")}),
        (range(7, RUNS), {"slow": 1.25}, set()),
        (range(7, RUNS), {"fast": 1.25}, set()),
        (range(7, RUNS), {"fast": 0.7, "slow": 0.7}, set()),
        (range(5), {"slow": 0.7}, set()),
        ((), {}, set()),
    ],
)
def test_the_last_change_for_the_worse_is_that_of_a_contender(
    changed: Sequence[int], factors: dict[str, float], worse: set[tuple[str, str]]
) -> None:
    (plan,) = found_in(nights(changed, **factors)).plans
    assert {(one.contender, one.baseline) for one in plan.worse()} == worse


def test_a_build_server_learns_of_a_change_for_the_worse_where_it_asks(tmp_path: Path) -> None:
    for one in nights(range(8, RUNS), slow=0.7):
        stored(one, tmp_path / one.path)
    words = ["history", str(tmp_path)]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert CliRunner().invoke(app, [*words, "--fail-on-change"]).exit_code == 1


def test_another_length_is_another_plan_and_copies_count_once() -> None:
    runs = nights([])
    found = found_in([*runs, nightly(20, length_s=40.0), replace(runs[2], path=Path("copy.bakeoff"))])
    assert [len(plan.runs) for plan in found.plans] == [RUNS, 1]
    assert [type(one.reason) for one in found.left_out] == [CopiedRun]


def test_another_metric_is_followed_where_asked_and_an_unknown_one_is_refused() -> None:
    assert found_in(nights([]), "p99").plans[0].metric == "p99"
    with pytest.raises(PlanError, match=r"no run has the metric p77: choose one of .*p99"):
        found_in(nights([]), "p77")


def test_the_command_reads_a_folder_and_writes_a_page(tmp_path: Path) -> None:
    for one in nights(range(8, RUNS), slow=0.7):
        stored(one, tmp_path / one.path)
    (tmp_path / "broken.bakeoff").write_bytes(b"no run file")
    page = tmp_path / "history.html"
    outcome = CliRunner().invoke(app, ["history", str(tmp_path), "-o", str(page)], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    shown = " ".join(outcome.output.split())
    assert "apache is worse since 2026-10-09" in shown and "broken.bakeoff" in shown and "12 runs of 1 plan" in shown
    assert page.read_text().count("<svg") >= 2
    outcome = CliRunner().invoke(app, ["history", str(tmp_path), "--json"], catch_exceptions=False)
    document = json.loads(outcome.output)
    assert document["schema"] == "bakeoff-history/1"
    changes = document["plans"][0]["levels"][1]["changes"]
    assert [one["run"] for one in changes] == [8] and changes[0]["text"].startswith("apache is worse")


@pytest.mark.parametrize(("given", "words"), [("none", "does not exist"), (".", "no run file")])
def test_nothing_to_show_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = CliRunner().invoke(app, ["history", given])
    assert isinstance(outcome.exception, PlanError | SystemExit)
    assert words in (outcome.output + str(outcome.exception))


def test_a_capacity_of_wrong_answers_makes_no_level(tmp_path: Path) -> None:
    (path,) = unpack("capacity", tmp_path)
    honest = read_run(path)
    wrong = tuple(
        replace(trial, errors={"wrong_body": trial.operations // 5}) if trial.contender == "fast" else trial
        for trial in honest.trials
    )
    (plan,) = found_in([honest]).plans
    assert plan.metric == "capacity" and [one.points[0].left_out for one in plan.levels] == [None, None]
    (plan,) = found_in([replace(honest, trials=wrong)]).plans
    outs = {one.contender: one.points[0].left_out for one in plan.levels}
    assert isinstance(outs["fast"], GatesClosed) and outs["slow"] is None


def test_its_json_fits_the_schema() -> None:
    runs = nights(range(7, RUNS), slow=0.8)
    runs[2] = replace(
        runs[2], trials=tuple(replace(t, errors={"wrong_body": t.operations // 5}) for t in runs[2].trials)
    )
    found = json.loads(
        json.dumps(document(found_in([*runs, replace(runs[4], path=Path("copy.bakeoff"))])), allow_nan=False)
    )
    Draft202012Validator(json_schema()).validate(found)
    assert found["left_out"] and any(one["changes"] for one in found["plans"][0]["levels"])
