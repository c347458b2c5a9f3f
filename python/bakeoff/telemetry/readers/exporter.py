"""Another machine by its node_exporter: one request for each sample, on one connection as long as that lasts."""

from __future__ import annotations

import http.client
import io
import re
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from bakeoff.telemetry.readers.exposition import Sample, samples
from bakeoff.telemetry.readers.proc_text import LARGEST, MOST_PARTS, NAME, NO_DISK, PAGING, number
from bakeoff.telemetry.readers.processors import spent_of, worked_of
from bakeoff.telemetry.reading import Reading, SampleError

MOST_BYTES = 8 << 20
MOST_HEAD_BYTES = 64 << 10  # of status lines and fields, interim replies among them
CHUNK = 1 << 16
_STATES = {"user": "user", "nice": "user"} | {s: s for s in ("system", "iowait", "irq", "softirq", "steal", "idle")}
COUNTERS = {
    "node_netstat_Tcp_RetransSegs": "tcp_retransmits",
    "node_netstat_TcpExt_ListenOverflows": "listen_overflows",
    "node_netstat_TcpExt_ListenDrops": "listen_drops",
    **{f"node_vmstat_{name}": series for name, series in PAGING.items()},
    "node_pressure_cpu_waiting_seconds_total": "psi_cpu_s",
    "node_pressure_memory_waiting_seconds_total": "psi_memory_s",
    "node_pressure_io_waiting_seconds_total": "psi_io_s",
}
DEVICE_COUNTERS = {
    "node_disk_reads_completed_total": "disk/{}/reads",
    "node_disk_writes_completed_total": "disk/{}/writes",
    "node_disk_read_bytes_total": "disk/{}/read_bytes",
    "node_disk_written_bytes_total": "disk/{}/written_bytes",
    "node_disk_io_time_seconds_total": "disk/{}/busy_s",
    "node_network_receive_bytes_total": "net/{}/in_bytes",
    "node_network_transmit_bytes_total": "net/{}/out_bytes",
    "node_network_receive_packets_total": "net/{}/in_packets",
    "node_network_transmit_packets_total": "net/{}/out_packets",
}


def machine(found: Iterable[Sample]) -> Reading:
    """What a node_exporter tells of its machine. Raises SampleError when that are no processor times."""
    reading, processors, devices = Reading(), dict[str, dict[str, float]](), dict[str, set[str]]()
    memory = dict[str, float]()
    for name, labels, value in found:
        if abs(value) > LARGEST:  # of several the sum may be no number
            continue
        if name == "node_cpu_seconds_total" and (state := _STATES.get(labels.get("mode", ""))):
            spent = processors.setdefault(labels.get("cpu", ""), {})
            spent[state] = spent.get(state, 0.0) + max(0.0, value)
            reading.counters[f"cpu_{state}_s"] = reading.counters.get(f"cpu_{state}_s", 0.0) + max(0.0, value)
        elif name in COUNTERS:
            reading.counters[COUNTERS[name]] = max(0.0, value)
        elif name in DEVICE_COUNTERS and _is_device(labels.get("device", ""), devices, DEVICE_COUNTERS[name]):
            reading.counters[DEVICE_COUNTERS[name].format(labels["device"])] = max(0.0, value)
        elif name in ("node_procs_running", "node_procs_blocked"):
            reading.gauges["run_queue" if name.endswith("running") else "blocked"] = max(0.0, value)
        elif name in ("node_memory_MemTotal_bytes", "node_memory_MemAvailable_bytes"):
            memory[name] = value
        elif name == "node_uname_info" and NAME.fullmatch(labels.get("nodename", "")):
            reading.facts["host"] = labels["nodename"]
    if "cpu_user_s" not in reading.counters:
        raise SampleError("it has no processor times: give the URL of a node_exporter")
    reading.facts["processors"] = len(processors)
    numbered = {of: worked_of(spent) for cpu, spent in processors.items() if (of := number(cpu)) is not None}
    reading.processors = spent_of(numbered)
    if len(memory) == 2:
        total, available = memory["node_memory_MemTotal_bytes"], memory["node_memory_MemAvailable_bytes"]
        reading.facts["memory_bytes"] = int(total)
        reading.gauges["memory_used_bytes"] = max(0.0, total - available)
    return reading


