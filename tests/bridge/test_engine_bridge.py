"""The seam between Python and Rust: errors, cancel, signals, the interpreter lock, histograms."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bakeoff import _engine
from bakeoff.agents.result import Snapshot
from tests.control import PATIENCE_S

NULL: dict[str, Any] = {"workload": {"kind": "null"}, "load": {"clients": 2}, "length_s": 3600}


def start(**changes: Any) -> Any:
    return _engine.start(json.dumps(NULL | changes)).go()


def test_bad_specifications_raise_with_words() -> None:
    for text, word in [
        ("{", "malformed"),
        (json.dumps(NULL | {"colour": 1}), "colour"),
        (json.dumps(NULL | {"load": {"clients": 0}}), "clients"),
        (json.dumps(NULL | {"workload": {"kind": "gopher"}}), "gopher"),
        (json.dumps(NULL | {"ramp_up_s": 4000}), "no time is left"),
    ]:
        with pytest.raises(_engine.SpecError, match=word):
            _engine.start(text)


def test_a_trial_is_a_handle_that_can_be_watched_and_cancelled() -> None:
    handle = start()
    while (snapshot := handle.snapshot())["operations"] == 0:
        assert handle.wait(0.01) is None
    assert snapshot["phase"] == "window"
    handle.cancel()
    result = json.loads(handle.wait(PATIENCE_S).json())
    assert result["cancelled"] is True
    assert 0 < result["window_s"] <= result["elapsed_s"] < 3600, "it ended before its time"


def test_a_trial_sends_nothing_before_it_is_told_to() -> None:
    handle = _engine.start(json.dumps(NULL | {"max_operations": 100}))
    assert handle.armed(PATIENCE_S) and handle.wait(0.0) is None
    assert (handle.snapshot()["phase"], handle.snapshot()["operations"]) == ("armed", 0)
    planned_ns = time.monotonic_ns() + 50_000_000
    assert handle.go(planned_ns) is handle
    handle.go(0)  # the first word counts
    result = json.loads(handle.wait(PATIENCE_S).json())
    assert result["operations"] == 100
    start = result["start"]
    assert start["planned_ns"] == planned_ns <= start["real_ns"] <= time.monotonic_ns()


def test_a_trial_that_is_told_before_it_is_ready_begins_once_it_is() -> None:
    before_ns = time.monotonic_ns()
    handle = _engine.start(json.dumps(NULL | {"max_operations": 100})).go()
    assert handle.armed(PATIENCE_S)
    start = json.loads(handle.wait(PATIENCE_S).json())["start"]
    assert before_ns < start["planned_ns"] <= start["real_ns"] <= time.monotonic_ns()


def test_a_start_that_has_passed_is_made_up_for_at_once_and_told() -> None:
    handle = _engine.start(json.dumps(NULL | {"max_operations": 100})).go(1)
    start = json.loads(handle.wait(PATIENCE_S).json())["start"]
    assert start["planned_ns"] == 1 < start["real_ns"] <= time.monotonic_ns()


@pytest.mark.parametrize("in_ns", [None, 3_600_000_000_000])
def test_a_trial_can_be_cancelled_before_it_begins(in_ns: int | None) -> None:
    handle = _engine.start(json.dumps(NULL))
    assert handle.armed(PATIENCE_S)
    if in_ns is not None:
        handle.go(time.monotonic_ns() + in_ns)
    handle.cancel()
    result = json.loads(handle.wait(PATIENCE_S).json())
    assert (result["cancelled"], result["start"], result["operations"]) == (True, None, 0)
    assert handle.armed(0.0), "there is nothing to wait for"


def test_live_figures_end_as_the_result() -> None:
    handle = start(length_s=0.3, ramp_up_s=0.1)
    while (outcome := handle.wait(0.05)) is None:
        seen = Snapshot.model_validate(handle.snapshot())
        assert seen.operations == sum(count.operations for count in seen.per_operation)
    result, seen = json.loads(outcome.json()), Snapshot.model_validate(handle.snapshot())
    assert seen.operations == result["operations"] + result["outside"]["operations"]
    assert [count.name for count in seen.per_operation] == ["nothing"]
    assert seen.recent.operations == sum(count for _, count in seen.recent.times)


def test_waiting_releases_the_interpreter_lock() -> None:
    """The trial ends only when another thread of the interpreter has cancelled it."""
    handle = start()
    thread = threading.Timer(0.1, handle.cancel)
    thread.start()
    outcome = handle.wait(PATIENCE_S)
    assert outcome is not None and json.loads(outcome.json())["cancelled"] is True
    thread.join()


def test_ctrl_c_ends_a_wait_at_once() -> None:
    code = (
        "import json; from bakeoff import _engine; print('ready', flush=True)\n"
        f"_engine.start({json.dumps(json.dumps(NULL))}).go().wait(3600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    # The wait has begun when the trial's threads are there.
    while len(list(Path(f"/proc/{process.pid}/task").iterdir())) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert b"KeyboardInterrupt" in errors


def test_histogram_blobs_give_the_percentiles_of_the_result() -> None:
    outcome = start(max_operations=100_000).wait(PATIENCE_S)
    result = json.loads(outcome.json())
    blobs = outcome.histograms()
    assert set(blobs) >= {"service", "op/nothing"}
    assert json.loads(_engine.ForTests.summary(blobs["service"])) == result["service"]
    assert _engine.quantiles(blobs["service"], [0.5])[0] == result["service"]["p50_ns"]
    p50_ns = result["service"]["p50_ns"]
    within = _engine.counts_within(blobs["service"], [0, p50_ns, 2**63])
    assert within[0] == 0 and within[1] >= result["operations"] / 2 and within[2] == result["operations"]
    merged = _engine.ForTests.merge([blobs["service"], blobs["service"]])
    assert json.loads(_engine.ForTests.summary(merged))["count"] == 2 * result["operations"]


def test_a_broken_histogram_is_an_error() -> None:
    with pytest.raises(_engine.EngineError):
        _engine.quantiles(b"not a histogram", [0.5])
    with pytest.raises(_engine.EngineError):
        _engine.counts_within(b"not a histogram", [1])


def test_the_build_can_be_named() -> None:
    info = dict(_engine.build_info())
    assert info["version"]
    assert info["profile"] == "release", "tests and figures must come from a release build"
    assert "web" in _engine.workloads()
