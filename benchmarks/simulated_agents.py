"""Machines that send no load but tell of it as a real one does: snapshots of real size every 200 ms, over TCP.

A process stands for many of them. A relay hears a group of them and tells what they did together, as one. Of a thousand
the relays would need several machines of their own: then a process stands for the relays as well, and tells bundles
that a real one made beforehand.
"""

import math
import multiprocessing as mp
import random
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from bakeoff.agents.machine.preflight import raise_open_files
from bakeoff.agents.remote.agent import RemoteAgent
from bakeoff.agents.remote.relay import Group, Relay
from bakeoff.agents.remote.wire import PULSE_S, Answer, LineDownError, Pulse
from bakeoff.agents.result import OperationCount, RecentResult, Snapshot

TRIAL = 1
CLASSES = ("223", "735", "1522", "2895", "6040", "11426", "22132", "large", "404")  # of web-static
HEAD = struct.Struct("!I")
MOMENT = b"0000000000.000000"
FAR = b"4294967296.125"
"""A moment that no clock shows, which JSON writes as it stands here."""


def snapshot(rng: random.Random, operations: int = 4000) -> Snapshot:
    """A machine at full work: a second of response times around 1 ms, told within 1/32 of themselves."""
    counts: dict[int, int] = {}
    for _ in range(operations):
        time_ns = int(10 ** rng.gauss(6.0, 0.5))
        shift = max(0, time_ns.bit_length() - 6)
        counts[(time_ns >> shift) << shift] = counts.get((time_ns >> shift) << shift, 0) + 1
    times = tuple(sorted(counts.items()))
    recent = RecentResult(span_s=1.0, operations=operations, p50_ns=10**6, p99_ns=15 * 10**6, times=times)
    kinds = tuple(OperationCount(name=name, operations=operations // 9, errors=0) for name in CLASSES)
    return Snapshot(
        elapsed_s=0.0, phase="window", operations=operations, errors=0, bytes_in=operations * 6_000,
        per_operation=kinds, recent=recent,
    )  # fmt: skip


def pulse_of(given: Snapshot) -> bytes:
    """A pulse as it crosses, but for the moment, which stands as `MOMENT`: a machine writes its own, here there is one
    process for hundreds.
    """
    text = Pulse(trial=TRIAL, armed=True, snapshot=given).model_dump_json().encode()
    return text.replace(b'"elapsed_s":0.0', b'"elapsed_s":' + MOMENT)


def bundle_of(numbers: Sequence[int]) -> list[bytes]:
    """What a relay tells of these machines, parted where the moment of each stands."""
    rng = random.Random(numbers[0])
    hearing = Relay({name_of(n): OneSaying(pulse_of(snapshot(rng)).replace(MOMENT, FAR)) for n in numbers})
    while len(hearing._fresh) < len(numbers):
        time.sleep(0.01)
    hearing.close()
    return hearing.bundle().to_json().encode().split(FAR)


def tell_bundles(port: int, count: int, width: int, ends: float) -> None:
    """Be the relays of all these machines until `ends`, whose bundles are spread over the 200 ms."""
    shapes, sockets = [], []
    for group in range(math.ceil(count / width)):
        shapes.append(bundle_of(range(group * width, min(count, (group + 1) * width))))
        sockets.append(socket.create_connection(("127.0.0.1", port)))
        sockets[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sockets[-1].sendall(HEAD.pack(group))
    due = deque((time.monotonic() + PULSE_S * i / len(sockets), i) for i in range(len(sockets)))
    while due and time.monotonic() < ends:
        at, i = due.popleft()
        time.sleep(max(0.0, at - time.monotonic()))
        now = time.monotonic()
        text = bytearray(shapes[i][0])
        for place, rest in enumerate(shapes[i][1:]):  # each was heard at another moment since the last bundle
            text += b"%.6f" % (now - PULSE_S * place / len(shapes[i])) + rest
        with suppress(OSError):  # nobody listens to this one any more
            sockets[i].sendall(HEAD.pack(len(text)) + text)
            due.append((at + PULSE_S, i))


class OneSaying:
    """A line that says one thing once."""

    def __init__(self, text: bytes) -> None:
        self._said = iter([text.decode()])

    def ask(self, method: str, *words: Any) -> "Nothing":
        return Nothing()

    def pulse(self, timeout_s: float) -> str | None:
        if (text := next(self._said, None)) is None:
            time.sleep(timeout_s)
        return text

    def drop(self) -> None:
        pass


def tell(ports: Sequence[int], numbers: Sequence[int], ends: float) -> None:
    """Be these machines until `ends`: a connection for each, to its port, whose pulses are spread over the 200 ms.
    `elapsed_s` is the moment on the clock that all processes of this machine share.
    """
    raise_open_files(0)
    rng = random.Random(numbers[0])
    shapes = [pulse_of(snapshot(rng)) for _ in range(8)]
    sockets = []
    for port, number in zip(ports, numbers, strict=True):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(HEAD.pack(number))
        sockets.append(connection)
    due = deque((time.monotonic() + PULSE_S * i / len(sockets), i) for i in range(len(sockets)))
    while due and time.monotonic() < ends:
        for at, i in tuple(due):
            time.sleep(max(0.0, at - time.monotonic()))
            text = shapes[i % len(shapes)].replace(MOMENT, b"%.6f" % time.monotonic())
            due.popleft()
            with suppress(OSError):  # nobody listens to this one any more
                sockets[i].sendall(HEAD.pack(len(text)) + text)
                due.append((at + PULSE_S, i))


class TcpLine:
    """The way to a simulated machine. What it is asked needs no answer that anybody waits for."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = bytearray()
        self.received = 0

    def ask(self, method: str, *words: Any) -> "Nothing":
        return Nothing()

    def pulse(self, timeout_s: float) -> str | None:
        self._connection.settimeout(timeout_s)
        try:
            while (text := self._whole()) is None:
                more = self._connection.recv(1 << 16)
                if not more:
                    raise LineDownError("it is gone")
                self._buffer += more
                self.received += len(more)
        except TimeoutError:
            return None
        except OSError as error:
            raise LineDownError(str(error)) from None
        return text

    def _whole(self) -> str | None:
        if len(self._buffer) < HEAD.size:
            return None
        end = HEAD.size + HEAD.unpack_from(self._buffer)[0]
        if len(self._buffer) < end:
            return None
        text = self._buffer[HEAD.size : end].decode()
        del self._buffer[:end]
        return text

    def drop(self) -> None:
        self._connection.close()


class Nothing:
    """An answer to what nobody asks."""

    def get(self, timeout_s: float) -> Answer:
        return "", None


def accept(server: socket.socket, count: int) -> dict[int, TcpLine]:
    """Lines to so many machines, by number."""
    raise_open_files(0)
    lines = {}
    for _ in range(count):
        connection, _ = server.accept()
        lines[HEAD.unpack(connection.recv(HEAD.size, socket.MSG_WAITALL))[0]] = TcpLine(connection)
    return lines


def relay(above: int, number: int, ready: Any, count: int, ends: float) -> None:
    """Be the relay of a group of machines."""
    with socket.create_server(("127.0.0.1", 0), backlog=count) as server:
        ready.send(server.getsockname()[1])
        lines = accept(server, count)
    hearing = Relay({name_of(n): line for n, line in lines.items()})
    with socket.create_connection(("127.0.0.1", above)) as connection:
        connection.sendall(HEAD.pack(number))
        try:
            while time.monotonic() < ends:
                began = time.monotonic()
                text = hearing.bundle().to_json().encode()
                connection.sendall(HEAD.pack(len(text)) + text)
                time.sleep(max(0.0, PULSE_S - (time.monotonic() - began)))
        except OSError:
            pass


def name_of(number: int) -> str:
    """How a simulated machine is called."""
    return f"agent{number:04}"


def agents_of(lines: Mapping[int, TcpLine], count: int, width: int | None) -> list[RemoteAgent]:
    """The agents of a fleet, heard directly or by its relays."""
    if width is None:
        return [RemoteAgent(name_of(n), line) for n, line in sorted(lines.items())]
    agents = []
    for group, line in sorted(lines.items()):
        heard = Group(line.pulse)
        for n in range(group * width, min(count, (group + 1) * width)):
            agents.append(RemoteAgent(name_of(n), heard.line(name_of(n), line)))
    return agents


@contextmanager
def fleet(
    count: int, width: int | None, processes: int, length_s: float, made_bundles: bool = False
) -> Iterator[dict[int, TcpLine]]:
    """Lines to `count` machines, or to relays of `width` of them each; they tell for `length_s` and then end. With
    `made_bundles` the relays are simulated too.
    """
    context, ends = mp.get_context("spawn"), time.monotonic() + length_s
    started = []

    def begin(work: Any, *words: Any) -> None:
        process = context.Process(target=work, args=words, daemon=True)
        process.start()
        started.append(process)

    with socket.create_server(("127.0.0.1", 0), backlog=count) as server:
        port = server.getsockname()[1]
        ports, heard = [port] * count, count
        if width is not None:
            heard = math.ceil(count / width)
        if width is not None and made_bundles:
            begin(tell_bundles, port, count, width, ends)
        elif width is not None:
            pipes = [context.Pipe() for _ in range(heard)]
            for group, (_, there) in enumerate(pipes):
                begin(relay, port, group, there, min(width, count - group * width), ends)
            of_group = [here.recv() for here, _ in pipes]
            ports = [of_group[number // width] for number in range(count)]
        for i in range(0 if made_bundles else processes):
            begin(tell, ports[i::processes], range(i, count, processes), ends)
        try:
            yield accept(server, heard)
        finally:
            for process in started:
                process.terminate()
                process.join()


def threads() -> int:
    """Threads of this process."""
    return threading.active_count()


def sizes(count: int = 20) -> tuple[int, int]:
    """Bytes of a pulse, and how many different times one tells; the median of some."""
    shapes = [snapshot(random.Random(seed)) for seed in range(count)]
    lengths = sorted(len(pulse_of(shape)) for shape in shapes)
    times = sorted(len(shape.recent.times) for shape in shapes)
    return lengths[count // 2], times[count // 2]
