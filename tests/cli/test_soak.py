"""`bakeoff soak` as a user has it: what a crash, a full disk and Ctrl-C leave, and how it goes on."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bakeoff.store.sqlite.read import pending, read_run
from tests.cli.conftest import Bakeoff, Serve, target
from tests.control import PATIENCE_S
from tests.files.mounts import command, unmount
from tests.patient import COMMAND

WORDS = ["--interval", "200ms", "--clients", "2"]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """`serve(flag, …)` starts a server of one page, not a fast one, and gives its URL."""
    with ExitStack() as stack:
        yield lambda *words: stack.enter_context(target("web", "--port", "0", "--delay", "5ms", *words))


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    environment = os.environ | {"COLUMNS": "200"}
    return subprocess.Popen(
        [*COMMAND, *words], cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )


def until_row(process: subprocess.Popen[str], number: int) -> None:
    """Read what it tells until this interval has been stored."""
    assert process.stderr is not None
    texts = ""
    for line in process.stderr:
        texts += line
        if f", interval {number} (" in line:
            return
    raise AssertionError(f"it ended before interval {number}: {texts}")


def test_kill_and_ctrl_c_lose_no_row_and_the_time_adds_up(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    process = start(tmp_path, "soak", "web-url", f"a={serve()}", "--for", "10s", *WORDS, "-o", "x.bakeoff")
    until_row(process, 3)
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    killed = read_run(path)
    assert len(killed.soak_intervals) >= 3 and killed.trials == () and len(pending(path)) == 1
    shown = bakeoff("compare", "x.bakeoff")
    assert shown.returncode == 0 and "Intervals of a" in shown.stdout, "a soak can be looked at before its end"

    process = start(tmp_path, "resume", "x.bakeoff")
    until_row(process, len(killed.soak_intervals) + 2)
    process.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=PATIENCE_S)
    stopped = read_run(path)
    assert process.returncode == 130 and "Go on with: bakeoff resume x.bakeoff" in output
    assert stopped.soak_intervals[: len(killed.soak_intervals)] == killed.soak_intervals
    assert stopped.trials[0].operations == sum(
        interval.operations for interval in stopped.soak_intervals if interval.segment == 2
    )

    done = bakeoff("resume", "x.bakeoff")
    assert done.returncode == 0, done.stderr
    run = read_run(path)
    assert run.soak_intervals[: len(stopped.soak_intervals)] == stopped.soak_intervals and pending(path) == ()
    assert [interval.number for interval in run.soak_intervals] == list(range(len(run.soak_intervals)))
    assert {interval.segment for interval in run.soak_intervals} == {1, 2, 3}
    assert sum(interval.length_s for interval in run.soak_intervals) == pytest.approx(10.0, abs=0.001)
    assert "in 3 segments" in done.stdout and "are missing after interval" in done.stdout

    output = json.loads(bakeoff("compare", "x.bakeoff", "--json").stdout)["soak"]
    (one,) = output["contenders"]
    assert (output["interval_s"], one["segments"], len(one["gaps"])) == (0.2, 3, 2)
    assert one["operations"] == sum(interval.operations for interval in run.soak_intervals)
    gaps_s = sum(gap["length_s"] for gap in one["gaps"])
    moments = [interval["started_at"] for interval in one["intervals"]]
    assert gaps_s > 0 and moments == sorted(moments)
    page = bakeoff("report", "x.bakeoff", "-o", "x.html")
    assert page.returncode == 0 and "chart-soak-rate" in (tmp_path / "x.html").read_text()


def test_a_full_disk_loses_nothing_that_was_stored_and_the_soak_goes_on(
    bakeoff: Bakeoff, serve: Serve, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    command("mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", small)
    try:
        process = start(tmp_path, "soak", "web-url", f"a={serve()}", "--for", "12s", *WORDS, "-o", "small/x.bakeoff")
        until_row(process, 3)
        with (small / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
            while True:
                filler.write(bytes(4096))
        _, output = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 2 and "the disk is full, what was measured so far is kept" in output
        (small / "filler").unlink()
        kept = read_run(small / "x.bakeoff").soak_intervals
        assert len(kept) >= 3
        process = start(tmp_path, "resume", "small/x.bakeoff")
        until_row(process, len(kept) + 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
        assert read_run(small / "x.bakeoff").soak_intervals[: len(kept)] == kept
    finally:
        unmount(small)


def test_a_rule_that_stops_has_an_exit_code_and_the_next_contender_is_not_spared(
    bakeoff: Bakeoff, serve: Serve, tmp_path: Path
) -> None:
    words = ["--for", "9s", "--interval", "3s", "--clients", "2", "--stop-if", "errors>20%", "-o", "x.bakeoff"]
    done = bakeoff("soak", "web-url", f"bad={serve('--status', '503/2')}", f"good={serve()}", *words)
    assert done.returncode == 99, done.stderr
    assert "bakeoff: bad: stopped early: errors>20%: " in done.stderr
    assert re.search(r" in interval [1-3]\b", done.stderr), done.stderr
    states = {trial.contender: trial.state for trial in read_run(tmp_path / "x.bakeoff").trials}
    assert states == {"bad": "failed", "good": "ok"}
    assert (
        "what the intervals" not in done.stderr
        and "the run file takes at most 60 kB for each of 6 intervals" in done.stderr
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "give the length of the soak once: --for 28h"),
        (["--for", "1h", "--length", "1h"], "give the length of the soak once"),
        (["--for", "long"], "--for: 'long' is not a duration"),
        (["--for", "1h", "--interval", "1ms"], "--interval: "),
        (["--for", "700h", "--interval", "1s"], "at most 10,000 intervals in a trial"),
        (["--for", "1h", "--clients", "1,2"], "a soak has one load"),
        (["--for", "1h", "--stop-if", "error>1%"], "--stop-if: 'error>1%' is no rule for errors, p50"),
        (["--for", "1h", "--stop-if", "p99<1s"], "would stop a healthy soak"),
        (["--for", "1h", "--operations", "9"], "a soak ends by time"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(bakeoff: Bakeoff, words: list[str], sentence: str) -> None:
    clients = [] if "--clients" in words else ["--clients", "1"]
    done = bakeoff("soak", "web-url", "a=http://127.0.0.1:9", *clients, *words)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_files_have_no_soak(bakeoff: Bakeoff, tmp_path: Path) -> None:
    done = bakeoff("soak", "file-mix", f"a={tmp_path}", "--for", "1h")
    assert done.returncode == 2 and "belongs to suites of kind" in done.stderr
