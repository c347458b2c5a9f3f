"""Ports for those who must be told theirs: between choice and use nobody else takes one."""

import socket
from pathlib import Path

LOWEST = 20_000
_KEPT: list[socket.socket] = []
# The last that was given: no port is given twice.
_last = 0


def free_port() -> int:
    """A port that nobody uses, for this process alone until it ends: connects are refused until it listens there.

    It is none of those that the kernel gives to connections and to listeners that ask for any, and a name that only one
    process of this network can have keeps it from tests of other processes.
    """
    global _last
    first_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in range(max(_last + 1, LOWEST), first_given if first_given > LOWEST else 65_536):
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0bakeoff-test-port-{port}")
        except OSError:
            name.close()
            continue
        _KEPT.append(name)
        if _is_unused(port):
            _last = port
            return port
    raise AssertionError("no port is free")


def _is_unused(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(type=kind) as probe:
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True
