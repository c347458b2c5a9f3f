import io
import os
import resource
import signal
import sys
import time
import weakref
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from bakeoff.agents.machine.environment import environment
from bakeoff.agents.machine.preflight import preflight, raise_open_files
from bakeoff.agents.machine.socket_capacity import Machine
from bakeoff.agents.result import RecentResult, Snapshot
from bakeoff.core.errors import ContenderError, GeneratorError, PlanError
from bakeoff.load.load_step import Clients
from bakeoff.plan.model import Contender
from bakeoff.run.checks.preflight import demand_of
from bakeoff.run.contenders.prepared import preflight as preflight_of_all
from bakeoff.run.contenders.reset import reset, run_shell
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.run.observe.live import LiveObserver
from bakeoff.run.observe.observer import Clock, PlainObserver, trial_line
from bakeoff.run.stop import Stop
from bakeoff.store.records.run_records import EventRecord, PlannedTrial
from bakeoff.store.records.trial_parts import JudgedRecord, TermRecord
from tests.control import PATIENCE_S
from tests.unit.run.fake import FakeAgent, plan_for
from tests.unit.store.builders import trial

A, B = "http://127.0.0.1:1", "http://127.0.0.1:2"
ROOMY = Machine(ports=28_232, reuse=2, listen_queue=4096)
EVENT = EventRecord("now", "warning", "look here", None)


def test_trial_lines() -> None:
    assert trial_line(trial(marks=())) == "block 1, a, 4 clients: 50 operations/s, p99 0.0025 ms, 2 errors"
    assert (
        trial_line(trial(state="voided", reason="no ports", load_step=Clients(1)))
        == "block 1, a, 1 client: voided: no ports"
    )
    assert trial_line(trial()).endswith("(noisy)")


def test_a_trial_at_a_rate_is_told_in_response_times_and_a_probe_with_what_it_missed() -> None:
    late = trial(marks=())
    late = replace(late, response=replace(late.service, p99_ns=7_000_000))
    assert trial_line(late) == "block 1, a, 4 clients: 50 operations/s, p99 7 ms, 2 errors"
    terms = (
        TermRecord("p99<=5ms", 7e6, 0.02, False),
        TermRecord("mean<=1ms", 2e6, 0.0, False),
        TermRecord("errors<=1%", 0.0, 0.0, True),
    )
    probe = replace(late, judged=JudgedRecord(False, 0.0, "", terms))
    assert trial_line(probe).endswith("; missed p99<=5ms (2 % outside), mean<=1ms (2 ms)")


def test_where_nobody_watches_there_is_a_line_a_minute_and_one_of_each_that_is_news(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr("bakeoff.run.observe.observer.time.monotonic", lambda: now)
    stream = io.StringIO()
    observer = PlainObserver(stream)
    observer.on_run_start(plan_for(A, B), 8)
    ended = (
        trial(marks=()),
        trial(marks=()),
        trial(state="failed", reason="it broke", marks=()),
        trial(marks=("generator-waited",)),
        trial(marks=("generator-waited",)),
        trial(marks=()),
        trial(marks=()),
        trial(marks=()),
    )
    for number, record in enumerate(ended):
        now += 61.0 if number == 5 else 1.0
        observer.on_trial_end(record)
    lines = stream.getvalue().splitlines()[1:]
    # The first, what failed, a new mark, after a minute, the last.
    assert [line.split("]")[0] for line in lines] == ["[1/8", "[3/8", "[4/8", "[6/8", "[8/8"]


def test_plain_lines_are_of_trials_and_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.run.observe.observer.time.monotonic", lambda: 1000.0)
    stream = io.StringIO()
    observer = PlainObserver(stream)
    observer.on_run_start(plan_for(A, B), 8)
    observer.on_trial_start(PlannedTrial(0, "a", Clients(4), 1, 1))
    observer.on_trial_end(trial(marks=()))
    observer.on_event(EVENT)
    observer.on_run_end()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "web-static: 8 trials, about 8s"
    assert lines[1].startswith("[1/8] block 1, a, 4 clients: 50 requests/s") and lines[1].endswith("left")
    assert lines[2:] == ["warning: look here"]


def test_the_live_display_shows_load_step_rate_errors_and_time_left() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120, color_system=None)
    observer = LiveObserver(console)
    observer.on_run_start(plan_for(A, B), 8)
    planned = PlannedTrial(0, "a[b]", Clients(4), 1, 1)
    observer.on_trial_start(planned)
    recent = RecentResult(span_s=1.0, operations=900, p50_ns=520_000, p99_ns=12_345_000_000)
    seen = Snapshot(elapsed_s=1.0, phase="window", operations=1000, errors=3, bytes_in=5000, recent=recent)
    observer.on_snapshot(planned, seen)
    console.print(observer._render())
    observer.on_trial_end(trial(state="failed", reason="it broke"))
    observer.on_event(EVENT)
    observer.on_run_end()
    text = stream.getvalue()
    for part in (
        "block 1/2",
        "a[b]",
        "4 clients",
        "measuring",
        "1,000 requests/s",
        "5 kB/s",
        "p50 0.52 ms",
        "p99 12,345 ms",
        "3 errors",
        "0/8",
        "s left",
        "failed: it broke",
        "warning: look here",
    ):
        assert part in text, part


