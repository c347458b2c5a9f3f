"""A run of httperf that is killed keeps what was counted."""

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.store.records.run_records import INTERRUPTED, RunRecord
from bakeoff.store.sqlite.read import read_run
from tests.cli.conftest import Bakeoff, target
from tests.control import PATIENCE_S
from tests.patient import COMMAND

# Planned for more than two hours: without seconds.
LONG = ["--num-conns", "1000000", "--rate", "100"]


@pytest.fixture
def place() -> Iterator[list[str]]:
    """A server, as httperf is told of it."""
    with target("null", "--port", "0", "--close") as address:
        yield ["--server", "127.0.0.1", "--port", address.rstrip("/").rpartition(":")[2]]


def begun(*words: str) -> subprocess.Popen[bytes]:
    """A run whose run file is there: it has repeated its command line."""
    process = subprocess.Popen([*COMMAND, "httperf", *words], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline().startswith(b"httperf --client")
    return process


def stored(path: Path, process: subprocess.Popen[bytes], length_s: float) -> RunRecord:
    """The run file once it holds figures of so long."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        assert process.poll() is None, "it ended by itself"
        run = read_run(path)
        if run.trials and run.trials[0].window_s >= length_s:
            return run
        time.sleep(0.05)
    raise AssertionError("nothing was stored")


def test_what_was_counted_is_there_after_a_kill(place: list[str], tmp_path: Path, bakeoff: Bakeoff) -> None:
    path = tmp_path / "x.bakeoff"
    process = begun(*place, *LONG, "-o", str(path))
    before = stored(path, process, 2.0)
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    (trial,) = read_run(path).trials
    figures = trial.figures(HttperfFigures)
    assert trial.state == INTERRUPTED and "broken off" in trial.reason
    assert figures.replies >= before.trials[0].figures(HttperfFigures).replies > 0
    assert figures.replies == figures.statuses.s2xx == trial.operations
    assert figures.replies <= figures.requests <= figures.connections <= figures.starts <= 1_000_000
    shown = bakeoff("httperf", "--side-by-side", path)
    assert shown.returncode == 0 and "broken off: these are the figures of its first" in shown.stdout
    assert f"{figures.replies:d}" in shown.stdout.replace(",", "")
    assert bakeoff("show", path).returncode == 0 and bakeoff("report", path, "-o", "x.html").returncode == 0


def test_a_long_run_that_is_stopped_has_no_seconds_and_one_result(place: list[str], tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    process = begun(*place, *LONG, "-o", str(path))
    before = stored(path, process, 1.0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    (trial,) = read_run(path).trials
    assert trial.per_second == () and "broken off" not in trial.reason and trial.state == INTERRUPTED
    assert trial.window_s >= before.trials[0].window_s and trial.service.p50_ns
