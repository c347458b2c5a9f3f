"""How ssh is called, wherever it is: the user's own, which may neither ask nor wait for ever, nor go to a machine that
nobody knows, nor run or forward anything here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address

CONNECT_S = 10
_OPTIONS = (
    "BatchMode=yes",
    f"ConnectTimeout={CONNECT_S}",
    "ConnectionAttempts=1",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=2",
    "NumberOfPasswordPrompts=0",
    # Who answers in place of the machine would tell its facts and figures.
    "StrictHostKeyChecking=yes",
    "UpdateHostKeys=no",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "RequestTTY=no",
    "LogLevel=ERROR",
)

# What ssh would not take for an option or a part of a command. Names of hosts are also those of ~/.ssh/config, where
# capitals count.
_ADDRESS = re.compile(
    r"ssh://(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})@)?"
    r"(?:(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]{0,252})|\[(?P<number>[0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9_.-]{1,20})?)\])"
    r"(?::(?P<port>[0-9]{1,5}))?/?"
)


@dataclass(frozen=True)
class Address:
    """Of a machine that is reached by ssh; what is not given is for the user's own settings to say."""

    host: str
    user: str | None
    port: int | None


def address_of(text: str) -> Address | None:
    """`ssh://user@host:22`, also with an IPv6 address in brackets; None for what is no such address."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    port = None if found["port"] is None else int(found["port"])
    if (port is not None and not 0 < port < 65_536) or (found["number"] and not _is_number(found["number"])):
        return None
    return Address(found["name"] or found["number"], found["user"], port)


def has_password(text: str) -> bool:
    """Whether a password stands in an address, which is then not to be said again."""
    return ":" in text.partition("://")[2].rpartition("@")[0]


def _is_number(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def argv(host: str, command: str, user: str | None = None, port: int | None = None) -> tuple[str, ...]:
    """What is run here so that `command` is run there."""
    options = [word for option in _OPTIONS for word in ("-o", option)]
    where = [*([] if port is None else ["-p", str(port)]), *([] if user is None else ["-l", user])]
    return ("ssh", "-T", *options, *where, "--", host, command)
