"""Known answers for sessions that are not served: each way of refusing is brought about and must be named as such."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.control import PATIENCE_S
from tests.mailtools import SYN_SENT, places, run, serve, spec, tcp_connections

ONE = {"clients": 1, "virtual_users": 1, "length_s": 2.0, "ramp_up_s": 0.0, "ramp_down_s": 0.0}


@pytest.fixture
def door() -> Iterator[socket.socket]:
    """A listener that accepts nothing by itself; its accept queue takes one connection."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        yield listener


def refusals(result: dict[str, Any], when: str = "measured") -> dict[str, int]:
    counts: dict[str, int] = result["workload"]["refusals"][when]["counts"]
    return counts


def reader(listener: socket.socket, **trial: Any) -> dict[str, Any]:
    """A trial of one client that only reads, from this listener, without initialisation."""
    host, port = listener.getsockname()
    return spec(None, f"{host}:{port}", initialise="nothing", sending_share=0.0, trial={**ONE, **trial})


@pytest.fixture
def full_door(door: socket.socket) -> Iterator[socket.socket]:
    """A listener whose accept queue is full."""
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(door.getsockname())
        yield door


def knocking(door: socket.socket) -> int:
    """Connections to a listener that have had no answer yet."""
    return tcp_connections(door.getsockname()[1], SYN_SENT)


def test_a_full_accept_queue_is_told_by_connects_of_a_second(full_door: socket.socket) -> None:
    """The kernel drops the first SYN in silence; one that it sends again after some seconds finds room."""
    time.sleep(0.1)
    fillers = knocking(full_door)

    def open_late() -> None:
        until = time.monotonic() + PATIENCE_S
        while knocking(full_door) <= fillers and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.3)
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = full_door.accept()
                accepted.sendall(b"-ERR not here\r\n")
                accepted.close()

    helper = threading.Thread(target=open_late)
    helper.start()
    result = run(reader(full_door, max_operations=1, length_s=600))
    full_door.shutdown(socket.SHUT_RDWR)
    helper.join()
    counts = refusals(result)
    # By the second SYN, or, when this thread was late to make room, by a later one.
    assert sum(count for name, count in counts.items() if name.startswith("connect_")) == 1, counts
    assert counts["denied"] >= 1


def test_a_queue_that_stays_full_is_a_time_out_of_the_connect(full_door: socket.socket) -> None:
    result = run(reader(full_door, connect_timeout_s=0.4, max_operations=2, length_s=600))
    assert refusals(result).keys() == {"connect_timeout"}
    assert refusals(result)["connect_timeout"] >= 1
    assert result["operations"] == 0


def test_a_server_that_never_greets_is_a_time_out_of_the_banner(door: socket.socket) -> None:
    door.listen(100)
    result = run(reader(door, reply_timeout_s=0.4, max_operations=2, length_s=600))
    assert refusals(result).keys() == {"banner_timeout"}
    assert refusals(result)["banner_timeout"] >= 1


def test_a_reset_instead_of_a_banner() -> None:
    server = serve(refuse={"count": 1, "of": 3})
    place = places(server.address())
    trial = {**ONE, "max_operations": 300, "length_s": 600}
    result = run(spec(place["smtp"], place["pop3"], initialise="nothing", trial=trial))
    counts = refusals(result)
    # The reset may be there before the connect has been told.
    assert counts.get("reset", 0) + counts.get("refused", 0) == json.loads(server.counts())["refused"] > 0


def test_a_locked_mailbox_is_in_use_and_not_denied() -> None:
    server = serve(delay_s=0.002)
    place = places(server.address())
    trial = {"clients": 1, "virtual_users": 4, "max_operations": 3_000}
    result = run(
        spec(
            place["smtp"],
            place["pop3"],
            initialise="nothing",
            shared_mailboxes=True,
            mailboxes_per_client=1,
            drain_limit_s=3600,  # none of them waits for mail that another has read
            trial=trial,
        )
    )
    ledger = result["workload"]["ledger"]["counts"]
    assert (ledger["lost"], ledger["duplicate"], ledger["delivered"]) == (0, 0, ledger["accepted"])
    counts = refusals(result)
    assert counts.keys() == {"in_use"}
    assert counts["in_use"] == pytest.approx(json.loads(server.counts())["in_use"], abs=4) and counts["in_use"] > 0
    assert any("[IN-USE]" in text for text in result["workload"]["refusals"]["measured"]["texts"])


@pytest.mark.parametrize("side", ["smtp", "pop3"])
def test_a_server_without_tls_and_one_that_is_not_trusted(side: str) -> None:
    for settings in ({}, {"tls": {}}):
        server = serve(**settings)
        place = places(server.address())
        secure = {f"{side}_settings": {"security": "starttls", "tls": {"verify": True}}}
        trial = {**ONE, "max_operations": 100, "length_s": 600}
        where = spec(place["smtp"], place["pop3"], initialise="nothing", drain_limit_s=0.5, trial=trial, **secure)
        result = run(where)
        counts = refusals(result)
        assert counts.keys() == {"tls"} and counts["tls"] > 0, (side, settings, counts)
        assert result["errors"]["tls"] > 0
        server.stop()


def test_tls_that_fails_while_the_mailboxes_are_emptied_is_fatal_and_named() -> None:
    place = places((server := serve()).address())
    secure = {"security": "starttls", "tls": {"verify": True}}
    result = run(spec(place["smtp"], place["pop3"], retries=2, pop3_settings=secure, trial=ONE))
    assert server is not None
    assert result["fatal"].startswith("client 0: could not open a POP3 session in 3 tries (tls")
    assert refusals(result, "init") == {"tls": 3}
