"""Real mail servers: every message that they accept is read once and unchanged, with 250 accounts of one CSV file."""

import contextlib
import csv
import io
import json
import math
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bakeoff.store.sqlite.read import read_run
from bakeoff.testdata.mail.accounts import Account, new_accounts, write_accounts
from tests.control import PATIENCE_S, went_well
from tests.forks import COMMAND
from tests.servers.mail_servers import STARTERS, MailServer

USERS = 250


def bakeoff(*words: str, timeout_s: float = PATIENCE_S) -> subprocess.CompletedProcess[str]:
    """The command, with its output."""
    command = [*COMMAND, *words]
    environment = os.environ | {"COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, env=environment)


@pytest.fixture(scope="module")
def accounts() -> list[Account]:
    return new_accounts(USERS, "bakeoff.test")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that users of servers can reach."""
    base = Path(tempfile.mkdtemp(prefix="bakeoff-mail-"))
    base.chmod(0o755)
    yield base
    shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(scope="module", params=sorted(STARTERS))
def server(
    request: pytest.FixtureRequest, folder: Path, accounts: list[Account]
) -> Iterator[tuple[str, MailServer, Path]]:
    users = folder / "users.csv"
    if not users.exists():
        write_accounts(users, accounts)
    started = STARTERS[request.param](folder / request.param, accounts)
    yield request.param, started, users
    started.stop()


def test_every_account_is_ready(server: tuple[str, MailServer, Path]) -> None:
    _, started, users = server
    done = bakeoff("users", "check", str(users), *started.address.split(","), "--parallel", "16")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{USERS} of {USERS} accounts are ready" in done.stdout


def run_department(name: str, address: str, users: Path, file: Path, *words: str) -> dict[str, Any]:
    """10 clients with 25 mailboxes and 3 threads each, the short suite, for some seconds: what the workload says."""
    command = ["run", "mail-pop", f"{name}={address}", "--size", "long", "--clients", "10", "--blocks", "1"]
    command += ["--users", str(users), "--length", "8s", "--ramp-up", "500ms", "--ramp-down", "500ms"]
    done = bakeoff(*command, *words, "-o", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    (trial,) = read_run(file).trials
    assert went_well(trial.state, trial.reason), (trial.reason, json.dumps(trial.workload["refusals"]))
    assert trial.workload["ledger"]["balanced"]
    return trial.workload | {"printed": done.stdout}


def test_the_department_keeps_all_its_mail(server: tuple[str, MailServer, Path], tmp_path: Path) -> None:
    """With all that is difficult in bodies, but for GreenMail, see below."""
    name, started, users = server
    bodies = "plain" if name == "greenmail" else "hard"
    words = ["--bodies", bodies, "--recipients", "1=3,2=1"]
    workload = run_department(name, started.address, users, tmp_path / "run.bakeoff", *words)
    counts = workload["ledger"]["counts"]
    assert counts["accepted"] == counts["delivered"] > 30, counts
    assert {k: v for k, v in counts.items() if v and k not in ("accepted", "delivered", "late", "not_sent")} == {}
    assert workload["init"]["mailboxes"] == USERS


@pytest.mark.parametrize("server", ["greenmail"], indirect=True)
def test_a_server_that_changes_bodies_is_found_out(server: tuple[str, MailServer, Path], tmp_path: Path) -> None:
    """GreenMail drops blanks and empty lines at the end of a body, as poplib sees, too."""
    name, started, users = server
    file = tmp_path / "run.bakeoff"
    workload = run_department(name, started.address, users, file, "--bodies", "hard", "--recipients", "1=3,2=1")
    counts = workload["ledger"]["counts"]
    assert 0 < counts["corrupt"] < counts["accepted"] == counts["delivered"] + counts["corrupt"]
    assert "did not keep its mail" in workload["printed"]
    html = tmp_path / "report.html"
    assert bakeoff("report", str(file), "-o", str(html)).returncode == 0
    assert "What became of the messages" in html.read_text()


def test_messages_that_postfix_threw_away_are_listed_as_they_stand_in_its_log(
    folder: Path, accounts: list[Account], tmp_path: Path
) -> None:
    """What it accepts for one of eight mailboxes goes to its discard service."""
    users, file = tmp_path / "users.csv", tmp_path / "run.bakeoff"
    write_accounts(users, accounts[:8])
    victim = accounts[2].address
    started = STARTERS["postfix"](folder / "discarding", accounts, discarded=victim)
    command = ["run", "mail-pop", f"postfix={started.address}", "--size", "quick", "--clients", "2", "--mailboxes", "4"]
    command += ["--users", str(users), "--length", "5s", "--blocks", "1", "--drain-limit", "20s", "-o", str(file)]
    try:
        done = bakeoff(*command)
    finally:
        started.stop()
    assert done.returncode == 0, done.stderr
    log = (folder / "discarding/postfix.log").read_text()
    ids = dict(re.findall(r"cleanup\[\d+\]: (\w+): message-id=(<[^>]+>)", log))
    thrown = {ids[queue] for queue, to in re.findall(r"discard\[\d+\]: (\w+): to=<([^>]+)>", log) if to == victim}
    exported = bakeoff("export", str(file), "--to", "lost-messages", "-o", "-")
    rows = list(csv.DictReader(io.StringIO(exported.stdout)))
    # The look at the server before the run may have sent some of its own.
    (trial,) = read_run(file).trials
    assert {row["fate"] for row in rows} == {"lost"} and len(rows) == trial.workload["ledger"]["counts"]["lost"] > 0
    assert {row["message_id"] for row in rows} == thrown and {row["recipient"] for row in rows} == {victim}
    for row in rows:
        queue = next(queue for queue, identity in ids.items() if identity == row["message_id"])
        assert re.search(rf"{queue}: from=<{re.escape(row['sender'])}>", log), row


def greeting_s(started: MailServer, connections: int) -> float:
    """How long this machine takes now until a server has greeted so many connections, made at once."""
    host, _, port = started.address.split(",")[0].removeprefix("smtp=").rpartition(":")
    before = time.monotonic()
    with contextlib.ExitStack() as stack:
        made = [
            stack.enter_context(socket.create_connection((host, int(port)), PATIENCE_S)) for _ in range(connections)
        ]
        for connection in made:
            assert connection.recv(3) == b"220"
        length_s = time.monotonic() - before
        for connection in made:
            connection.sendall(b"QUIT\r\n")
            while connection.recv(4096):
                pass
    return length_s


@pytest.mark.parametrize(("name", "setting"), [("postfix", "smtpd_processes"), ("exim", "accept_max")])
def test_a_cap_of_twenty_sessions_is_named(
    name: str, setting: str, folder: Path, accounts: list[Account], tmp_path: Path
) -> None:
    """30 threads send. Postfix lets the others wait for a process, Exim says 421.

    The server thinks about each message for twice as long as this machine needs now to greet twenty, so that its
    places are taken for most of the time on a busy one as well, and little mail is left to deliver.
    """
    users, file = tmp_path / "users.csv", tmp_path / "run.bakeoff"
    write_accounts(users, accounts)
    started = STARTERS[name](folder / f"control-{name}", accounts, **{setting: 20})
    try:
        think_s = math.ceil(2 * greeting_s(started, 20))
    finally:
        started.stop()
    started = STARTERS[name](folder / f"capped-{name}", accounts, **{setting: 20, "think_s": think_s})
    command = ["run", "mail-pop", f"{name}={started.address}", "--size", "long", "--clients", "10", "--blocks", "1"]
    command += ["--users", str(users), "--length", f"{8 * think_s}s", "--ramp-up", "500ms", "--ramp-down", "500ms"]
    # At the end of the load those that wait in front of Postfix are waited for as long as this; none of it is death.
    command += ["--reply-timeout", f"{20 * think_s}s", "--dead-after", f"{100 * think_s}s"]
    try:
        done = bakeoff(*command, "--sending-share", "100%", "--sizes", "20KiB", "-o", str(file))
    finally:
        started.stop()
    (trial,) = read_run(file).trials
    assert done.returncode == (0 if trial.state == "ok" else 4), done.stderr
    assert trial.state == "ok" or name == "exim", trial.reason
    door = trial.workload["sessions"]["smtp"]
    assert door["peak"] == 20, (door, trial.workload["refusals"])
    assert ("busy_421" in trial.workload["refusals"]["measured"]["counts"]) is (name == "exim")
    assert f"{name}: never more than 20 SMTP sessions" in done.stdout
    assert "equals the limit of 20" in done.stdout
