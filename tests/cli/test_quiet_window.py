"""While a trial is measured, the process that sends it sleeps but for one sample a second, behind its load."""

import gc
import json
import os
import pty
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.machine.thread_priority import spare
from bakeoff.agents.result import Snapshot
from bakeoff.agents.spec import TrialSpec
from bakeoff.run.driver import start_run
from bakeoff.store.sqlite.read import read_run
from bakeoff.store.sqlite.write import RunWriter
from tests.cli.conftest import Serve
from tests.control import PATIENCE_S
from tests.patient import COMMAND
from tests.unit.run import fake

WATCHED_S = 4.0
LOAD = ("bakeoff-load", "bakeoff-watch")
# Of each sample: it ends a sleep, and may wait for the terminal or for a page.
WAKES_A_SAMPLE = 3


def threads(pid: int) -> dict[int, tuple[str, int, int, set[int]]]:
    """Of each thread: its name, how often it went to sleep, its scheduling class, and its processors."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            table = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)
            tid = int(task.name)
            sleeps = int(table["voluntary_ctxt_switches"])
            found[tid] = (table["Name"], sleeps, os.sched_getscheduler(tid), os.sched_getaffinity(tid))
    return found


def drained(terminal: int) -> bytearray:
    """What a terminal is told, read in a thread."""
    received = bytearray()

    def read() -> None:
        with suppress(OSError):
            while piece := os.read(terminal, 65536):
                received.extend(piece)

    threading.Thread(target=read, daemon=True).start()
    return received


def test_one_sample_a_second_wakes_the_process_and_it_has_lower_priority_than_its_load(
    serve: Serve, tmp_path: Path
) -> None:
    core = min(os.sched_getaffinity(0))
    command = [
        "run",
        "web-url",
        f"a={serve()}",
        "--expect",
        "404",
        "--clients",
        "2",
        "--blocks",
        "1",
        "--length",
        "12s",
        "--ramp-up",
        "0s",
    ]
    command += ["--ramp-down", "0s", "--pin", str(core), "-o", "r.bakeoff"]
    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, *command], cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        received = drained(ours)
        until = time.monotonic() + PATIENCE_S
        while b"measuring" not in received:
            assert process.poll() is None and time.monotonic() < until, received.decode()
            time.sleep(0.05)
        began, before = time.monotonic(), threads(process.pid)
        time.sleep(WATCHED_S)
        after, seconds = threads(process.pid), time.monotonic() - began
        assert process.wait(PATIENCE_S) == 0, received.decode()
    os.close(ours)
    both = {tid: (before[tid], now) for tid, now in after.items() if tid in before}
    others = {tid: pair for tid, pair in both.items() if not pair[0][0].startswith(LOAD)}
    assert len(both) > len(others), "the load was under way all the time"
    wakes = sum(now[1] - then[1] for then, now in others.values())
    assert wakes <= WAKES_A_SAMPLE * (seconds + 1.0), others
    for tid, (then, now) in others.items():
        if tid == process.pid or then[0] == "bakeoff-trial":  # asleep until a signal or the end
            assert now[1] - then[1] <= 1 and now[2] == os.SCHED_OTHER, (then, now)
        else:
            assert then[2] == now[2] == os.SCHED_IDLE, (then, now)
            assert core not in now[3] or len(os.sched_getaffinity(0)) == 1, (then, now)
    load = [now for _, now in both.values() if now[0].startswith("bakeoff-load")]
    assert load and all(now[2] == os.SCHED_OTHER and now[3] == {core} for now in load)
    with closing(sqlite3.connect(tmp_path / "r.bakeoff")) as file:
        ((share, longest_s),) = file.execute("SELECT control_cpu_share, control_longest_s FROM trials").fetchall()
    assert share > 0.0 and longest_s > 0.0


def test_nothing_is_collected_nor_stored_while_a_trial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    for name in ("add_trial", "add_events", "add_soak_interval", "amend", "finish"):
        real: Callable[..., object] = getattr(RunWriter, name)

        def kept(*words: object, real: Callable[..., object] = real, name: str = name, **more: object) -> object:
            written.append(name)
            return real(*words, **more)

        monkeypatch.setattr(RunWriter, name, kept)
    seen: list[tuple[bool, int]] = []
    with fake.two_contenders() as (one, two):
        agent = fake.FakeAgent(before=lambda spec, number: seen.append((gc.isenabled(), len(written))))
        plan = fake.plan_for(one.address, two.address)
        start_run(plan, tmp_path / "x.bakeoff", [agent], fake.Notebook())
    trials = len(read_run(tmp_path / "x.bakeoff").trials)
    assert seen and not any(collects for collects, _ in seen) and gc.isenabled()
    assert written.count("add_trial") == trials
    assert len({before for _, before in seen}) <= trials, "waits of one trial see the same number of writes"


def test_a_sample_needs_no_json(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = {"workload": {"kind": "null"}, "load": {"clients": 1}, "length_s": 600.0, "seed": 1}
    session = LocalAgent().start(TrialSpec.model_validate(spec)).go()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("JSON in a window")

    with monkeypatch.context() as patched:
        for name in ("loads", "dumps"):
            patched.setattr(json, name, never)
        patched.setattr(Snapshot, "model_validate_json", never)
        assert session.next_sample() and session.snapshot().phase in ("starting", "window")
    session.cancel()
    assert session.wait(PATIENCE_S) is not None and not session.next_sample()


@pytest.mark.parametrize(
    ("allowed", "pin", "contender", "left"),
    [
        ({0, 1, 2, 3}, (1,), {0}, [2, 3]),
        ({0, 1}, (1,), {0}, [0]),
        ({0, 1, 2, 3}, (1,), {0, 1, 2, 3}, [0, 2, 3]),
        ({0, 1}, None, {0}, []),
        ({1}, (1,), set(), []),
    ],
)
def test_the_others_go_where_neither_load_nor_contenders_are(
    allowed: set[int], pin: tuple[int, ...] | None, contender: set[int], left: list[int]
) -> None:
    assert spare(allowed, pin, contender) == left


def test_a_signal_wakes_who_waits_for_a_trial_at_once() -> None:
    """By counts: the waiting thread has slept once, not ten times a second."""
    script = """
import json, os, signal, sys
from bakeoff import _engine
from bakeoff.run.stop import Stop
spec = {"workload": {"kind": "null"}, "load": {"clients": 1}, "length_s": 600, "seed": 1}
def sleeps():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("voluntary_ctxt_switches")))
with Stop().active():
    handle = _engine.start(json.dumps(spec)).go()
    handle.armed(600)
    before = sleeps()
    print("waits", flush=True)
    try:
        handle.wait(600)
    except KeyboardInterrupt:
        print(sleeps() - before)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "waits\n"
        time.sleep(1.5)
        process.send_signal(2)
        output, _ = process.communicate(timeout=PATIENCE_S)
    assert int(output) <= 5, output
