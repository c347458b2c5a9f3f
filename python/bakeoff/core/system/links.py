"""The network links of this machine: how fast they are, what went over them, and which leads to an address."""

import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import psutil

LOOPBACK = "a loopback: nothing leaves the machine"
MADE_UP = "a virtual link: the speed that it states is made up"
UNKNOWN = "its speed is not stated"
_REQUEST, _GET_ROUTE, _DESTINATION, _SOURCE, _OUT = 1, 26, 1, 2, 4  # of rtnetlink(7)


@dataclass(frozen=True)
class Link:
    """A network interface that is up. `speed_bits_per_s` is what it carries in one direction; None where that is not
    known, and `unjudged` says why. Bytes and packets are those since it came up, frames without preamble and checksum.
    """

    name: str
    addresses: tuple[str, ...]
    speed_bits_per_s: int | None
    unjudged: str
    bytes_in: int = 0
    bytes_out: int = 0
    packets_in: int = 0
    packets_out: int = 0


def links(system: Path = Path("/sys/class/net")) -> tuple[Link, ...]:
    """Those of this machine by name; `system` is where the kernel tells of them."""
    stats, counters = psutil.net_if_stats(), psutil.net_io_counters(pernic=True, nowrap=False)
    own = psutil.net_if_addrs()
    entries = []
    for name in sorted(name for name, state in stats.items() if state.isup and name in counters):
        loopback = "loopback" in stats[name].flags.split(",")
        speed, unjudged = _speed(name, stats[name].speed, loopback, system)
        addresses = [a.address.partition("%")[0] for a in own.get(name, ()) if a.family != psutil.AF_LINK]
        entries.append(_with(Link(name, tuple(addresses), speed, unjudged), counters[name]))
    return tuple(entries)


def recounted(known: Mapping[str, Link]) -> Mapping[str, Link]:
    """Those of the same links that are still there, with their counts of now."""
    counters = psutil.net_io_counters(pernic=True, nowrap=False)
    return {name: _with(link, counters[name]) for name, link in known.items() if name in counters}


def _with(link: Link, count: Any) -> Link:
    return replace(
        link,
        bytes_in=count.bytes_recv,
        bytes_out=count.bytes_sent,
        packets_in=count.packets_recv,
        packets_out=count.packets_sent,
    )


def _speed(name: str, megabits: int, loopback: bool, system: Path) -> tuple[int | None, str]:
    """The speed in bits per second that can be believed, or None and why: only hardware is as fast as it says."""
    if loopback:
        return None, LOOPBACK
    if not 0 < megabits < 2**31 - 1:
        return None, UNKNOWN
    return (megabits * 1_000_000, "") if _is_hardware(name, system) else (None, MADE_UP)


def _is_hardware(name: str, system: Path) -> bool:
    """Whether it is a network card, or a bond of nothing but those."""
    if (system / name / "device").exists():
        return True
    below = _below(name, system)
    return (system / name / "bonding").exists() and bool(below) and all(_is_hardware(one, system) for one in below)


def carrier(name: str, system: Path = Path("/sys/class/net")) -> str:
    """The link that carries what goes over this one: a VLAN shares its card with others, a bond is as fast as all of
    its cards.
    """
    below = [] if (system / name / "bonding").exists() else _below(name, system)
    cards = [one for one in below if _is_hardware(one, system)] or below
    return carrier(cards[0], system) if len(cards) == 1 else name


def _below(name: str, system: Path) -> list[str]:
    try:
        entries = [path.name for path in (system / name).iterdir()]
    except OSError:
        return []
    return sorted(entry.removeprefix("lower_") for entry in entries if entry.startswith("lower_"))


def link_to(destination: str, source: str | None = None) -> str | None:
    """The interface by which the kernel sends to a numeric address, from another one where given; None without a route.
    Nothing is sent.
    """
    address, _, scope = destination.partition("%")
    if scope:
        return scope
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
            kernel.settimeout(1.0)
            kernel.send(_question(address, source))
            return _answer(kernel.recv(65536))
    except OSError:
        return None


def _question(destination: str, source: str | None) -> bytes:
    """RTM_GETROUTE for one address."""
    target = ip_address(destination)
    family = socket.AF_INET if target.version == 4 else socket.AF_INET6
    body = struct.pack("=BBBBBBBBI", family, target.max_prefixlen, 0, 0, 0, 0, 0, 0, 0)
    body += _attribute(_DESTINATION, target.packed)
    if source is not None and ip_address(source).version == target.version:
        body += _attribute(_SOURCE, ip_address(source).packed)
    return struct.pack("=IHHII", 16 + len(body), _GET_ROUTE, _REQUEST, 1, 0) + body


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value


def _answer(message: bytes) -> str | None:
    """The name of the outgoing interface in a reply of the kernel; None where it says that there is none."""
    length, kind = struct.unpack_from("=IH", message)
    if kind == 2:  # NLMSG_ERROR
        return None
    place = 16 + 12
    while place + 4 <= min(length, len(message)):
        size, attribute = struct.unpack_from("=HH", message, place)
        if attribute == _OUT:
            return socket.if_indextoname(struct.unpack_from("=I", message, place + 4)[0])
        place += max(4, (size + 3) & ~3)
    return None
