"""A file system in memory that lies: it gives other bytes than were written, or loses writes that it took.

It speaks with the kernel through /dev/fuse, in a thread of this process, one call after the other.
"""

import ctypes
import errno
import os
import stat
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory

ROOT, LONGEST = 1, 1 << 17
_NOSUID_NODEV, _DETACH = 6, 2
_DIRECT_IO = 1  # Of an open file: the kernel keeps nothing of it and asks each time.
_SET_MODE, _SET_SIZE = 1, 8
# Requests that have no answer: of names and interrupts.
_SILENT = {2, 36, 42}
_BLOCK, _BLOCKS = 4096, 1 << 18


@dataclass
class _Node:
    mode: int
    data: bytearray = field(default_factory=bytearray)
    names: dict[bytes, int] = field(default_factory=dict)


class Liar:
    """Every so-manieth read, or write, is a lie; 0: none. Where a write was lost, all later ones are: of several agents
    that lay out one file each would mend what the other lost.
    """

    def __init__(self, place: str, other_reads: int = 0, lost_writes: int = 0) -> None:
        self._other_reads, self._lost_writes = other_reads, lost_writes
        self._reads = self._writes = 0
        self._lost = set[tuple[int, int]]()
        self._nodes = {ROOT: _Node(stat.S_IFDIR | 0o755)}
        self._last = ROOT
        self._device = os.open("/dev/fuse", os.O_RDWR)
        self._place = place
        self._libc = ctypes.CDLL(None, use_errno=True)
        texts = f"fd={self._device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if self._libc.mount(b"liar", place.encode(), b"fuse", _NOSUID_NODEV, texts):
            raise OSError(ctypes.get_errno(), "mount of /dev/fuse")
        self._calls: dict[int, Callable[[int, bytes], bytes]] = {
            1: self._lookup, 3: self._getattr, 4: self._setattr, 9: self._mkdir, 10: self._unlink, 11: self._unlink,
            12: self._rename, 14: self._open, 15: self._read, 16: self._write, 17: self._statfs, 18: _nothing,
            20: _nothing, 25: _nothing, 26: self._init, 27: self._open, 28: self._readdir, 29: _nothing, 30: _nothing,
            35: self._create, 45: self._rename2,
        }  # fmt: skip
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """It is gone, with all that is in it."""
        self._libc.umount2(self._place.encode(), _DETACH)
        self._thread.join()
        os.close(self._device)

    def _serve(self) -> None:
        while True:
            try:
                request = os.read(self._device, LONGEST + 8192)
            except InterruptedError:
                continue
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.EAGAIN):  # It was interrupted before it was read.
                    continue
                return
            _, code, unique, node = struct.unpack_from("<IIQQ", request)
            if code in _SILENT:
                continue
            try:
                number, answer = 0, self._calls[code](node, request[40:])
            except KeyError:
                number, answer = errno.ENOSYS, b""
            except OSError as error:
                number, answer = error.errno or errno.EIO, b""
            try:
                os.write(self._device, struct.pack("<IiQ", 16 + len(answer), -number, unique) + answer)
            except OSError:
                continue  # Nobody waits for it any more.

    def _init(self, _: int, body: bytes) -> bytes:
        minor, ahead = struct.unpack_from("<II", body, 4)
        return struct.pack("<IIIIHHIIHHI28x", 7, min(minor, 31), ahead, 0, 12, 9, LONGEST, 1, 0, 0, 0)

    def _attributes(self, number: int) -> bytes:
        node = self._nodes[number]
        size = len(node.data)
        links = 2 if stat.S_ISDIR(node.mode) else 1
        return struct.pack(
            "<6Q10I", number, size, -(-size // 512), 0, 0, 0, 0, 0, 0, node.mode, links, 0, 0, 0, _BLOCK, 0
        )

    def _entry(self, number: int) -> bytes:
        return struct.pack("<4Q2I", number, 0, 0, 0, 0, 0) + self._attributes(number)

    def _named(self, node: int, name: bytes) -> int:
        try:
            return self._nodes[node].names[name]
        except KeyError:
            raise OSError(errno.ENOENT, "no such name") from None

    def _lookup(self, node: int, body: bytes) -> bytes:
        return self._entry(self._named(node, body.rstrip(b"\0")))

    def _getattr(self, node: int, _: bytes) -> bytes:
        return struct.pack("<QII", 0, 0, 0) + self._attributes(node)

    def _setattr(self, node: int, body: bytes) -> bytes:
        what, _, _, size = struct.unpack_from("<IIQQ", body)
        found = self._nodes[node]
        if what & _SET_SIZE:
            found.data = found.data[:size] + bytes(max(0, size - len(found.data)))
        if what & _SET_MODE:
            (mode,) = struct.unpack_from("<I", body, 68)
            found.mode = stat.S_IFMT(found.mode) | stat.S_IMODE(mode)
        return self._getattr(node, b"")

    def _made(self, parent: int, name: bytes, mode: int) -> bytes:
        self._last += 1
        self._nodes[self._last] = _Node(mode)
        self._nodes[parent].names[name] = self._last
        return self._entry(self._last)

    def _mkdir(self, node: int, body: bytes) -> bytes:
        (mode,) = struct.unpack_from("<I", body)
        return self._made(node, body[8:].rstrip(b"\0"), stat.S_IFDIR | stat.S_IMODE(mode))

    def _create(self, node: int, body: bytes) -> bytes:
        _, mode = struct.unpack_from("<II", body)
        return self._made(node, body[16:].rstrip(b"\0"), stat.S_IFREG | stat.S_IMODE(mode)) + self._open(node, b"")

    def _unlink(self, node: int, body: bytes) -> bytes:
        name = body.rstrip(b"\0")
        if self._nodes[self._named(node, name)].names:
            raise OSError(errno.ENOTEMPTY, "not empty")
        del self._nodes[node].names[name]
        return b""

    def _rename(self, node: int, body: bytes) -> bytes:
        (to,) = struct.unpack_from("<Q", body)
        old, new = body[8:].split(b"\0")[:2]
        self._nodes[to].names[new] = self._named(node, old)
        if (to, new) != (node, old):
            del self._nodes[node].names[old]
        return b""

    def _rename2(self, node: int, body: bytes) -> bytes:
        return self._rename(node, body[:8] + body[16:])

    def _open(self, _: int, __: bytes) -> bytes:
        return struct.pack("<QII", 0, _DIRECT_IO, 0)

    def _read(self, node: int, body: bytes) -> bytes:
        _, at, size = struct.unpack_from("<QQI", body)
        data = bytes(self._nodes[node].data[at : at + size])
        self._reads += 1
        if self._other_reads and self._reads % self._other_reads == 0:
            return bytes(255 - byte for byte in data)
        return data

    def _write(self, node: int, body: bytes) -> bytes:
        _, at, size = struct.unpack_from("<QQI", body)
        data, new = self._nodes[node].data, body[40 : 40 + size]
        self._writes += 1
        if self._lost_writes and self._writes % self._lost_writes == 0:
            self._lost.add((node, at))
        if (node, at) in self._lost:
            new = bytes(data[at : at + size])
        if len(data) < at + size:
            data.extend(bytes(at + size - len(data)))
        data[at : at + len(new)] = new
        return struct.pack("<II", size, 0)

    def _readdir(self, node: int, body: bytes) -> bytes:
        _, at, size = struct.unpack_from("<QQI", body)
        found = b""
        for place, (name, number) in enumerate(list(self._nodes[node].names.items())[at:], at + 1):
            kind = stat.S_IFMT(self._nodes[number].mode) >> 12
            one = struct.pack("<QQII", number, place, len(name), kind) + name + bytes(-len(name) % 8)
            if len(found) + len(one) > size:
                break
            found += one
        return found

    def _statfs(self, _: int, __: bytes) -> bytes:
        return struct.pack("<5Q4I24x", _BLOCKS, _BLOCKS, _BLOCKS, 1 << 20, 1 << 20, _BLOCK, 255, _BLOCK, 0)


def _nothing(_: int, __: bytes) -> bytes:
    """Also what its fsync does: all is in memory."""
    return b""


@contextmanager
def lying(other_reads: int = 0, lost_writes: int = 0) -> Iterator[str]:
    """A folder that lies so often."""
    with TemporaryDirectory() as place:
        liar = Liar(place, other_reads, lost_writes)
        try:
            yield place
        finally:
            liar.close()
