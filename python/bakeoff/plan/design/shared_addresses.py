"""Contenders that are one and the same server: what tells them apart is no difference of servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

AGAIN = "-again"
"""How `bakeoff aa` calls a server the second time."""
PORTS = {"http": ":80", "https": ":443"}
# What of a contender makes no other server of it.
ASIDE = ("name", "address", "levels", "watch", "ready_timeout_s")
ADVICE = "Correct one of the addresses; if it is meant, `bakeoff aa` measures the noise between equals."


@dataclass(frozen=True)
class AddressGroup:
    """An address that several contenders have, with the same settings."""

    address: str
    contenders: tuple[str, ...]

    @property
    def text(self) -> str:
        """A clause that says so."""
        return (
            f"{', '.join(self.contenders[:-1])} and {self.contenders[-1]} have one address ({self.address}): a "
            "difference between them is not one of servers"
        )


def shared_addresses(contenders: Sequence[Mapping[str, Any]]) -> list[AddressGroup]:
    """Each address that several contenders have, with the same settings; none for the two of an A/A run, and for those
    with a reset command, which may make another server of it. They are as a plan stores them, which
    anybody may have written.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for each in contenders:
        if each.get("reset") or not each.get("address"):
            continue
        rest = sorted((str(key), str(value)) for key, value in each.items() if key not in ASIDE)
        groups.setdefault((_plain(str(each.get("address"))), str(rest)), []).append(str(each.get("name")))
    if len(contenders) == 2 and any(names[1:] == [f"{names[0]}{AGAIN}"] for names in groups.values()):
        return []
    return [AddressGroup(address, tuple(names)) for (address, _), names in groups.items() if len(names) > 1]


def _plain(address: str) -> str:
    """An address without what makes no difference: case of the host, port of the scheme, a slash at its end."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    if not parts.netloc:
        return address.rstrip("/") or address
    host = parts.netloc.lower().removesuffix(PORTS.get(parts.scheme.lower(), "\n"))
    return f"{parts.scheme.lower()}://{host}{parts.path.rstrip('/')}{'?' * bool(parts.query)}{parts.query}"
