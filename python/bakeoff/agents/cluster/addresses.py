"""Where a machine of a cluster listens: told by its user, or the address from which it reaches the head."""

import ipaddress
import re
import socket
from collections.abc import Iterable
from contextlib import closing

from bakeoff.core.errors import GeneratorError, PlanError

ADDRESS = re.compile(r"(?P<host>[^\s:/\[\]]+)(?::(?P<port>\d{1,5}))?")
REACH_S = 5.0


def split_address(text: str, port: int) -> tuple[str, int]:
    """Host and port of `10.0.0.1:6379`; `port` where none is given. Raises PlanError."""
    found = ADDRESS.fullmatch(text)
    number = int(found["port"] or port) if found else 0
    if found is None or not 0 < number < 65536:
        raise PlanError(f"{text!r} is no address of a cluster: write HOST or HOST:PORT, such as 10.0.0.1:{port}")
    return found["host"], number


def numeric(host: str) -> str:
    """The IPv4 address of a host. Raises GeneratorError."""
    try:
        found = socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise GeneratorError(f"{host} has no IPv4 address here: check the name, or give its number") from None
    return str(found[0][4][0])


def check_bind(address: str) -> None:
    """Raises GeneratorError when this machine does not have that address."""
    try:
        with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as one:
            one.bind((address, 0))
    except OSError:
        raise GeneratorError(
            f"this machine does not have the address {address}: give one of `ip -br address`"
        ) from None


def way_to(host: str, port: int) -> str:
    """This machine's address that packets to another one come from. Nothing is sent. Raises GeneratorError."""
    try:
        with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as one:
            one.connect((host, port))
            return str(one.getsockname()[0])
    except OSError as error:
        raise GeneratorError(f"there is no way from here to {host}: {error.strerror}") from None


def reach(host: str, port: int) -> None:
    """Raises GeneratorError when nobody listens there."""
    try:
        socket.create_connection((host, port), REACH_S).close()
    except OSError as error:
        why = error.strerror or "no answer"
        raise GeneratorError(
            f"no head answers at {host}:{port} ({why}): start it there with `bakeoff cluster start --bind {host}`, and "
            "let its ports through firewalls"
        ) from None


def taken(ports: Iterable[int]) -> list[int]:
    """Those ports that another program listens on."""
    found = []
    for port in ports:
        with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("", port))
            except OSError:
                found.append(port)
    return found


def public(addresses: Iterable[str]) -> list[str]:
    """Those that the internet may reach: neither private nor loopback nor link-local."""
    found = []
    for text in addresses:
        address = ipaddress.ip_address(text)
        shared = address in ipaddress.ip_network("100.64.0.0/10") if address.version == 4 else False
        if address.is_global or shared or not (address.is_private or address.is_loopback or address.is_link_local):
            found.append(text)
    return found
