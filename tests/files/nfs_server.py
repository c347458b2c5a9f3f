"""A file server of NFS version 3 in memory, which counts what it is asked and fails as it is told.

It serves both programs on one port and forgets everything at its end. It is slow: what it serves is counted, not timed.
"""

import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

ROOT, MOUNT = 1, 100_005
OK, NOENT, ACCES, EXIST, NOTDIR, NOSPC, ROFS, NOTEMPTY, STALE = 0, 2, 13, 17, 20, 28, 30, 66, 70
NAMES = {
    0: "NULL", 1: "GETATTR", 2: "SETATTR", 3: "LOOKUP", 6: "READ", 7: "WRITE", 8: "CREATE", 9: "MKDIR", 12: "REMOVE",
    13: "RMDIR", 14: "RENAME", 17: "READDIRPLUS", 18: "FSSTAT", 19: "FSINFO", 21: "COMMIT",
}  # fmt: skip


@dataclass
class Node:
    data: bytearray | None = field(default_factory=bytearray)  # None: a folder
    children: dict[bytes, int] = field(default_factory=dict)


@dataclass
class Faults:
    """How it misbehaves: for so long, with this status, in every nth read or write, from the nth call on."""

    delay_s: dict[str, float] = field(default_factory=dict)
    status: dict[str, int] = field(default_factory=dict)
    wrong_data_every: int = 0
    loses_write_every: int = 0
    short_reads: bool = False
    restarts_before_commit: bool = False
    disconnect_at: int | None = None
    silent_from: int | None = None


