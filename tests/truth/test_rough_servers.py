"""Servers that close, stall and hang in rude ways: what they do is what must be reported."""

import contextlib
import itertools
import json
import os
import socket
import ssl
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bakeoff import _engine
from tests.conftest import Target, run_trial, web_workload
from tests.control import PATIENCE_S

BODY = b"x" * 1024
CLOSE = b"HTTP/1.1 200 OK\r\nContent-Length: 1024\r\nConnection: close\r\n\r\n" + BODY
KEEP = b"HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n" + BODY
TO_END = b"HTTP/1.0 200 OK\r\n\r\n" + BODY

Handler = Callable[[socket.socket, int], None]


@pytest.fixture
def rough() -> Iterator[Callable[..., str]]:
    """Starts servers whose connections are handled by a function of (socket, number of the connection)."""
    listeners: list[socket.socket] = []

    def start(handle: Handler, context: ssl.SSLContext | None = None) -> str:
        listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        listeners.append(listener)

        def one(connection: socket.socket, number: int) -> None:
            with contextlib.suppress(OSError, ssl.SSLError):
                wrapped = context.wrap_socket(connection, server_side=True) if context else connection
                with wrapped:
                    handle(wrapped, number)

        def accept() -> None:
            number = 0
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    number += 1
                    threading.Thread(target=one, args=(connection, number), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.close()


def read_request(connection: socket.socket) -> bool:
    """Reads one request head; False at the end of the stream."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        part = connection.recv(4096)
        if not part:
            return False
        data += part
    return True


def never(connection: socket.socket) -> None:
    """Says nothing until the client has gone."""
    with contextlib.suppress(OSError):
        while connection.recv(4096):
            pass


def answer_once(reply: bytes) -> Handler:
    def handle(connection: socket.socket, _number: int) -> None:
        if read_request(connection):
            connection.sendall(reply)

    return handle


@pytest.fixture
def certificate(tmp_path: Path) -> ssl.SSLContext:
    """A TLS server context that ends connections without close_notify, as Python's does."""
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    paths = ["-keyout", str(key), "-out", str(cert), "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*make, *paths], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context


@pytest.mark.parametrize("reply", [CLOSE, TO_END], ids=["announced", "read to end"])
def test_tls_replies_end_with_the_connection(
    rough: Callable[..., str], certificate: ssl.SSLContext, reply: bytes
) -> None:
    address = rough(answer_once(reply), certificate)
    workload = web_workload(address, scheme="https", tls={"verify": False}, keep_alive=False)
    result = run_trial(workload, clients=4, max_operations=100, length_s=600)
    assert (result["operations"], result["errors"]) == (100, {})


def test_the_window_is_the_plans_when_clients_think_beyond_its_end(target: Callable[..., Target]) -> None:
    """Three clients that think 1 s in a window of 2.8 s: each asks at 0, 1 and 2 s or later."""
    result = run_trial(web_workload(target().address), clients=3, length_s=2.9, ramp_down_s=0.1, think_s=1.0)
    # A machine that is late may lose the last round, and none may come to a fourth.
    assert 3 <= result["operations"] <= 9
    assert result["window_s"] == pytest.approx(2.8, abs=1e-6)


def test_requests_that_are_never_answered_are_errors(rough: Callable[..., str]) -> None:
    """The first two connections hang for ever, the others are quick: two errors, and no more."""
    asked: dict[int, list[float]] = defaultdict(list)

    def handle(connection: socket.socket, number: int) -> None:
        while read_request(connection):
            asked[number].append(time.monotonic())
            if number <= 2:
                never(connection)
                return
            connection.sendall(KEEP)

    result = run_trial(web_workload(rough(handle)), clients=5, length_s=4.0, ramp_down_s=0.2)
    assert result["operations"] > 3
    # It hung at least until the last request of the others that was followed by one more before the end.
    seen_s = max(times[-2] for times in asked.values() if len(times) > 1) - min(asked[1] + asked[2])
    oldest_s = result["unfinished"]["oldest_s"]
    assert seen_s <= oldest_s <= result["elapsed_s"]
    # Longer than 20 times nearly all others: on a machine where those take a twentieth of the trial, nobody can tell.
    others_s = max(one["service"]["p99_ns"] for one in result["per_operation"]) / 1e9
    assert result["errors"] == {"unfinished": 2} or (oldest_s <= 20.1 * others_s and not result["errors"])


def test_dead_seconds_are_rows_of_zeros(rough: Callable[..., str]) -> None:
    """Twenty requests are answered and then none: the seconds after that are there."""
    requests = itertools.count(1)

    def handle(connection: socket.socket, _number: int) -> None:
        while read_request(connection):
            if next(requests) > 20:
                never(connection)
                return
            connection.sendall(KEEP)

    result = run_trial(web_workload(rough(handle)), clients=2, length_s=4.0)
    counts = [row["operations"] for row in result["per_second"]]
    assert len(counts) == 4 and sum(counts) == 20
    alive = max(second for second, count in enumerate(counts) if count)
    assert alive < 3 and counts[alive + 1 :] == [0] * (3 - alive)


def test_a_kept_connection_closed_without_notice_is_replaced(rough: Callable[..., str]) -> None:
    """Ten requests a connection, then a silent close. The next request met it on its way, and is asked again; or it had
    reached the server and was left unanswered, which is an error. Each connection ends in one of these two ways.
    """

    def handle(connection: socket.socket, _number: int) -> None:
        for _ in range(10):
            if not read_request(connection):
                return
            connection.sendall(KEEP)

    result = run_trial(web_workload(rough(handle)), clients=3, max_operations=300)
    assert set(result["errors"]) <= {"closed_early", "reset_before_first_byte"}
    replaced = result["workload"]["stale_connections"] + result["errors_total"]
    assert result["operations"] == 300 - result["errors_total"]
    assert 24 <= replaced <= 30


def test_a_server_that_says_close_and_does_not_is_left(rough: Callable[..., str]) -> None:
    def handle(connection: socket.socket, _number: int) -> None:
        if read_request(connection):
            connection.sendall(CLOSE)
            connection.recv(1)

    result = run_trial(web_workload(rough(handle), keep_alive=False), clients=4, max_operations=400)
    assert (result["operations"], result["errors"]) == (400, {})
    assert result["connections"]["late_closes"] >= 400 - 64, "all but those that still wait at the end"


def test_a_generator_without_a_processor_of_its_own_notices() -> None:
    """Two trials that never wait for anything, on one processor: each has it half of the time, whoever else has it."""
    core = min(os.sched_getaffinity(0))
    spec = {"workload": {"kind": "null"}, "load": {"clients": 1}, "length_s": 3.0, "seed": 1, "pin": [core]}
    both = [trial.go() for trial in [_engine.start(json.dumps(spec)) for _ in range(2)]]
    results = [json.loads(trial.wait(PATIENCE_S).json()) for trial in both]
    assert max(result["generator"]["run_delay_share"] for result in results) > 0.2
