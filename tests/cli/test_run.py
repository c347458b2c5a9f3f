import json
import os
import pty
import signal
import sqlite3
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from tests import patient
from tests.cli.conftest import COMMAND, Bakeoff, Serve
from tests.control import PATIENCE_S

FAST = ["--clients", "1,2", "--operations", "200", "--length", "5m", "--blocks", "2"]
# Each of four trials, from a server that holds replies back for 20 ms: without keeping a processor busy.
OF_FOUR_SECONDS = ["--clients", "1", "--operations", "200", "--length", "5m", "--blocks", "4"]


def trials(bakeoff: Bakeoff, path: str) -> list[dict[str, object]]:
    done = bakeoff("show", path, "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)["trials"]
    return found


def test_two_contenders_from_start_to_verdict(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    done = bakeoff("run", "web-dynamic", f"fast={serve()}", f"slow={serve('--delay', '5ms')}", *FAST, "-o", "r.bakeoff")
    assert done.returncode == 0, done.stderr
    assert "fast" in done.stdout and "no verdict" in done.stdout, "2 blocks are too few for one"
    assert "bakeoff report r.bakeoff" in done.stdout
    assert "[8/8]" in done.stderr and "Traceback" not in done.stderr
    found = trials(bakeoff, "r.bakeoff")
    assert len(found) == 8 and {t["state"] for t in found} == {"ok"}
    slow = [t for t in found if t["contender"] == "slow"]
    for t in slow:
        service = t["service_ms"]
        assert isinstance(service, dict) and service["p50"] > 4.99
        assert isinstance(t["per_operation"], dict) and t["per_operation"]["dynamic"]["operations"] > 0
    assert [p.name for p in tmp_path.iterdir()] == ["r.bakeoff"]
    again = bakeoff("run", "web-dynamic", f"fast={serve()}", *FAST, "-o", "r.bakeoff")
    assert again.returncode == 2 and "exists already" in again.stderr
    assert len(trials(bakeoff, "r.bakeoff")) == 8


def test_a_plan_file_and_the_default_name_of_the_run_file(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        '[plan]\nsuite = "web-url"\nname = "my plan"\nblocks = 1\n[settings]\nclients = [2]\noperations = 300\n'
        f'[[contender]]\nname = "a"\naddress = "{serve()}/page-256-0.html"\n'
    )
    done = bakeoff("run", "p.toml", "--virtual-users", "2")
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("web-url-????????-??????.bakeoff")
    (only,) = trials(bakeoff, path.name)
    assert (only["operations"], only["state"], only["load_step_clients"]) == (300, "ok", 2)
    assert "my plan" in bakeoff("show", path.name).stdout


def requests_of(url: str) -> int:
    """What a target has counted so far; this question is not among it."""
    with urllib.request.urlopen(f"{url.rstrip('/')}/.bakeoff/counts") as reply:
        return int(json.load(reply)["requests"])


def interrupt_after_first_trial(process: subprocess.Popen[str], url: str, number: signal.Signals) -> str:
    """Send `number` in the second trial, once its server has been asked; gives what was said on standard error."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if line.startswith("[1/"):
            break
    before = requests_of(url)
    until = time.monotonic() + PATIENCE_S
    while requests_of(url) < before + 20:
        assert time.monotonic() < until, said
        time.sleep(0.01)
    process.send_signal(number)
    said += process.stderr.read()
    process.wait(PATIENCE_S)
    return said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_was_measured_and_resume_finishes(
    bakeoff: Bakeoff, serve: Serve, tmp_path: Path, number: signal.Signals
) -> None:
    url = serve("--delay", "20ms")
    words = ["run", "web-dynamic", f"a={url}", *OF_FOUR_SECONDS, "-o", "r.bakeoff"]
    with subprocess.Popen(
        [*COMMAND, *words], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        said = interrupt_after_first_trial(process, url, number)
        assert process.returncode == 130
    assert "1 of 4 trials are kept in r.bakeoff. Go on with: bakeoff resume r.bakeoff" in said
    assert "Traceback" not in said
    assert [t["state"] for t in trials(bakeoff, "r.bakeoff")] == ["ok", "interrupted"]
    assert [p.name for p in tmp_path.iterdir()] == ["r.bakeoff"], "one file remains"
    done = bakeoff("resume", "r.bakeoff")
    assert done.returncode == 0, done.stderr
    assert [t["state"] for t in trials(bakeoff, "r.bakeoff")] == ["ok"] * 4
    assert "trial interrupted" in bakeoff("show", "r.bakeoff", "--events").stdout
    done = bakeoff("resume", "r.bakeoff")
    assert done.returncode == 0 and "complete: there is nothing to do" in done.stderr


def test_kill_9_loses_at_most_the_trial_in_progress(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    url = serve("--delay", "20ms")
    words = ["run", "web-dynamic", f"a={url}", *OF_FOUR_SECONDS, "-o", "r.bakeoff"]
    with subprocess.Popen(
        [*patient.COMMAND, *words], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        interrupt_after_first_trial(process, url, signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
    before = trials(bakeoff, "r.bakeoff")
    assert [t["state"] for t in before] == ["ok"]
    connection = sqlite3.connect(tmp_path / "r.bakeoff")
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
    assert bakeoff("resume", "r.bakeoff").returncode == 0
    after = trials(bakeoff, "r.bakeoff")
    assert [t["order"] for t in after] == [0, 1, 2, 3] and after[0] == before[0]


def test_a_contender_that_dies_is_a_result(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    address = serve()
    port = address.rpartition(":")[2]
    # The reset command plays the crash: from the second slot on, nothing listens on the contender's port.
    (tmp_path / "p.toml").write_text(
        f'[plan]\nsuite = "web-dynamic"\nblocks = 2\n[settings]\nclients = [1]\noperations = 50\n'
        f'[[contender]]\nname = "a"\naddress = "{address}"\nready_timeout = "2m"\n'
        f"reset = 'echo x >> log; test $(wc -l < log) -lt 3'\n"
    )
    done = bakeoff("run", "p.toml", "-o", "r.bakeoff")
    assert done.returncode == 4, done.stderr
    first, second = trials(bakeoff, "r.bakeoff")
    assert (first["state"], second["state"]) == ("ok", "failed")
    assert "reset command ended with exit code 1" in str(second["reason"]) and port


def test_errors_are_counted_by_class(bakeoff: Bakeoff, serve: Serve) -> None:
    done = bakeoff(
        "run",
        "web-dynamic",
        f"a={serve('--refuse', '1/10')}",
        "--clients",
        "1",
        "--blocks",
        "1",
        "--operations",
        "1000",
        "--error-limit",
        "50%",
        "-o",
        "r.bakeoff",
    )
    assert done.returncode == 0, done.stderr
    assert "of the check's requests had to be repeated" in done.stderr
    (only,) = trials(bakeoff, "r.bakeoff")
    assert (only["state"], only["operations"], only["errors"]) == (
        "ok",
        900,
        {"reset_before_first_byte": 100},
    )


def test_on_a_terminal_the_progress_is_drawn(serve: Serve, tmp_path: Path) -> None:
    """For four seconds at least."""
    leader, follower = pty.openpty()
    words = [
        "run",
        "web-dynamic",
        f"a={serve('--delay', '20ms')}",
        "--clients",
        "1",
        "--operations",
        "200",
        "--blocks",
        "1",
        "-o",
        "r.bakeoff",
    ]
    drawn = bytearray()

    def read() -> None:
        while True:
            try:
                drawn.extend(os.read(leader, 65536))
            except OSError:
                return

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    done = subprocess.run(
        [*patient.COMMAND, *words],
        cwd=tmp_path,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=follower,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "150"},
        timeout=PATIENCE_S,
        check=False,
    )
    os.close(follower)
    reader.join(PATIENCE_S)
    text = drawn.decode()
    assert done.returncode == 0, text
    for part in ("1 client", "requests/s", "0 errors", "left", "block 1/1"):
        assert part in text, part
