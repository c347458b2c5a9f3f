"""A generator that is stopped from outside must say so, and must not blame the server for it."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.result import TrialResult
from bakeoff.run.kind import run_part
from bakeoff.run.outcome.disturbances import LOST_SHARE, stood_still
from bakeoff.run.outcome.judge import judge
from tests.conftest import Target, app_workload, web_workload
from tests.truth.test_mail_delay import workload as mail_workload
from tests.unit.run.fake import WEB

TRIAL = """
import json, sys
from bakeoff import _engine
handle = _engine.start(sys.argv[1]).go()
outcome = None
while outcome is None:
    outcome = handle.wait(0.02)
    print(handle.snapshot()["elapsed_s"], flush=True)
print(outcome.json())
"""


def stopped(workload: dict[str, Any], at_s: float, for_s: float, **spec: Any) -> TrialResult:
    """The result of a trial whose process is stopped after `at_s` for `for_s` seconds."""
    whole = {"load": {"clients": 4}, "seed": 1, **spec, "workload": workload}
    process = subprocess.Popen([sys.executable, "-c", TRIAL, json.dumps(whole)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        while float(process.stdout.readline()) < at_s:
            pass
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(for_s)
        process.send_signal(signal.SIGCONT)
        last = process.stdout.read().splitlines()[-1]
    finally:
        process.kill()
        process.wait()
    return TrialResult.model_validate_json(last)


def file_workload(folder: Path) -> dict[str, Any]:
    """Clients of the office mix in a folder."""
    return {
        "kind": "file-mix", "folder": str(folder), "loadfile": None, "once": False, "resolve": True,
        "workspace_bytes": 1 << 20, "flush": False, "verify": True, "reuse": None, "keep": False, "stall_s": 60.0,
        "iteration_bytes": None, "iteration_pause_s": 0.0,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["web", "files"])
def test_a_stop_within_a_trial_voids_it(target: Callable[..., Target], tmp_path: Path, kind: str) -> None:
    workload = web_workload(target().address) if kind == "web" else file_workload(tmp_path)
    result = stopped(workload, 0.4, 0.6, length_s=6.0)
    assert result.operations > 0 and result.errors_total == 0
    disturbances = result.generator.disturbances
    assert disturbances is not None
    assert max(stop.window_s for stop in disturbances.stops) >= 0.5
    state, reason = judge(result, 0.05, WEB)
    assert state == "voided" and "did not run for" in reason, (state, reason)


def test_a_stop_over_the_end_of_a_trial_voids_it_and_blames_nobody(target: Callable[..., Target]) -> None:
    result = stopped(web_workload(target().address), 1.0, 4.0, length_s=4.0, reply_timeout_s=0.5)
    assert result.errors == {}, "the replies had come: they were only not read"
    assert result.unfinished.oldest_s == 0.0
    state, reason = judge(result, 0.05, WEB)
    assert state == "voided" and "did not run for" in reason, (state, reason)


def test_requests_that_wait_while_the_generator_stands_do_not_time_out(target: Callable[..., Target]) -> None:
    """The reply came long before its time-out, and is found when the generator goes on."""
    result = stopped(web_workload(target(delay_s=0.05).address), 0.5, 1.2, length_s=5.0, reply_timeout_s=1.1)
    assert result.errors == {}


def stopped_in_slices(workload: dict[str, Any], slice_s: float, share: float, **spec: Any) -> TrialResult:
    """The result of a trial whose process is stopped for slices of so many seconds, `share` of its time."""
    whole = {"load": {"clients": 4}, "seed": 1, **spec, "workload": workload}
    process = subprocess.Popen([sys.executable, "-c", TRIAL, json.dumps(whole)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        while float(process.stdout.readline()) < 0.2:
            pass
        until_s = time.monotonic() + 2.5
        while time.monotonic() < until_s and process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            time.sleep(slice_s)
            process.send_signal(signal.SIGCONT)
            time.sleep(slice_s * (1.0 / share - 1.0))
        last = process.stdout.read().splitlines()[-1]
    finally:
        process.kill()
        process.wait()
    return TrialResult.model_validate_json(last)


@pytest.mark.parametrize("slice_ms", [5, 20, 80, 400, 1_000])
@pytest.mark.parametrize("kind", ["web", "files"])
def test_stops_in_slices_add_up_and_void_the_trial(
    target: Callable[..., Target], tmp_path: Path, kind: str, slice_ms: int
) -> None:
    workload = web_workload(target().address) if kind == "web" else file_workload(tmp_path)
    result = stopped_in_slices(workload, slice_ms / 1e3, 0.25, length_s=4.0)
    disturbances = result.generator.disturbances
    assert disturbances is not None and disturbances.interrupted is not None and disturbances.stopped_s is not None
    # A stop that hit a wait for a processor interrupted no sleep: it is seen whole, where it is long.
    assert disturbances.interrupted >= 1 or stood_still(disturbances) >= slice_ms / 1e3
    assert disturbances.stopped_s >= LOST_SHARE * result.window_s, disturbances
    state, reason = judge(result, 0.05, WEB)
    assert state == "voided" and ("was stopped for" in reason or "did not run for" in reason), (state, reason)


@pytest.mark.parametrize("slice_ms", [5, 400])
@pytest.mark.parametrize("kind", ["mail", "app"])
def test_stops_in_slices_void_trials_of_mail_and_of_the_app_too(
    target: Callable[..., Target], kind: str, slice_ms: int
) -> None:
    workload = app_workload(target(kind="app").address) if kind == "app" else mail_workload(target(kind="mail").address)
    result = stopped_in_slices(workload, slice_ms / 1e3, 0.25, length_s=4.0)
    assert result.operations > 0
    state, reason = judge(result, 0.05, run_part(kind))
    assert state == "voided" and ("was stopped for" in reason or "did not run for" in reason), (state, reason)


@pytest.mark.parametrize("kind", ["web", "files"])
def test_nobody_stopped_it_and_all_waits_are_measured(target: Callable[..., Target], tmp_path: Path, kind: str) -> None:
    workload = web_workload(target().address) if kind == "web" else file_workload(tmp_path)
    whole = {"load": {"clients": 4}, "seed": 1, "length_s": 1.0, "workload": workload}
    process = subprocess.run(
        [sys.executable, "-c", TRIAL, json.dumps(whole)],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    result = TrialResult.model_validate_json(process.stdout.splitlines()[-1])
    assert result.generator.disturbances is not None and result.generator.disturbances.interrupted == 0
    # Threads that nobody measured have no share, not one of nothing; this kernel measures, and no wait is without any.
    assert Path("/proc/thread-self/schedstat").exists() == (result.generator.run_delay_share is not None)
