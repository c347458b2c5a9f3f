"""Where a contender listens: `host:port`, `[IPv6]:port`, or `unix:` and the path of a socket."""

import socket
from dataclasses import dataclass

from bakeoff.core.errors import ContenderError, PlanError


@dataclass(frozen=True)
class SocketAddress:
    """A place to connect to: a host and its port or, in `unix`, the path of a socket. `text` is as the plan has it."""

    text: str
    host: str
    port: int
    unix: str | None

    @property
    def place(self) -> str:
        """Host and port, or the socket, for messages."""
        if self.unix is not None:
            return f"unix:{self.unix}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_socket_address(text: str, scheme: str, what: str, forms: str) -> SocketAddress:
    """The endpoint of `host:port`, which may stand behind `scheme://`, or of `unix:/path`.

    Raises PlanError that says that `text` is not the address of `what`, with the accepted `forms`.
    """
    if text.startswith("unix:"):
        path = text.removeprefix("unix:")
        if not path.startswith("/"):
            raise PlanError(f"address {text!r} needs the full path of a socket: unix:/path/to/socket")
        return SocketAddress(text, "localhost", 0, path)
    host, colon, port = text.removeprefix(f"{scheme}://").rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    numeric = len(port) < 6 and port.isascii() and port.isdigit() and 0 < int(port) < 65536
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or not bare or not numeric or any(c in bare for c in "/@? ") or (":" in bare and not bracketed):
        raise PlanError(f"address {text!r} is not that of {what}: {forms}")
    return SocketAddress(text, bare, int(port), None)


def resolve(endpoint: SocketAddress) -> tuple[str, ...]:
    """The numeric addresses in the system's order, `127.0.0.1:80` or `[::1]:80`; none for a socket.

    Raises ContenderError when the name is not known.
    """
    if endpoint.unix is not None:
        return ()
    try:
        answers = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ContenderError(
            f"{endpoint.text}: the host name {endpoint.host!r} cannot be resolved ({reason}): check the spelling and "
            "the DNS"
        ) from None
    texts = []
    for family, _, _, _, place in answers:
        host, port = str(place[0]), int(place[1])
        texts.append(f"[{host}]:{port}" if family == socket.AF_INET6 else f"{host}:{port}")
    return tuple(dict.fromkeys(texts))
