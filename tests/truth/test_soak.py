"""Soaks against servers whose drift, faults and end are programmed; intervals are parts of seconds."""

import gc
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.result import DisturbancesResult, Outcome, Snapshot, SoakInterval
from bakeoff.agents.spec import WHOLE, Slice, TrialSpec
from bakeoff.compare import compare_run
from bakeoff.compare.limits.soak import ContenderSoak, SoakTrend
from bakeoff.report.blocks.tree import Text
from bakeoff.report.compose import compose
from bakeoff.run.driver import start_run
from bakeoff.run.modes.soak import Stretch
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import PlannedTrial, RunRecord, SoakIntervalRecord
from bakeoff.store.sqlite.read import histogram, read_run, soak_histograms
from bakeoff.store.sqlite.write import RunWriter
from tests.control import PATIENCE_S
from tests.unit.run.fake import Notebook, WebServer, plan_for, serving

# Of each request in turn: at the end far above what a busy machine adds to any of them.
FIRST_S, MORE_S = 0.001, 0.001
TRIES = 3


@pytest.fixture
def judged_site() -> Iterator[WebServer]:
    """For tests of what is said of a generator that did not run."""
    with serving({"": b"page"}) as one:
        yield one


@pytest.fixture
def site(judged_site: WebServer, patient: None) -> WebServer:
    """For all others: intervals count whatever this machine does meanwhile."""
    return judged_site


def soak(site: WebServer, path: Path, length: str, **settings: str) -> RunRecord:
    plan = plan_for(
        site.address, suite="web-url", plan={"blocks": 1, "error_limit": "100%"}, clients="1", length=length,
        ramp_up="100ms", ramp_down="100ms", http="1.0", **settings,
    )  # fmt: skip
    start_run(plan, path, [LocalAgent()], Notebook())
    return read_run(path)


def soak_of(run: RunRecord) -> ContenderSoak:
    soak = compare_run(run).soak
    assert soak is not None
    return soak.contenders[0]


def trend(one: ContenderSoak, figure: str) -> SoakTrend:
    return next(trend for trend in one.trends if trend.figure == figure)


def test_a_server_that_slows_down_with_each_request_shows_as_a_slope(site: WebServer, tmp_path: Path) -> None:
    started, lock = 0, threading.Lock()

    def slower(path: str, count: int) -> None:
        nonlocal started
        with lock:
            started += 1
            delay_s = FIRST_S + MORE_S * started
        time.sleep(delay_s)

    site.fault = slower
    for attempt in range(TRIES):  # a machine that is busier at first than at last hides the slope of the rate
        started = 0
        run = soak(site, tmp_path / f"{attempt}.bakeoff", "3200ms", interval="150ms")
        one, trial = soak_of(run), run.trials[0]
        if trend(one, "rate").change < 0.0:
            break
    assert [interval.number for interval in one.intervals] == list(range(20)) and one.measured_s == pytest.approx(3.0)
    intervals = run.soak_intervals
    for figure in ("operations", "bytes_in", "bytes_out", "errors_total"):
        assert sum(getattr(interval, figure) for interval in intervals) == getattr(trial, figure), figure
    assert trial.per_second == () and trial.service.count == sum(interval.service.count for interval in intervals)
    # No request is answered before the delay that was programmed for it, nor any before those that it follows.
    before = 0
    for interval in intervals:
        assert interval.times.p50_ns is None or interval.times.p50_ns >= (FIRST_S + MORE_S * before) * 1e9 * 0.999
        before += interval.operations
    slower_p50, rate = trend(one, "p50"), trend(one, "rate")
    assert slower_p50.low > 0.0 and slower_p50.last > slower_p50.first
    assert rate.change < 0.0
    assert not one.gaps and one.stopped_by is None


def test_rows_hold_the_times_of_the_trial(site: WebServer, tmp_path: Path) -> None:
    from bakeoff import _engine

    run = soak(site, tmp_path / "x.bakeoff", "3s", interval="200ms")
    service, response = soak_histograms(run.path, 0)
    blob, figures = _engine.merge_histograms(service)
    whole = run.trials[0]
    assert json.loads(figures)["p99_ns"] == whole.service.p99_ns and response == []
    assert blob == histogram(run.path, whole.id, "service")