class Xdr:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def u32(self) -> int:
        self.at += 4
        return int(struct.unpack_from(">I", self.data, self.at - 4)[0])

    def u64(self) -> int:
        return self.u32() << 32 | self.u32()

    def opaque(self) -> bytes:
        length = self.u32()
        self.at += (length + 3) // 4 * 4
        return self.data[self.at - (length + 3) // 4 * 4 :][:length]


def u32(*values: int) -> bytes:
    return b"".join(struct.pack(">I", value) for value in values)


def u64(value: int) -> bytes:
    return struct.pack(">Q", value)


def opaque(data: bytes) -> bytes:
    return u32(len(data)) + data + b"\0" * (-len(data) % 4)


class MemoryNfs:
    """The server. `calls` counts procedures by name, `read_bytes` and `written_bytes` what they carried."""

    def __init__(self, faults: Faults | None = None, free_bytes: int = 1 << 40) -> None:
        self.faults = faults or Faults()
        self.calls: Counter[str] = Counter()
        self.connections = 0
        self.users: Counter[int] = Counter()
        self.read_bytes = self.written_bytes = 0
        self.free_bytes = free_bytes
        self.verifier = 1
        self.nodes = {ROOT: Node(None)}
        self._numbers = count(2)
        self._lock = threading.Lock()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = int(self._socket.getsockname()[1])
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"nfs://127.0.0.1:{self.port}/export"

    def close(self) -> None:
        for each in [self._socket, *self._open]:
            each.close()

    def names(self) -> list[str]:
        """What lies in the export."""
        return sorted(name.decode() for name in self.nodes[ROOT].children)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rb")
        while True:
            try:
                header = stream.read(4)
                if len(header) < 4:
                    return
                call = Xdr(stream.read(struct.unpack(">I", header)[0] & 0x7FFF_FFFF))
                reply = self._answer(call)
                if reply is None:
                    connection.shutdown(socket.SHUT_RDWR)
                    return
                connection.sendall(u32(len(reply) | 0x8000_0000) + reply)
            except (OSError, ValueError):
                return

    def _answer(self, call: Xdr) -> bytes | None:
        number, _, _, program, _, procedure = (call.u32() for _ in range(6))
        call.u32()
        credentials = Xdr(call.opaque())
        call.u32()
        call.opaque()
        head = u32(number, 1, 0, 0, 0, 0)
        if program == MOUNT:
            return head + u32(OK) + opaque(u64(ROOT)) + u32(1, 1)
        credentials.u32()
        credentials.opaque()
        name = NAMES[procedure]
        with self._lock:
            self.calls[name] += 1
            self.users[credentials.u32()] += 1
            total = self.calls.total()
        if self.faults.silent_from is not None and total >= self.faults.silent_from:
            time.sleep(3600)
        if self.faults.disconnect_at == total:
            return None
        if delay_s := self.faults.delay_s.get(name):
            time.sleep(delay_s)
        if (status := self.faults.status.get(name)) is not None:
            return head + u32(status) + u32(0, 0)
        with self._lock:
            return head + getattr(self, f"_{name.lower()}")(call)

    def _is_due(self, name: str, every: int) -> bool:
        return every > 0 and self.calls[name] % every == 0

    def _node(self, call: Xdr) -> tuple[int, Node | None]:
        number = struct.unpack(">Q", call.opaque())[0]
        return number, self.nodes.get(number)

    def _attributes(self, number: int) -> bytes:
        node = self.nodes[number]
        size = 4096 if node.data is None else len(node.data)
        kind = 2 if node.data is None else 1
        return u32(kind, 0o755, 1, 0, 0) + u64(size) + u64(size) + u32(0, 0) + u64(1) + u64(number) + u32(*[0] * 6)

    def _getattr(self, call: Xdr) -> bytes:
        number, node = self._node(call)
        return u32(STALE) if node is None else u32(OK) + self._attributes(number)

    def _setattr(self, call: Xdr) -> bytes:
        _, node = self._node(call)
        if node is None:
            return u32(STALE, 0, 0)
        self._set(node, call)
        return u32(OK, 0, 0)

    def _set(self, node: Node, call: Xdr) -> None:
        for _ in range(3):
            if call.u32():
                call.u32()
        if call.u32():
            size = call.u64()
            assert node.data is not None
            node.data[size:] = b""
            node.data += b"\0" * (size - len(node.data))

    def _lookup(self, call: Xdr) -> bytes:
        _, node = self._node(call)
        child = None if node is None else node.children.get(call.opaque())
        if child is None:
            return u32(STALE if node is None else NOENT, 0)
        return u32(OK) + opaque(u64(child)) + u32(1) + self._attributes(child) + u32(0)

    def _read(self, call: Xdr) -> bytes:
        _, node = self._node(call)
        if node is None or node.data is None:
            return u32(STALE, 0)
        offset, length = call.u64(), call.u32()
        data = bytes(node.data[offset : offset + (max(1, length // 2) if self.faults.short_reads else length)])
        self.read_bytes += len(data)
        if data and self._is_due("READ", self.faults.wrong_data_every):
            data = bytes([data[0] ^ 1]) + data[1:]
        return u32(OK, 0, len(data), offset + len(data) >= len(node.data)) + opaque(data)

    def _write(self, call: Xdr) -> bytes:
        _, node = self._node(call)
        if node is None or node.data is None:
            return u32(STALE, 0, 0)
        offset, length, stable = call.u64(), call.u32(), call.u32()
        data = call.opaque()
        node.data += b"\0" * (offset + length - len(node.data))
        if not self._is_due("WRITE", self.faults.loses_write_every):
            node.data[offset : offset + length] = data
        self.written_bytes += length
        return u32(OK, 0, 0, length, stable) + u64(self.verifier)

    def _commit(self, call: Xdr) -> bytes:
        self.verifier += self.faults.restarts_before_commit
        return u32(OK, 0, 0) + u64(self.verifier)

    def _make(self, call: Xdr, data: bytearray | None) -> bytes:
        _, folder = self._node(call)
        name = call.opaque()
        if folder is None:
            return u32(STALE, 0, 0)
        if name in folder.children and (data is None or call.u32()):
            return u32(EXIST, 0, 0)
        number = folder.children.get(name) or next(self._numbers)
        folder.children[name] = number
        node = self.nodes.setdefault(number, Node(data))
        if data is not None:
            call.u32()
            self._set(node, call)
        return u32(OK, 1) + opaque(u64(number)) + u32(1) + self._attributes(number) + u32(0, 0)

    def _create(self, call: Xdr) -> bytes:
        return self._make(call, bytearray())

    def _mkdir(self, call: Xdr) -> bytes:
        return self._make(call, None)

    def _take(self, call: Xdr, is_folder: bool) -> bytes:
        _, folder = self._node(call)
        name = call.opaque()
        number = None if folder is None else folder.children.get(name)
        if folder is None or number is None:
            return u32(NOENT, 0, 0)
        node = self.nodes[number]
        if is_folder and (node.data is not None or node.children):
            return u32(NOTDIR if node.data is not None else NOTEMPTY, 0, 0)
        del folder.children[name], self.nodes[number]
        return u32(OK, 0, 0)

    def _remove(self, call: Xdr) -> bytes:
        return self._take(call, False)

    def _rmdir(self, call: Xdr) -> bytes:
        return self._take(call, True)

    def _rename(self, call: Xdr) -> bytes:
        _, source = self._node(call)
        name = call.opaque()
        _, target = self._node(call)
        if source is None or target is None or name not in source.children:
            return u32(NOENT, 0, 0, 0, 0)
        target.children[call.opaque()] = source.children.pop(name)
        return u32(OK, 0, 0, 0, 0)

    def _readdirplus(self, call: Xdr) -> bytes:
        _, node = self._node(call)
        if node is None:
            return u32(STALE, 0)
        entries = [(b".", None), (b"..", None), *node.children.items()]
        after = call.u64()
        listed = b""
        for place, (name, number) in list(enumerate(entries, 1))[after : after + 8]:
            known = u32(0) if number is None else u32(1) + self._attributes(number)
            listed += u32(1) + u64(number or ROOT) + opaque(name) + u64(place) + known + u32(0)
        return u32(OK, 0) + u64(0) + listed + u32(0, after + 8 >= len(entries))

    def _fsstat(self, call: Xdr) -> bytes:
        return u32(OK, 0) + b"".join(u64(self.free_bytes) for _ in range(6)) + u32(0)

    def _fsinfo(self, call: Xdr) -> bytes:
        return u32(OK, 0, 65536, 65536, 1, 32768, 32768, 1, 8192) + u64(1 << 60) + u32(0, 1, 0)


@contextmanager
def memory_nfs(faults: Faults | None = None) -> Iterator[MemoryNfs]:
    """Such a server while the block lasts."""
    server = MemoryNfs(faults)
    try:
        yield server
    finally:
        server.close()
