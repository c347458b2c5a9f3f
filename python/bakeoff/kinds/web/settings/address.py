"""Addresses of web servers: http(s)://host[:port][/prefix], [IPv6], unix:/path/sock[:/prefix], http+unix://…."""

from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from bakeoff.core.errors import PlanError
from bakeoff.plan.input.address import SocketAddress

_PORTS = {"http": 80, "https": 443}
_FORMS = "write http://host[:port][/path], https://…, or unix:/path/to/socket"


@dataclass(frozen=True)
class WebAddress(SocketAddress):
    """Where a web contender listens; `target` is the path with its query."""

    scheme: str
    target: str

    @property
    def prefix(self) -> str:
        """What stands before the path of every request of a corpus: the address without its query and last
        `/`.
        """
        return self.target.partition("?")[0].rstrip("/")

    @property
    def host_header(self) -> str:
        """Value of the Host header: the port only where it is not the scheme's own."""
        if self.unix is not None:
            return "localhost"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def parse_web_address(text: str) -> WebAddress:
    """Raises PlanError with the accepted forms when `text` is none of them."""
    if any(ord(c) <= 32 or ord(c) == 127 for c in text):
        raise PlanError(f"address {text!r} contains spaces or control characters: percent-encode them")
    if text.startswith("unix:"):
        path, _, rest = text.removeprefix("unix:").partition(":")
        return _unix(text, path, rest)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise PlanError(f"address {text!r} is not valid ({error}): {_FORMS}") from None
    if parts.scheme == "http+unix":
        return _unix(text, unquote(parts.netloc), _target(parts))
    if parts.scheme not in _PORTS or not parts.hostname:
        raise PlanError(f"address {text!r} is not a web address: {_FORMS}")
    if parts.username is not None or parts.password is not None:
        raise PlanError(f"address {text!r} holds a user name: give it with --basic-auth USER:PASSWORD")
    if parts.fragment:
        raise PlanError(f"address {text!r} has a #fragment, which is never sent to a server: leave it out")
    if port == 0:
        raise PlanError(f"address {text!r} has port 0: name the port on which the server listens")
    return WebAddress(text, parts.hostname, port or _PORTS[parts.scheme], None, parts.scheme, _target(parts))


def _target(parts: SplitResult) -> str:
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _unix(text: str, path: str, target: str) -> WebAddress:
    if not path.startswith("/"):
        raise PlanError(f"address {text!r} needs the full path of a socket: unix:/path/to/socket")
    if target and not target.startswith("/"):
        raise PlanError(f"address {text!r}: what follows the socket's path and `:` must begin with /")
    return WebAddress(text, "localhost", 80, path, "http", target)