def test_the_clock_follows_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    clock = Clock(plan_for(A, B), 8)
    assert clock.left_s == pytest.approx(8 * 1.03)
    now = 103.0
    clock.trial_ended()
    now = 104.0
    assert clock.left_s == pytest.approx(7 * 3.0 - 1.0)


def test_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [(256, 4096)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: limits.append(pair))
    assert raise_open_files(4096) == 4096 and limits[-1] == (4096, 4096)
    with pytest.raises(
        GeneratorError, match=r"needs 4097 open files, but the limit is 4096: raise it \(`ulimit -Hn 4097`"
    ):
        raise_open_files(4097)


def test_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    assert preflight(demand_of(plan_for(A, B, pin="1")), ROOMY) == []
    assert "share 2 cores" in preflight(demand_of(plan_for(A, B, load_threads="3")), ROOMY)[0]
    with pytest.raises(PlanError, match=r"pin names cores \[7\], but this process may use \[0, 1\]"):
        preflight(demand_of(plan_for(A, B, pin="7")))


def test_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GeneratorError, match="cannot be used for the run file: No such file or directory"):
        preflight_of_all(plan_for(A, B), Fleet([FakeAgent()]), tmp_path / "none" / "x")
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10})())
    with pytest.raises(GeneratorError, match="free some space or choose another place with -o"):
        preflight_of_all(plan_for(A, B), Fleet([FakeAgent()]), tmp_path / "x")


def contender(command: str | None, ready: str = "0.3s") -> Contender:
    return Contender.model_validate({"name": "a", "address": A, "reset": command, "ready_timeout": ready})


def test_without_a_reset_command_nobody_is_asked() -> None:
    def never() -> None:
        raise AssertionError

    reset(contender(None), never)


def test_a_reset_waits_until_the_contender_answers(tmp_path: Path) -> None:
    asked = 0

    def answers() -> None:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise ContenderError("not yet")

    reset(contender(f"touch {tmp_path / 'done'}", f"{PATIENCE_S:g}s"), answers)
    assert asked == 3 and (tmp_path / "done").exists()


def test_a_contender_that_does_not_come_back() -> None:
    def never() -> None:
        raise ContenderError("a: connection refused")

    with pytest.raises(ContenderError, match=r"a: connection refused \(300ms after its reset; ready_timeout sets"):
        reset(contender("true"), never)


