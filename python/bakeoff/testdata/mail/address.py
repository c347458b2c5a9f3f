"""Where a mail contender is: `smtp=host:port,pop3=host:port`, or a host with the usual ports."""

import re
import socket
from dataclasses import dataclass
from typing import Literal

from bakeoff.core.errors import ContenderError, PlanError

PORTS = {"smtp": 25, "lmtp": 24, "smtps": 465, "pop3": 110, "pop3s": 995}
Security = Literal["none", "starttls", "tls"]
_SECURED = {"none": " without TLS", "starttls": " with STARTTLS", "tls": " with TLS from the first byte"}
SENDING = ("smtp", "lmtp", "smtps")
READING = ("pop3", "pop3s")
_FORMS = "write smtp=HOST:PORT,pop3=HOST:PORT (also lmtp=, smtps=, pop3s=), or a host name for ports 25 and 110"


@dataclass(frozen=True)
class Place:
    """One side of a contender."""

    protocol: str
    host: str
    port: int

    @property
    def text(self) -> str:
        """Host and port for messages."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def implicit_tls(self) -> bool:
        """TLS from the first byte."""
        return self.protocol in ("smtps", "pop3s")


@dataclass(frozen=True)
class MailAddress:
    """Both sides of a contender."""

    sending: Place
    reading: Place


def security(place: Place, starttls: bool) -> Security:
    """How a side is secured by a plan that turns to TLS with STARTTLS, or does not."""
    return "tls" if place.implicit_tls else "starttls" if starttls else "none"


def way_of(address: MailAddress, starttls: bool) -> str:
    """How a contender is spoken to: `SMTP and POP3 with STARTTLS`."""
    return " and ".join(
        place.protocol.removesuffix("s").upper() + _SECURED[security(place, starttls)]
        for place in (address.sending, address.reading)
    )


def parse_mail_address(text: str) -> MailAddress:
    """Raises PlanError with the accepted forms when `text` is none of them."""
    if "=" not in text:
        return MailAddress(_place(text, "smtp", text), _place(text, "pop3", text))
    places: dict[str, Place] = {}
    for part in text.split(","):
        protocol, _, rest = part.strip().partition("=")
        if protocol not in PORTS:
            raise PlanError(f"address {text!r}: {protocol!r} is not a protocol of mail: {_FORMS}")
        side = "sending" if protocol in SENDING else "reading"
        if side in places:
            raise PlanError(f"address {text!r} names two servers for {side}: {_FORMS}")
        places[side] = _place(text, protocol, rest)
    if len(places) != 2:
        raise PlanError(f"address {text!r} needs a server to send to and one to read from: {_FORMS}")
    return MailAddress(places["sending"], places["reading"])


def _place(text: str, protocol: str, rest: str) -> Place:
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?", rest)
    port = int(match[3]) if match and match[3] else PORTS[protocol]
    if match is None or not 0 < port < 65536:
        raise PlanError(f"address {text!r}: {rest!r} is not a host with a port: {_FORMS}")
    return Place(protocol, match[1] or match[2], port)


def resolve_place(place: Place) -> str:
    """The first numeric address, `127.0.0.1:25` or `[::1]:25`. Raises ContenderError when the name is not known."""
    try:
        addresses = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ContenderError(
            f"{place.text}: the host name cannot be resolved ({reason}): check the spelling and the DNS"
        ) from None
    family, _, _, _, where = addresses[0]
    host, port = str(where[0]), int(where[1])
    return f"[{host}]:{port}" if family == socket.AF_INET6 else f"{host}:{port}"
