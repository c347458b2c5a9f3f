"""Which processes of this machine are a contender: those that listen where it is asked, and what these began.

A listening socket is found by its port in the network name space of this process, else in any other that has a process
(a container's is one), and its owners by their descriptors. Who may not look into a process of somebody else gets None:
unknown, and not nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from bakeoff.agents.machine.environment import own_addresses
from bakeoff.core.system.mounts import Mount, is_server, mount_of, server_address
from bakeoff.kinds.spec import Workload
from bakeoff.telemetry.readers.processes import Process

LISTEN, UNCONNECTED = "0A", "07"  # of /proc/net/tcp, and of udp
TABLES = (("tcp", LISTEN), ("tcp6", LISTEN), ("udp", UNCONNECTED), ("udp6", UNCONNECTED))
# Where servers of mounts listen: NFS, SMB, 9p.
MOUNT_PORTS = (2049, 445, 139, 564)
FUSE = "/dev/fuse"
MOST_BYTES, PIECE_BYTES = 4 << 20, 4096


def ports_of(workload: Workload, local: Sequence[str] | None = None) -> frozenset[int]:
    """Ports of this machine where the contender of `workload` may listen; none where it is on another one. `local` are
    the addresses of this machine.
    """
    here = {*(own_addresses() if local is None else local), "127.0.0.1", "::1"}
    found = set[int]()
    for peer in workload.peers:
        host, _, port = peer.rpartition(":")
        if port.isdigit() and (host.strip("[]") in here or host.startswith("127.")):
            found.add(int(port))
    if workload.mounted is not None:
        mount = _mount(workload.mounted)
        if mount.server is not None and server_address(mount) in here:
            own_port = urlsplit(mount.source).port if is_server(mount.source) else None
            found.update(MOUNT_PORTS if own_port is None else (own_port,))
    return frozenset(found)


def is_fuse(workload: Workload) -> bool:
    """Whether the folder that is worked in is served by a process of this machine."""
    return workload.mounted is not None and _mount(workload.mounted).type.startswith("fuse")


@cache
def _mount(folder: str) -> Mount:
    """Asked before the first trial alone: once a share hangs, so does whoever looks at its folder."""
    return mount_of(folder)


def owners(ports: frozenset[int], fuse: bool = False, proc: Path = Path("/proc")) -> frozenset[int] | None:
    """The processes that listen on these ports, or hold a FUSE device; None where that cannot be known. A port on which
    no socket listens has no owner.
    """
    pids = [int(path.name) for path in proc.iterdir() if path.name.isdigit()]
    sockets = _sockets(pids, ports, proc) if ports else frozenset()
    wanted = {f"socket:[{inode}]" for inode in sockets} | ({FUSE} if fuse else set())
    if not wanted:
        return frozenset()
    found, left = set[int](), set(wanted)
    for pid in pids:
        open_sockets = wanted & set(_descriptors(proc / f"{pid}/fd"))
        if open_sockets:
            found.add(pid)
            left -= open_sockets
    # Who listens for others is not who answers: a container's proxy, or the first process of the machine.
    if any(_is_proxy(proc / f"{pid}/comm") for pid in found):
        return None
    found.discard(1)
    return None if (left or sockets) and not found else frozenset(found)


def _is_proxy(comm: Path) -> bool:
    try:
        return comm.read_text(errors="replace").startswith("docker-proxy")
    except OSError:
        return False


def with_children(pids: frozenset[int], seen: Mapping[int, Process]) -> frozenset[int]:
    """These processes and all that descend from them."""
    children: dict[int, list[int]] = {}
    for each in seen.values():
        children.setdefault(each.parent, []).append(each.pid)
    found, left = set[int](), list(pids)
    while left:
        pid = left.pop()
        if pid not in found:
            found.add(pid)
            left += children.get(pid, [])
    return frozenset(found)


def _sockets(pids: Sequence[int], ports: frozenset[int], proc: Path) -> frozenset[int]:
    """Inodes of sockets that listen on one of the ports: in this network name space, whose listeners answer here; for a
    port on which nobody listens in it, in any other.
    """
    own = list(_listening(proc / "self/net", ports))
    found = {inode for inode, _ in own}
    left = ports.difference(port for _, port in own)
    if left:
        for pid in _spaces(pids, proc):
            found.update(inode for inode, _ in _listening(proc / f"{pid}/net", left))
    return frozenset(found - {0})


def _spaces(pids: Sequence[int], proc: Path) -> Iterable[int]:
    """A process of each network name space."""
    spaces: dict[int, int] = {}
    for pid in pids:
        try:
            spaces.setdefault((proc / f"{pid}/ns/net").stat().st_ino, pid)
        except OSError:
            continue
    return spaces.values()


def _listening(net: Path, ports: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Inode and port of each socket that listens on one of the ports, by the tables in a folder."""
    for name, state in TABLES:
        for line in _lines(net / name):
            words = line.split()
            if len(words) < 10 or not words[9].isdigit():
                continue
            if words[3] != state:
                if state == LISTEN:
                    break  # the kernel tells listening sockets first, and the others may be a hundred thousand
                continue
            try:
                port = int(words[1].rpartition(":")[2], 16)
            except ValueError:
                continue
            if port in ports:
                yield int(words[9]), port


def _lines(table: Path) -> Iterator[str]:
    """The lines of a table of the kernel's without its head, read piece by piece; none where it cannot be read."""
    left, rest, is_head = MOST_BYTES, b"", True
    try:
        with table.open("rb", buffering=0) as file:
            while left > 0 and (piece := file.read(PIECE_BYTES)):
                left -= len(piece)
                *whole, rest = (rest + piece).split(b"\n")
                if whole and is_head:
                    whole, is_head = whole[1:], False
                yield from (line.decode("ascii", "replace") for line in whole)
    except OSError:
        return


def _descriptors(folder: Path) -> Iterator[str]:
    try:
        links = list(folder.iterdir())
    except OSError:
        return
    for link in links:
        try:
            yield str(link.readlink())
        except OSError:
            continue
