"""Logs that nginx and Apache write themselves, replayed: what a server logs of a replay is the log again."""

import gzip
import http.client
import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.kinds.replay.figures import ReplayFigures
from bakeoff.kinds.replay.log import read_log
from bakeoff.store.sqlite.read import read_run
from tests.control import PATIENCE_S, went_well
from tests.forks import COMMAND
from tests.servers.conftest import Server

StartServer = Callable[..., Server]
ASKED = ("/index.html", "/a.html?q=1&r=%20", "/missing", '/quoted"path', "/a.html")


@pytest.fixture(scope="module")
def site(public_folder: Callable[[str], Path]) -> Path:
    root = public_folder("replay-site")
    for name in ("index.html", "a.html"):
        (root / name).write_text(f"<p>{name}</p>" * 30)
    return root


def ask(server: Server, count: int) -> None:
    """Requests of a visitor, some of whom cannot speak HTTP."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=PATIENCE_S)
    for number in range(count):
        method = "HEAD" if number % 7 == 6 else "POST" if number % 11 == 10 else "GET"
        connection.request(method, ASKED[number % len(ASKED)])
        connection.getresponse().read()
    connection.close()
    host, _, port = server.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as rude:
        rude.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        rude.recv(4096)


# What the checks before a run ask, and that after it.
CHECKS = 2


def log_of(server: Server, least: int) -> list[str]:
    """The lines of a server's log, once there are so many."""
    until = time.monotonic() + PATIENCE_S
    path = server.folder / "access.log"
    while time.monotonic() < until:
        found = path.read_text().splitlines()
        if len(found) >= least:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{path} has only {len(found)} lines")


def requests_of(found: list[str]) -> list[tuple[str, str]]:
    """Request and status of each line that has one."""
    matches = (re.search(r'\] "((?:GET|HEAD) .* HTTP/1\.1)" (\d{3})', line) for line in found)
    return [(match[1], match[2]) for match in matches if match]


@pytest.mark.parametrize("kind", ["nginx-log", "apache-log"])
def test_what_a_server_logs_of_its_replayed_log_is_that_log(
    start_server: StartServer, site: Path, kind: str, tmp_path: Path
) -> None:
    server = start_server(kind, site)
    ask(server, 40)
    before = log_of(server, 41)
    packed = tmp_path / "access.log.gz"
    packed.write_bytes(gzip.compress("".join(f"{line}\n" for line in before).encode()))
    facts = read_log(packed, (), False)
    assert (facts.requests, facts.left_out) == (len(requests_of(before)), {"POST": 3})
    assert facts.faults and not facts.backwards
    assert bool(facts.hosts) == (kind == "apache-log")

    run_file = tmp_path / "run.bakeoff"
    command = [*COMMAND, "run", "replay", "--log", str(packed), f"a={server.url}"]
    bounded = ["--blocks", "2", "--rate", "50", "--most-connections", "1", "-o", str(run_file)]
    done = subprocess.run([*command, *bounded], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    trials = read_run(run_file).trials
    asked = requests_of(before)
    # Behind what the checks asked come the blocks, each with the log in its order, but for what never began; then the
    # question whether the server still answers.
    began = [asked[: trial.starts.offered - trial.starts.never_started] for trial in trials if trial.starts]
    expected = [request for block in began for request in block]
    replayed = requests_of(log_of(server, len(before) + CHECKS + len(expected)))
    assert len(trials) == 2 and replayed[-len(expected) - 1 : -1] == expected
    for trial in trials:
        rows = trial.figures(ReplayFigures).paths.rows
        assert went_well(trial.state, trial.reason) and sum(row.asked for row in rows) == facts.requests
        assert all(row.other_status == 0 for row in rows)