@pytest.mark.parametrize(("rule", "after"), [("errors>50%", 0), ("errors>50% for 2", 1)])
def test_errors_from_a_moment_on_stop_the_soak_in_that_row(
    site: WebServer, tmp_path: Path, rule: str, after: int
) -> None:
    def fails(path: str, count: int) -> tuple[int, bytes] | None:
        time.sleep(0.005)
        return (500, b"over") if count > 60 else None

    site.fault = fails
    run = soak(site, tmp_path / "x.bakeoff", "60s", interval="200ms", stop_if=f"rate<0,{rule}")
    shares = [interval.error_share for interval in run.soak_intervals if interval.length_s >= 0.19]
    # So many intervals one after the other; on a machine that stands still one may have no operation at all.
    stopped = next(i for i in range(after, len(shares)) if min(shares[i - after : i + 1]) > 0.5)
    assert stopped < len(shares) < 150, "of 299 intervals: it ends soon after it was seen"
    trial = run.trials[0]
    assert trial.state == "failed" and trial.reason.startswith(f"stopped early: {rule}: ")
    assert trial.reason.endswith(f"of operations failed in interval {stopped + 1}")
    figures = trial.figures(Figures).soak
    assert figures is not None and (figures.stopped_by, figures.segments) == (rule, 1)
    assert trial.operations == sum(interval.operations for interval in run.soak_intervals)


def test_a_contender_that_answers_no_more_is_given_up(site: WebServer, tmp_path: Path) -> None:
    def dies(path: str, count: int) -> None:
        if count > 60:
            raise ConnectionResetError

    site.fault = dies
    short = {"give_up": "300ms", "reply_timeout": "100ms", "connect_timeout": "100ms"}
    run = soak(site, tmp_path / "x.bakeoff", "600s", interval="300s", **short)
    trial = run.trials[0]
    assert trial.state == "failed" and trial.reason.startswith("stopped early: nothing succeeded for ")
    assert len(run.soak_intervals) == 1 and run.soak_intervals[0].length_s < PATIENCE_S


MEMORY = """
import json, sys
from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.load.load_step import Clients
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
spec = TrialSpec(workload=NullWorkload(), load=Clients(2), length_s=60, interval_s=0.1)
session, intervals, operations, sizes = LocalAgent().start(spec).go(), 0, 0, []
while intervals < 30:
    session.wait(0.05)
    session.snapshot()
    for interval in session.drain_intervals():
        intervals, operations = intervals + 1, operations + interval.figures.operations
        sizes.append(rss())
session.cancel()
print(json.dumps([sizes[-1] - sizes[9], operations]))
"""


