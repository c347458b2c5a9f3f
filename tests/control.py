"""Controls for truths about time: a bare client that asks the same target in the same moments.

No time is known on a machine that others use as well. But what holds the machine up holds up a bare client beside
it, too: of two figures of the same moments neither may be the larger one, but for chance, which is bounded here.
"""

import contextlib
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from scipy.stats import binom

# A normal deviate is beyond this once in two million times: in no test may chance decide more often than 1 in 1e6.
DEVIATIONS = 4.9
# A watchdog for what hangs, seconds. Nothing may depend on it: the slowest machine is to be done long before.
PATIENCE_S = 900.0

Ask = Callable[[socket.socket], None]


@dataclass
class Bare:
    """Seconds of each question that was asked so far."""

    times_s: list[float] = field(default_factory=list)
    failed: list[BaseException] = field(default_factory=list)

    def quantile_s(self, level: float) -> float:
        """The time that this share of all does not exceed."""
        ordered = sorted(self.times_s)
        return ordered[min(len(ordered) - 1, math.ceil(level * len(ordered)))]


@contextlib.contextmanager
def asking(address: str, ask: Ask, clients: int, greet: Ask | None = None) -> Iterator[Bare]:
    """So many plain blocking clients that ask without pause, each on a connection of its own, until the block ends."""
    bare, stop = Bare(), threading.Event()
    host, _, port = address.rpartition(":")

    def one() -> None:
        try:
            with socket.create_connection((host.strip("[]"), int(port)), PATIENCE_S) as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if greet is not None:
                    greet(connection)
                while not stop.is_set():
                    began = time.perf_counter()
                    ask(connection)
                    bare.times_s.append(time.perf_counter() - began)
        except BaseException as error:
            bare.failed.append(error)

    threads = [threading.Thread(target=one, daemon=True) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield bare
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE_S)
    assert not bare.failed, bare.failed


def get_page(connection: socket.socket) -> None:
    """One request for a page, and the whole of its reply."""
    connection.sendall(b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n")
    reply = connection.recv(65536)
    while b"\r\n\r\n" not in reply:
        reply += _more(connection)
    head, _, body = reply.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split()[0])
    while len(body) < length:
        body += _more(connection)


def read_line(connection: socket.socket) -> None:
    """One line, as a mail server greets or answers."""
    line = connection.recv(4096)
    while not line.endswith(b"\r\n"):
        line += _more(connection)


def no_operation(connection: socket.socket) -> None:
    """The shortest question that a mail server answers."""
    connection.sendall(b"NOOP\r\n")
    read_line(connection)


def _more(connection: socket.socket) -> bytes:
    part = connection.recv(65536)
    assert part, "the target closed the connection"
    return part


def later(name: str, level: float, ours_s: float, count: int, control: Bare, slack_s: float) -> str:
    """How the quantile at `level` of `count` times of ours is above the control's by more than chance and `slack_s`;
    empty where it is not.
    """
    deviation = math.sqrt(level * (1 - level) * (1 / count + 1 / len(control.times_s)))
    above = level + DEVIATIONS * deviation
    assert above < 1, f"{name}: too few for a bound: {count} of ours, {len(control.times_s)} of the control"
    theirs_s = control.quantile_s(above)
    if ours_s <= theirs_s + slack_s:
        return ""
    return f"{name}: {ours_s * 1e3:.3f} ms at {level:.0%}, the bare client {theirs_s * 1e3:.3f} ms at {above:.1%}"


def assert_no_later(name: str, level: float, ours_s: float, count: int, control: Bare, slack_s: float) -> None:
    """Asserts that it is not `later`."""
    observed = later(name, level, ours_s, count, control, slack_s)
    assert not observed, observed


def assert_not_always_later(measure: Callable[[], str], tries: int = 4) -> None:
    """Asserts that one of the `tries` is not `later`: a machine that holds up one of the two and not the other does so
    now and then, a clock that goes wrong always.
    """
    measured = measure()
    first = measured
    while measured and (tries := tries - 1):
        measured = measure()
    assert not measured, first


def most_by_chance(tries: int, probability: float) -> int:
    """So often may happen what has this probability: more comes about less than once in a million."""
    return int(binom.isf(1e-6, tries, probability))


# Why a trial is void that the machine held up: what it says of the contender stands or falls with other trials.
_HELD_UP = ("did not run for", "did not begin", "was suspended for", "the clock of this machine", "the hypervisor gave")


def went_well(state: str, reason: str) -> bool:
    """Whether a trial was good, or would have been if the machine had not stood still meanwhile."""
    return state == "ok" or (state == "voided" and any(words in reason for words in _HELD_UP))


def most_connections_taken(result: dict[str, Any], per_s: float, streams: int) -> int:
    """So many connections of `streams` requests each does a constant rate take at most when none is opened while
    another has an idle stream: at no moment is more under way than was due within the longest response time.
    """
    # Histograms have three digits.
    longest_s = result["response"]["max_ns"] / 1e9 * 1.002
    return math.ceil((longest_s * per_s + 1) / streams)