def _is_device(name: str, known: dict[str, set[str]], form: str) -> bool:
    sort = form.partition("/")[0]
    if not re.fullmatch(NAME, name) or (sort == "disk" and NO_DISK.fullmatch(name)):
        return False
    names = known.setdefault(sort, set())
    if name not in names and len(names) >= MOST_PARTS:
        return False
    names.add(name)
    return True


class _Bounded(io.RawIOBase):
    """What a socket receives, until a moment and up to so many bytes: whoever reads it, and in whatever pieces.

    Reads raise SampleError beyond either bound, OSError where the connection fails.
    """

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self.until_s, self.most, self.received = 0.0, 0, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait for bytes, no longer than until the moment."""
        left_s = self.until_s - time.monotonic()
        if left_s <= 0.0:
            raise SampleError("it did not answer in time")
        if self.received >= self.most:
            raise SampleError("its answer has no end")
        self._socket.settimeout(left_s)
        try:
            count = self._socket.recv_into(memoryview(buffer)[: self.most - self.received])
        except TimeoutError:
            raise SampleError("it did not answer in time") from None
        self.received += count
        return count


class _BoundedSocket:
    """What http.client takes for a socket: it reads through the bounds."""

    def __init__(self, connected: socket.socket) -> None:
        self.connected, self.bounded = connected, _Bounded(connected)
        self.sendall, self.settimeout = connected.sendall, connected.settimeout

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self.bounded, CHUNK)

    def close(self) -> None:
        """Nothing: http.client lets go of a socket before its last reply is read."""


class Exporter:
    """See the module, and Source. Redirects are not followed: the plan names where is asked.

    A sample is bounded by one deadline and in bytes, whatever the other side does: every byte is read through them.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._connection: http.client.HTTPConnection | None = None
        self._socket: _BoundedSocket | None = None
        self._sent = self._received = 0

    def sample(self, deadline_s: float) -> Reading:
        try:
            return machine(samples(self._text(time.monotonic() + deadline_s)))
        except (OSError, ValueError, http.client.HTTPException, SampleError) as error:
            self.close()
            if isinstance(error, SampleError):
                raise
            raise SampleError(f"it does not answer ({error or type(error).__name__})") from None

    def _text(self, until_s: float) -> str:
        connection, wire = self._connected(until_s)
        bounded = wire.bounded
        bounded.until_s, bounded.most, bounded.received = until_s, MOST_HEAD_BYTES, 0
        wire.settimeout(max(0.001, until_s - time.monotonic()))
        try:
            connection.request("GET", self._path, headers={"Accept": "text/plain", "User-Agent": "bakeoff"})
            self._sent += len(self._path) + 80
            reply = connection.getresponse()
            if reply.status != 200:
                raise SampleError(f"it answers {reply.status}")
            bounded.most += MOST_BYTES
            body = bytearray()
            while chunk := reply.read1(CHUNK):
                body += chunk
                if len(body) > MOST_BYTES:
                    raise SampleError("its answer has no end")
        finally:
            self._received += bounded.received
        if reply.will_close:
            self.close()
        return body.decode("utf-8", "replace")

    def _connected(self, until_s: float) -> tuple[http.client.HTTPConnection, _BoundedSocket]:
        if self._connection is None or self._socket is None:
            left_s = max(0.001, until_s - time.monotonic())
            connection = http.client.HTTPConnection(self._host, self._port, timeout=left_s)
            connection.auto_open = 0
            connection.connect()
            self._connection, self._socket = connection, _BoundedSocket(connection.sock)
            connection.sock = self._socket  # it has what http.client calls
        return self._connection, self._socket

    def traffic(self) -> tuple[int, int]:
        """See Source. Without what the connection itself needs."""
        return self._sent, self._received

    def helper_cpu_s(self) -> float:
        return 0.0

    def close(self) -> None:
        """See Source. Waits for nobody: a sample that hangs in another thread ends by itself, as its socket is shut."""
        connection, wire = self._connection, self._socket
        self._connection = self._socket = None
        if wire is not None:
            with suppress(OSError):
                wire.connected.shutdown(socket.SHUT_RDWR)
            wire.connected.close()
        if connection is not None:
            connection.sock = None