def test_memory_does_not_grow_with_rows_nor_operations() -> None:
    command = [sys.executable, "-c", MEMORY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    grown, operations = json.loads(done.stdout)
    assert operations > 0 and grown < 1 << 20


# Figures of intervals, by their numbers.
Intervals = Mapping[int, Mapping[str, Any]]


class StoppedAgent(LocalAgent):
    """A generator of which it is known when it was stopped: from and to, in seconds after traffic began; what else
    befell it in all, and what its `intervals` tell of it, by their numbers.
    """

    def __init__(self, *stops: tuple[float, float], intervals: Intervals | None = None, **befell: float) -> None:
        super().__init__()
        found = [{"at_s": begin, "length_s": end - begin, "window_s": end - begin} for begin, end in stops]
        self._seen = DisturbancesResult.model_validate({"stops": found, **befell})
        self._rows = intervals or {}

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> Any:
        session = super().start(spec, part)
        waits = session.wait

        def wait(timeout_s: float) -> Outcome | None:
            outcome = waits(timeout_s)
            if outcome is None:
                return None
            generator = outcome.result.generator.model_copy(update={"disturbances": self._seen})
            errors = Counter[str](outcome.result.errors)
            for interval in self._rows.values():
                errors.update(interval.get("errors", {}))
            changed = {"generator": generator, "errors": dict(errors)}
            return replace(outcome, result=outcome.result.model_copy(update=changed))

        return Waiting(session, wait, self._rows)


class Waiting:
    """A session whose outcome is another one, and that was disturbed at no other time."""

    def __init__(self, session: Any, wait: Callable[[float], Outcome | None], intervals: Intervals) -> None:
        self._session, self.wait, self._rows = session, wait, intervals

    def drain_intervals(self) -> Sequence[SoakInterval]:
        """Without what this machine did meanwhile."""
        quiet = {"stopped_s": None, "stolen_s": None}
        return [
            replace(
                interval,
                figures=interval.figures.model_copy(update=quiet | self._rows.get(interval.figures.number, {})),
            )
            for interval in self._session.drain_intervals()
        ]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


@pytest.mark.parametrize(
    ("load", "void"), [({"clients": "1"}, (6, 7, 8, 9)), ({"rate": "200"}, (6, 7, 8, 9, 10))], ids=["closed", "rate"]
)
def test_rows_in_which_the_generator_did_not_run_are_void_and_the_others_count(
    judged_site: WebServer, tmp_path: Path, load: dict[str, str], void: tuple[int, ...]
) -> None:
    settings = {
        "length": "3200ms",
        "interval": "150ms",
        "ramp_up": "100ms",
        "ramp_down": "100ms",
        "http": "1.0",
        **load,
    }
    plan = plan_for(judged_site.address, suite="web-url", plan={"blocks": 1}, **settings)
    for attempt in range(TRIES):  # beside other load a reply may come too late
        start_run(plan, tmp_path / f"{attempt}.bakeoff", [StoppedAgent((1.01, 1.6))], Notebook())
        run = read_run(tmp_path / f"{attempt}.bakeoff")
        trial, one = run.trials[0], soak_of(run)
        if trial.state == "ok":
            break
    assert (trial.state, trial.reason) == ("ok", "") and "generator-paused" in trial.marks
    assert tuple(interval.number for interval in one.intervals if interval.void) == void
    counted = [interval for interval in run.soak_intervals if interval.number not in void]
    assert trial.operations == one.operations == sum(interval.operations for interval in counted)
    assert trial.window_s == pytest.approx(sum(interval.length_s for interval in counted))
    assert trial.service.count == trial.operations
    assert all(each.intervals <= len(counted) for each in one.trends)
    texts = [
        block.text
        for section in compose(run, compare_run(run)).sections
        for block in section.blocks
        if isinstance(block, Text)
    ]
    assert any(f"{len(void)} intervals of 20 void" in text for text in texts)


def test_a_soak_in_which_the_generator_hardly_ran_is_void(judged_site: WebServer, tmp_path: Path) -> None:
    settings = {"clients": "1", "length": "1200ms", "interval": "500ms", "ramp_up": "100ms", "ramp_down": "100ms"}
    plan = plan_for(judged_site.address, suite="web-url", plan={"blocks": 1}, http="1.0", **settings)
    start_run(plan, tmp_path / "x.bakeoff", [StoppedAgent((0.2, 0.5), (0.75, 1.05))], Notebook())
    assert read_run(tmp_path / "x.bakeoff").trials[0].state == "voided"


@pytest.mark.parametrize(
    ("befell", "interval"),
    [
        ({"throttled_s": 1.2, "throttled": 12}, {"stopped_s": 0.06}),
        ({"suspended_s": 3600.0}, {"stopped_s": 3600.0}),
        ({"clock_step_s": -7200.0}, {"stopped_s": 7200.0}),
        ({"stolen_s": 1.5, "stolen_share": 0.5}, {"stolen_s": 0.3}),
    ],
    ids=["throttled", "suspended", "clock set", "stolen"],
)
def test_what_befell_the_machine_voids_its_rows_and_not_the_soak(
    judged_site: WebServer, tmp_path: Path, befell: dict[str, float], interval: dict[str, float]
) -> None:
    settings = {"length": "3200ms", "interval": "500ms", "ramp_up": "100ms", "ramp_down": "100ms", "http": "1.0"}
    plan = plan_for(
        judged_site.address, suite="web-url", plan={"blocks": 1}, clients="1", stop_if="rate<1000000000/s", **settings
    )
    agent = StoppedAgent(intervals={0: interval, 2: interval}, **befell)
    # A rule that any interval breaks is held against none that is void.
    start_run(plan, tmp_path / "x.bakeoff", [agent], Notebook())
    run = read_run(tmp_path / "x.bakeoff")
    trial, one = run.trials[0], soak_of(run)
    assert trial.reason.startswith("stopped early: rate<1000000000/s: ") and trial.reason.endswith("in interval 2")
    assert [each.void for each in one.intervals][:2] == [True, False]
    plan = plan_for(judged_site.address, suite="web-url", plan={"blocks": 1}, clients="1", **settings)
    start_run(plan, tmp_path / "y.bakeoff", [agent], Notebook())
    run = read_run(tmp_path / "y.bakeoff")
    trial, one = run.trials[0], soak_of(run)
    assert trial.state == "ok" and "generator-paused" in trial.marks, (trial.state, trial.reason)
    assert [each.number for each in one.intervals if each.void] == [0, 2]
    assert trial.operations == sum(each.operations for each in run.soak_intervals if each.number not in (0, 2))


@pytest.mark.parametrize(("ran_out", "state"), [({0, 2}, "ok"), (set(range(99)), "voided")], ids=["some", "all"])
def test_rows_in_which_the_generator_ran_out_of_ports_are_void_and_the_others_count(
    judged_site: WebServer, tmp_path: Path, ran_out: set[int], state: str
) -> None:
    settings = {"length": "3200ms", "interval": "500ms", "ramp_up": "100ms", "ramp_down": "100ms", "http": "1.0"}
    plan = plan_for(judged_site.address, suite="web-url", plan={"blocks": 1}, clients="1", **settings)
    agent = StoppedAgent(intervals={interval: {"errors": {"ports_exhausted": 12}} for interval in ran_out})
    start_run(plan, tmp_path / "x.bakeoff", [agent], Notebook())
    run = read_run(tmp_path / "x.bakeoff")
    trial, one = run.trials[0], soak_of(run)
    assert (trial.state, "local ports" in trial.reason) == (state, state == "voided"), trial.reason
    assert {each.number for each in one.intervals if each.void} == ran_out & {each.number for each in one.intervals}
    assert "generator-paused" not in trial.marks
    if state == "ok":
        assert trial.operations == sum(each.operations for each in run.soak_intervals if each.number not in ran_out)
        assert not trial.errors.get("ports_exhausted")


def test_void_rows_of_a_stretch_that_was_broken_off_stay_void(judged_site: WebServer, tmp_path: Path) -> None:
    """All intervals had ended when the machine crashed, before the trial was stored: they say what befell them."""
    settings = {"length": "1200ms", "interval": "250ms", "ramp_up": "100ms", "ramp_down": "100ms", "http": "1.0"}
    plan = plan_for(judged_site.address, suite="web-url", plan={"blocks": 1}, clients="1", **settings)
    start_run(plan, tmp_path / "x.bakeoff", [StoppedAgent(intervals={1: {"stopped_s": 0.1}})], Notebook())
    before = read_run(tmp_path / "x.bakeoff")
    trial = before.trials[0]
    planned = PlannedTrial(trial.order, trial.block, trial.contender, trial.load_step, trial.seed)
    with RunWriter.reopen(tmp_path / "x.bakeoff") as writer:
        segment = Stretch(plan, planned, writer, Notebook())
        assert segment.is_over
        again, histograms = segment.from_rows()
    assert (
        again.operations
        == trial.operations
        == before.soak_intervals[0].operations + sum(interval.operations for interval in before.soak_intervals[2:])
    )
    assert "generator-paused" in again.marks and again.service == trial.service and histograms


def test_a_generator_that_stood_still_does_not_find_the_server_silent(site: WebServer, tmp_path: Path) -> None:
    plan = plan_for(
        site.address,
        suite="web-url",
        plan={"blocks": 1},
        clients="1",
        length="3h",
        interval="1h",
        give_up="1m",
        http="1.0",
    )
    planned = PlannedTrial(0, 1, "a", plan.load_steps[0], 1)
    start_run(
        plan_for(site.address, suite="web-url", plan={"blocks": 1}, clients="1", length="400ms", http="1.0"),
        tmp_path / "x.bakeoff", [LocalAgent()], Notebook(),
    )  # fmt: skip
    with RunWriter.reopen(tmp_path / "x.bakeoff") as writer:
        segment = Stretch(plan, planned, writer, Notebook())
        for at_s, operations in ((1.0, 5), (2.0, 9), (602.0, 9), (603.0, 9), (604.0, 20), (605.0, 20)):
            segment.watch(snapshot_at(at_s, operations))
        assert segment.stopped_by is None
        for second in range(606, 900):
            segment.watch(snapshot_at(float(second), 20))
        assert segment.stopped_by == "give_up"


def snapshot_at(elapsed_s: float, operations: int) -> Snapshot:
    """How far a trial is, with so many operations."""
    return Snapshot(elapsed_s=elapsed_s, phase="window", operations=operations, errors=0, bytes_in=0, per_operation=())


def test_rows_are_kept_in_the_file_and_not_in_memory(site: WebServer, tmp_path: Path) -> None:
    """What a segment keeps beside the file is what its rules look at, however many intervals there are."""
    kept: list[int] = []

    class Counting(Notebook):
        def on_interval(self, interval: SoakIntervalRecord, left_s: float) -> None:
            gc.collect()
            kept.append(sum(isinstance(each, SoakIntervalRecord) for each in gc.get_objects()))

    plan = plan_for(
        site.address, suite="web-url", plan={"blocks": 1}, clients="1", length="3200ms", interval="100ms",
        ramp_up="100ms", ramp_down="100ms", http="1.0", stop_if="rate<0 for 3",
    )  # fmt: skip
    start_run(plan, tmp_path / "x.bakeoff", [LocalAgent()], Counting())
    assert len(kept) == 30 and max(kept[10:]) <= max(kept[:10]) <= 6
