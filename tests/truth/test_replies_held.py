"""Servers that answer rightly while they are looked at, and cheaply afterwards: none of them may win.

The honest server and the cheat are of one make, and run for a count of operations: replies decide.
"""

import contextlib
import hashlib
import itertools
import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Target
from tests.forks import COMMAND
from tests.truth.test_rough_servers import Handler, read_request, rough

__all__ = ["rough"]
BODY = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(64))
OTHER = bytes(byte ^ 1 for byte in BODY)
TRIES = 3
# Gates that a busy machine can close for a server that does its work: the run is made again.
OF_MACHINES = {"Little's law", "generator", "generator stopped", "schedule", "other load"}
LATER = 60  # replies that are right before a cheat begins


def reply(body: bytes = BODY, status: str = "200 OK", kind: str = "text/html") -> bytes:
    length = b"" if status.startswith("204") else b"Content-Length: %d\r\n" % len(body)
    return b"HTTP/1.1 %s\r\nContent-Type: %s\r\n%s\r\n" % (status.encode(), kind.encode(), length) + body


def changing(number: int, body: bytes = BODY) -> bytes:
    return reply(b"%016d" % number + body)


Says = Callable[[int], bytes]
HONEST: Says = lambda number: reply()  # noqa: E731
CHEATS: dict[str, Says] = {
    "204": lambda number: reply() if number < LATER else reply(b"", "204 No Content"),
    "203": lambda number: reply() if number < LATER else reply(status="203 Non-Authoritative Information"),
    "206": lambda number: reply() if number < LATER else reply(status="206 Partial Content"),
    "database error": lambda number: reply() if number < LATER else reply(b"Database error"),
    "other bytes of the same length": lambda number: reply() if number < LATER else reply(OTHER),
    "a page of 1,024": lambda number: reply() if number < LATER else reply(BODY[:1024]),
    "22 % missing": lambda number: reply() if number < LATER else reply(BODY[: len(BODY) * 78 // 100]),
    "every second one": lambda number: reply() if number % 2 else reply(OTHER),
    "right at each hundredth": lambda number: reply() if number < LATER or number % 100 == 0 else reply(OTHER),
    "an error page now and then": lambda number: reply() if number < LATER or number % 7 else reply(b"Database error"),
}


def served(rough: Callable[[Handler], str], says: Says) -> str:
    """A server of keep-alive connections whose n-th reply is what `says` of n."""
    count, lock = itertools.count(), threading.Lock()

    def handle(connection: socket.socket, _number: int) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while read_request(connection):
            with lock:
                number = next(count)
            connection.sendall(says(number))

    return rough(handle)


def compared(folder: Path, suite: str, addresses: dict[str, str], *flags: str) -> dict[str, Any]:
    """What a comparison of the contenders says; of a machine too busy to let the honest one end its trials another."""
    contenders = [f"{name}={address}" for name, address in addresses.items()]
    for attempt in range(TRIES):
        path = folder / f"held-{attempt}.bakeoff"
        run = ["run", suite, *contenders, "--blocks", "6", "-o", str(path), *flags]
        result = subprocess.run([*COMMAND, *run], capture_output=True, text=True, check=False)
        assert path.exists(), result.stdout + result.stderr
        shown = subprocess.run([*COMMAND, "compare", str(path), "--json"], capture_output=True, text=True, check=False)
        found: dict[str, Any] = json.loads(shown.stdout)
        honest = [one for one in found["contenders"] if one["name"] == "honest"]
        failed = any(one["trials_failed"] or one["trials_voided"] for one in honest)
        if not failed and not OF_MACHINES.intersection(decisive(found)):
            break
    return found


def decisive(found: dict[str, Any]) -> list[str]:
    """Gates that withhold a verdict."""
    withheld = [pair["primary"] for pair in found["pairs"] if pair["primary"]["verdict"]["kind"] == "withheld"]
    return [gate["name"] for primary in withheld for gate in primary["gates"] if gate["level"] == "red"]


def verdicts(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [pair["primary"]["verdict"] for pair in found["pairs"]]


def has_lost(found: dict[str, Any]) -> bool:
    """The cheat is disqualified, or the honest server is the better one."""
    return all(
        verdict["kind"] == "disqualified" or (verdict["kind"], verdict["winner"]) == ("better", "honest")
        for verdict in verdicts(found)
    )


OPERATIONS = ("--operations", "400", "--clients", "2")


@pytest.mark.parametrize("cheat", CHEATS)
def test_no_cheat_wins_in_a_closed_loop(rough: Callable[..., str], tmp_path: Path, cheat: str) -> None:
    addresses = {"honest": f"http://{served(rough, HONEST)}/", "cheat": f"http://{served(rough, CHEATS[cheat])}/"}
    found = compared(tmp_path, "web-url", addresses, *OPERATIONS)
    assert has_lost(found), (found["headline"], verdicts(found))


@pytest.mark.parametrize("cheat", ["204", "other bytes of the same length"])
def test_no_cheat_wins_at_a_rate(rough: Callable[..., str], tmp_path: Path, cheat: str) -> None:
    addresses = {"honest": f"http://{served(rough, HONEST)}/", "cheat": f"http://{served(rough, CHEATS[cheat])}/"}
    found = compared(tmp_path, "web-url", addresses, "--rate", "100", "--length", "2s", "--ramp-up", "0s")
    assert all(verdict["winner"] != "cheat" for verdict in verdicts(found)), found["headline"]
    assert any("cheat" in text for text in found["headline"])


def test_a_page_that_changes_is_held_to_what_stays_and_the_headline_says_so(
    rough: Callable[..., str], tmp_path: Path
) -> None:
    honest = served(rough, changing)
    addresses = {"honest": f"http://{honest}/", "alike": f"http://{served(rough, changing)}/"}
    found = compared(tmp_path, "web-url", addresses, *OPERATIONS)
    assert all(summary["errors"] == {} for summary in found["contenders"])
    assert "Bodies were not compared: the page changes (honest, alike)." in found["headline"]
    assert [each["changing"] for each in found["bodies"]] == [1, 1]


@pytest.mark.parametrize("cheap", [reply(b"Database error"), changing(0, BODY[: len(BODY) * 78 // 100]),
                                   reply(b"%016d" % 0 + BODY, kind="text/plain")])  # fmt: skip
def test_no_cheat_wins_with_a_page_that_changes(rough: Callable[..., str], tmp_path: Path, cheap: bytes) -> None:
    cheat = served(rough, lambda number: changing(number) if number < LATER else cheap)
    addresses = {"honest": f"http://{served(rough, changing)}/", "cheat": f"http://{cheat}/"}
    assert has_lost(compared(tmp_path, "web-url", addresses, *OPERATIONS))


def test_a_page_that_changes_with_one_alone_is_not_the_same_work(rough: Callable[..., str], tmp_path: Path) -> None:
    addresses = {"honest": f"http://{served(rough, HONEST)}/", "cheat": f"http://{served(rough, changing)}/"}
    found = compared(tmp_path, "web-url", addresses, *OPERATIONS)
    assert [verdict["kind"] for verdict in verdicts(found)] == ["withheld"]


def test_every_second_body_that_is_damaged_disqualifies(target: Callable[..., Target], tmp_path: Path) -> None:
    servers = {"honest": target(), "cheat": target(corrupt_every=2)}
    addresses = {name: f"http://{server.address}/" for name, server in servers.items()}
    found = compared(tmp_path, "web-url", addresses, *OPERATIONS)
    assert has_lost(found) and found["headline"][0].startswith("cheat is disqualified"), found["headline"]


def test_a_replay_that_is_answered_with_damaged_bodies_disqualifies(
    target: Callable[..., Target], tmp_path: Path
) -> None:
    log = tmp_path / "access.log"
    line = 'h - - [10/Oct/2000:13:55:{:02d} +0000] "GET /{} HTTP/1.1" 200 5\n'
    log.write_text("".join(line.format(number // 100, number % 30) for number in range(300)))
    servers = {"honest": target(), "cheat": target(corrupt_every=3)}
    addresses = {name: f"http://{server.address}/" for name, server in servers.items()}
    found = compared(tmp_path, "replay", addresses, "--log", str(log))
    assert has_lost(found) and found["headline"][0].startswith("cheat is disqualified"), found["headline"]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "session.toml"
    steps = '[[step]]\nname = "one"\npath = "/one"\n\n[[step]]\nname = "two"\npath = "/two"\n'
    path.write_text(steps)
    yield str(path)


@pytest.mark.parametrize("cheat", ["204", "other bytes of the same length", "22 % missing"])
def test_no_cheat_wins_in_sessions(rough: Callable[..., str], tmp_path: Path, session: str, cheat: str) -> None:
    addresses = {"honest": f"http://{served(rough, HONEST)}/", "cheat": f"http://{served(rough, CHEATS[cheat])}/"}
    found = compared(tmp_path, "web-session", addresses, "--session", session, *OPERATIONS)
    assert has_lost(found), (found["headline"], verdicts(found))


def test_a_server_that_closes_after_each_reply_without_a_word_is_asked_again(
    rough: Callable[..., str], tmp_path: Path
) -> None:
    """As RFC 9112, 9.3.1 lets clients do; how often is told."""

    def handle(connection: socket.socket, _number: int) -> None:
        if read_request(connection):
            connection.sendall(reply())
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    addresses = {"honest": f"http://{served(rough, HONEST)}/", "closes": f"http://{rough(handle)}/"}
    found = compared(tmp_path, "web-url", addresses, *OPERATIONS)
    assert all(summary["errors"] == {} and not summary["trials_failed"] for summary in found["contenders"])