def still_runs(pid: int) -> bool:
    """Whether it has not ended, waited for or not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_command_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(ContenderError, match="did not end within 200ms"):
        run_shell(f"sleep 3600 & echo $$ $! > {pids}; wait", "a: reset command", 0.2)
    # Where the machine was too slow for the children to begin there is nothing to be killed.
    started = [int(pid) for pid in pids.read_text().split()] if pids.exists() else []
    until = time.monotonic() + PATIENCE_S
    while any(map(still_runs, started)):
        assert time.monotonic() < until, started
        time.sleep(0.01)


def test_a_server_left_in_the_background_does_not_hold_the_reset_up(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    run_shell(f"sleep 3600 & echo $! > {pid}", "a: reset command", PATIENCE_S)
    os.kill(int(pid.read_text()), signal.SIGKILL)  # it is still there


def test_a_stop_waits_until_a_trial_is_stored() -> None:
    stop, stored = Stop(), False
    with stop.active():
        with pytest.raises(KeyboardInterrupt), stop.deferred():
            os.kill(os.getpid(), signal.SIGINT)
            stored = True
        assert stored
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_stop_that_came_in_a_callback_which_may_raise_nothing_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    """Python swallows what the callback of a weak reference raises: Ctrl-C would have been without effect."""

    class Thing:
        """Can be referred to weakly."""

    def gone(_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

    stop, hook = Stop(), sys.unraisablehook
    with stop.active():
        thing = Thing()
        reference = weakref.ref(thing, gone)
        del thing
        assert reference() is None
        with pytest.raises(KeyboardInterrupt):
            stop.check()
        stop.check()
    assert sys.unraisablehook is hook and capsys.readouterr().err == ""


def test_the_environment_is_known() -> None:
    found = environment()
    assert found["cpu"]["logical"] >= 1 and found["memory_bytes"] > 1e6 and found["kernel"]
    assert "net.ipv4.ip_local_port_range" in found["sysctl"]


class Gone(io.StringIO):
    """A stream whose reader has left; `calls` counts what was tried all the same."""

    calls = 0

    def write(self, text: str) -> int:
        self.calls += 1
        raise BrokenPipeError(32, "Broken pipe")

    def flush(self) -> None:
        raise OSError(5, "Input/output error")


def observe(observer: PlainObserver | LiveObserver) -> None:
    planned = PlannedTrial(0, "a", Clients(4), 1, 1)
    observer.on_run_start(plan_for(A, B), 8)
    observer.on_trial_start(planned)
    observer.on_snapshot(planned, Snapshot(elapsed_s=1.0, phase="window", operations=10, errors=3, bytes_in=5000))
    observer.on_trial_end(trial(state="failed", reason="it broke"))
    observer.on_event(EVENT)
    observer.on_run_end()


def test_progress_that_nobody_reads_does_not_end_a_run() -> None:
    plain, live = Gone(), Gone()
    observe(PlainObserver(plain))
    observe(LiveObserver(Console(file=live, force_terminal=True, width=80)))
    assert plain.calls == 1 and live.calls == 1, "once it has failed nothing more is tried"


@pytest.mark.parametrize("width", [34, 60, 80])
def test_the_live_display_cuts_no_number_on_a_narrow_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bakeoff.run.observe.observer.time.monotonic", lambda: 1000.0
    )  # no second passes before it is shown
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=width, color_system=None)
    observer = LiveObserver(console)
    plan = plan_for(A, B, plan={"name": "a-plan-with-a-name-that-is-rather-long-for-a-line"})
    observer.on_run_start(plan, 1536)
    observer.on_run_end()
    planned = PlannedTrial(0, "contender-one", Clients(60), 1, 1)
    observer.on_trial_start(planned)
    recent = RecentResult(span_s=1.0, operations=900, p50_ns=1_234_000, p99_ns=56_700_000)
    figures = {"operations": 123_456, "errors": 1_234_567, "bytes_in": 98_700_000}
    snapshot = Snapshot(elapsed_s=1.0, phase="window", **figures, recent=recent)
    observer.on_snapshot(planned, snapshot)
    stream.seek(0)
    stream.truncate()
    console.print(observer._render())
    text = stream.getvalue()
    for part in (
        "0/1536",
        "26m22s left",
        "60 clients",
        "123,456 requests/s",
        "98.7 MB/s",
        "p50 1.23 ms",
        "1,234,567 errors",
    ):
        assert part in text, part
    assert max(map(len, text.splitlines())) <= width
