"""Servers that close, stall and hang in rude ways: what they do is what must be reported."""

import contextlib
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Target, run_trial, web_workload

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
    result = run_trial(workload, clients=4, max_operations=100, length_s=20)
    assert (result["operations"], result["errors"]) == (100, {})
    assert result["service"]["max_ns"] < 2e9


def test_the_window_is_the_plans_when_clients_think_beyond_its_end(target: Callable[..., Target]) -> None:
    """Three clients that think 1 s in a window of 2.8 s: each asks at 0, 1 and 2 s."""
    result = run_trial(web_workload(target().address), clients=3, length_s=2.9, ramp_down_s=0.1, think_s=1.0)
    assert result["operations"] == 9
    assert result["window_s"] == pytest.approx(2.8, abs=1e-6)


def test_requests_that_are_never_answered_are_errors(rough: Callable[..., str]) -> None:
    """The first two connections hang for ever, the others are quick: two errors, and no more."""

    def handle(connection: socket.socket, number: int) -> None:
        while read_request(connection):
            if number <= 2:
                time.sleep(30)
            connection.sendall(KEEP)

    result = run_trial(web_workload(rough(handle)), clients=5, length_s=2.0, ramp_down_s=0.2)
    assert result["errors"] == {"unfinished": 2}
    assert result["operations"] > 50
    assert result["unfinished"]["oldest_s"] > 1.5


def test_dead_seconds_are_rows_of_zeros(rough: Callable[..., str]) -> None:
    dead_from = time.monotonic() + 1.2

    def handle(connection: socket.socket, _number: int) -> None:
        while read_request(connection):
            if time.monotonic() > dead_from:
                time.sleep(30)
            connection.sendall(KEEP)

    result = run_trial(web_workload(rough(handle)), clients=2, length_s=4.0)
    counts = [row["operations"] for row in result["per_second"]]
    assert len(counts) == 4
    assert counts[0] > 0
    assert counts[2:] == [0, 0]


def test_a_kept_connection_closed_without_notice_is_replaced(rough: Callable[..., str]) -> None:
    """Ten requests a connection, then a silent close: no error of the server, and the count is shown."""

    def handle(connection: socket.socket, _number: int) -> None:
        for _ in range(10):
            if not read_request(connection):
                return
            connection.sendall(KEEP)

    result = run_trial(web_workload(rough(handle)), clients=3, max_operations=300)
    assert (result["operations"], result["errors"]) == (300, {})
    assert 24 <= result["workload"]["stale_connections"] <= 30


def test_a_server_that_says_close_and_does_not_is_left(rough: Callable[..., str]) -> None:
    def handle(connection: socket.socket, _number: int) -> None:
        if read_request(connection):
            connection.sendall(CLOSE)
            connection.recv(1)

    result = run_trial(web_workload(rough(handle), keep_alive=False), clients=4, max_operations=40)
    assert (result["operations"], result["errors"]) == (40, {})
    assert result["workload"]["late_closes"] == 40
    assert result["service"]["max_ns"] < 400e6


def test_a_generator_without_a_processor_of_its_own_notices(target: Callable[..., Target]) -> None:
    """Three busy loops on the load thread's processor: it waits for it most of the time."""
    hogs = [subprocess.Popen(["taskset", "-c", "0", "sh", "-c", "while :; do :; done"]) for _ in range(3)]
    try:
        result = run_trial(web_workload(target().address), clients=8, length_s=1.5, pin=[0])
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    assert result["generator"]["run_delay_share"] > 0.2
