"""Soaks against servers whose drift, faults and end are programmed; rows are parts of seconds."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.compare import compare_run
from bakeoff.compare.soak import ContenderSoak, SoakTrend
from bakeoff.run.driver import start_run
from bakeoff.store.figures import Figures
from bakeoff.store.read import histogram, read_run, soak_histograms
from bakeoff.store.records import RunRecord
from tests.control import PATIENCE_S
from tests.unit.run.fake import Notebook, WebServer, plan_for, serving

# Of each request in turn: at the end far above what a busy machine adds to any of them.
FIRST_S, MORE_S = 0.001, 0.001


@pytest.fixture
def site() -> Iterator[WebServer]:
    with serving({"": b"page"}) as one:
        yield one


def soak(site: WebServer, path: Path, length: str, **settings: str) -> RunRecord:
    plan = plan_for(
        site.address, suite="web-url", plan={"blocks": 1, "error_limit": "100%"}, mixes="1", length=length,
        ramp_up="100ms", ramp_down="100ms", http="1.0", **settings,
    )  # fmt: skip
    start_run(plan, path, [LocalAgent()], Notebook())
    return read_run(path)


def told(run: RunRecord) -> ContenderSoak:
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
    run = soak(site, tmp_path / "x.bakeoff", "3200ms", row="150ms")
    one, trial = told(run), run.trials[0]
    assert [row.number for row in one.rows] == list(range(20)) and one.measured_s == pytest.approx(3.0)
    rows = run.soak_rows
    for figure in ("operations", "bytes_in", "bytes_out", "errors_total"):
        assert sum(getattr(row, figure) for row in rows) == getattr(trial, figure), figure
    assert trial.per_second == () and trial.service.count == sum(row.service.count for row in rows)
    # No request is answered before the delay that was programmed for it, nor any before those that it follows.
    before = 0
    for row in rows:
        assert row.times.p50_ns is None or row.times.p50_ns >= (FIRST_S + MORE_S * before) * 1e9 * 0.999
        before += row.operations
    slower_p50, rate = trend(one, "p50"), trend(one, "rate")
    assert slower_p50.low > 0.0 and slower_p50.last > slower_p50.first
    assert rate.change < 0.0
    assert not one.gaps and one.stopped_by is None


def test_rows_hold_the_times_of_the_trial(site: WebServer, tmp_path: Path) -> None:
    from bakeoff import _engine

    run = soak(site, tmp_path / "x.bakeoff", "3s", row="200ms")
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
    run = soak(site, tmp_path / "x.bakeoff", "60s", row="200ms", stop_if=f"rate<0,{rule}")
    shares = [row.error_share for row in run.soak_rows if row.length_s >= 0.19]
    # So many rows one after the other; on a machine that stands still one may have no operation at all.
    stopped = next(i for i in range(after, len(shares)) if min(shares[i - after : i + 1]) > 0.5)
    assert stopped < len(shares) < 150, "of 299 rows: it ends soon after it was seen"
    trial = run.trials[0]
    assert trial.state == "failed" and trial.reason.startswith(f"stopped early: {rule}: ")
    assert trial.reason.endswith(f"of operations failed in row {stopped + 1}")
    figures = trial.figures(Figures).soak
    assert figures is not None and (figures.stopped_by, figures.stretches) == (rule, 1)
    assert trial.operations == sum(row.operations for row in run.soak_rows)


def test_a_contender_that_answers_no_more_is_given_up(site: WebServer, tmp_path: Path) -> None:
    def dies(path: str, count: int) -> None:
        if count > 60:
            raise ConnectionResetError

    site.fault = dies
    short = {"give_up": "300ms", "reply_timeout": "100ms", "connect_timeout": "100ms"}
    run = soak(site, tmp_path / "x.bakeoff", "600s", row="300s", **short)
    trial = run.trials[0]
    assert trial.state == "failed" and trial.reason.startswith("stopped early: nothing succeeded for ")
    assert len(run.soak_rows) == 1 and run.soak_rows[0].length_s < PATIENCE_S


MEMORY = """
import json, sys
from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.mix import Clients
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
spec = TrialSpec(workload=NullWorkload(), load=Clients(2), length_s=60, row_s=0.1)
session, rows, operations, sizes = LocalAgent().start(spec).go(), 0, 0, []
while rows < 30:
    session.wait(0.05)
    session.snapshot()
    for row in session.drain_rows():
        rows, operations = rows + 1, operations + row.figures.operations
        sizes.append(rss())
session.cancel()
print(json.dumps([sizes[-1] - sizes[9], operations]))
"""


def test_memory_does_not_grow_with_rows_nor_operations() -> None:
    command = [sys.executable, "-c", MEMORY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    grown, operations = json.loads(done.stdout)
    assert operations > 0 and grown < 1 << 20
