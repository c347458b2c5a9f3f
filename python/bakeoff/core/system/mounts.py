"""What a folder is mounted from, and what of it can be counted: read from this machine alone."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from bakeoff.core.system.links import carrier, link_to, links

NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "beegfs"}
FUSE_NETWORK = {
    "sshfs", "davfs", "davfs2", "rclone", "s3fs", "glusterfs", "ceph", "curlftpfs", "smbnetfs", "gcsfuse",
    "goofys", "fuse-nfs", "nfs",
}  # fmt: skip
MEMORY = {"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"}
# How addresses of servers begin that are met by their own protocol.
SERVERS = ("nfs://", "smb://")
COUNTED = {"nfs", "nfs4"}


# Where the bytes of a folder come from, which decides what proves a cached read.
Carrier = Literal["disk", "mount", "wire", "memory", "unknown"]


@dataclass(frozen=True)
class Mount:
    """The mount that holds a folder. `carrier` is disk, mount, wire, memory or unknown: where its bytes come
    from and which counters prove it.
    """

    point: str
    type: str
    source: str
    options: str
    carrier: Carrier

    @property
    def server(self) -> str | None:
        """Host name of the server of a network mount, where the source names one."""
        if self.carrier not in ("mount", "wire"):
            return None
        if is_server(self.source):
            return urlsplit(self.source).hostname
        if self.source.startswith("//"):
            return self.source[2:].split("/")[0] or None
        host, colon, _ = self.source.rpartition(":/") if ":/" in self.source else self.source.partition(":")
        return host.rpartition("@")[2].strip("[]") or None if colon else None


def is_server(address: str) -> bool:
    """Whether a contender of file work is a server, met by its own protocol, and not a folder."""
    return address.startswith(SERVERS)


def mount_of(address: str) -> Mount:
    """The mount of an existing folder; for a server what stands in its place, without options."""
    if is_server(address):
        return Mount(address, f"{address.partition('://')[0]} (own sessions)", address, "", "wire")
    return mount_at(os.path.realpath(address))


def mount_at(path: str, table: str | None = None) -> Mount:
    """The mount of a path without links, which is not touched; `table` stands for /proc/self/mountinfo in tests."""
    if table is None:
        table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    best = Mount("/", "unknown", "", "", "unknown")
    for line in table.splitlines():
        mount = _parse(line)
        if mount is not None and _holds(mount.point, path) and len(mount.point) >= len(best.point):
            best = mount
    return best


def _parse(line: str) -> Mount | None:
    left, separator, right = line.partition(" - ")
    fields, rest = left.split(" "), right.split(" ")
    if not separator or len(fields) < 6 or len(rest) < 3:
        return None
    kind = rest[0]
    return Mount(_plain(fields[4]), kind, _plain(rest[1]), f"{fields[5]},{rest[2]}", carrier_of(kind, rest[1]))


def _plain(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def _holds(point: str, path: str) -> bool:
    return point == "/" or path == point or path.startswith(point + "/")


def carrier_of(kind: str, source: str) -> Carrier:
    """Where the bytes of a file system of this type come from."""
    if kind in MEMORY:
        return "memory"
    if kind in COUNTED:
        return "mount"
    name = kind.removeprefix("fuse.")
    fuse = kind.startswith("fuse")
    if kind in NETWORK or (fuse and (name in FUSE_NETWORK or "://" in source)):
        return "wire"
    # What a FUSE daemon reads from a disk is not counted as read by this process.
    return "disk" if source.startswith("/dev/") and not fuse else "unknown"


def server_address(mount: Mount) -> str | None:
    """The numeric address of the server of a network mount: as the kernel has it, else by its name; None without."""
    for option in mount.options.split(","):
        name, _, value = option.partition("=")
        if name == "addr" and value:
            return value
    if mount.server is None:
        return None
    try:
        return str(socket.getaddrinfo(mount.server, 9, type=socket.SOCK_DGRAM)[0][4][0])
    except OSError:
        return None


def link_bytes_per_s(mount: Mount) -> float | None:
    """Speed of the link that leads to the mount's server; None for local servers and unknown speeds."""
    server = server_address(mount)
    name = None if server is None else link_to(server)
    speeds = {link.name: link.speed_bits_per_s for link in links()}
    speed = None if name is None else speeds.get(carrier(name))
    return None if speed is None else speed / 8
