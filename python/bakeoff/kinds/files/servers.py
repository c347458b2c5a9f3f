"""File servers that are met by their own protocol, without a mount: their addresses, and what they agree to."""

import json
import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bakeoff.core.errors import ContenderError, PlanError
from bakeoff.core.units import format_size
from bakeoff.plan.model import Contender

# What is no option of the session.
APART = ("protocol", "host", "peer", "free_bytes")
# What is said first of a server, in this order; what is not there is left out.
FIRST = ("dialect", "signing", "encryption", "user")


@dataclass(frozen=True)
class Agreed:
    """What a server agreed to: `facts` as the engine tells them, among them `peer` and `free_bytes`."""

    facts: dict[str, Any]

    @property
    def protocol(self) -> str:
        return str(self.facts["protocol"])

    @property
    def free_bytes(self) -> int | None:
        free = self.facts.get("free_bytes")
        return free if isinstance(free, int) else None

    @property
    def options(self) -> str:
        """As options of a mount are written."""
        facts = {
            key: value for key, value in self.facts.items() if key not in ("protocol", "peer", "free_bytes", "host")
        }
        return ",".join(f"{key}={_plain(value)}" for key, value in facts.items() if value is not None)


def _engine() -> Any:
    from bakeoff.agents.engine import load_engine  # reports on any kind load no engine

    return load_engine()


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def check_server_address(address: str) -> None:
    """Raise PlanError unless `address` names a file server that can be met by its protocol."""
    engine = _engine()
    try:
        engine.check_file_server(address)
    except engine.SpecError as error:
        raise PlanError(f"address {error}") from None


def with_identity(address: str) -> str:
    """The address with who speaks: in NFS the user and group of this process, unless it names some."""
    if not address.startswith("nfs://"):
        return address
    known = parse_qs(urlsplit(address).query)
    own = {"uid": os.getuid(), "gid": os.getgid()}
    added = "&".join(f"{key}={number}" for key, number in own.items() if key not in known)
    if not added:
        return address
    return f"{address}{'&' if known else '?'}{added}"


def agreed_with(contender: Contender, patience_s: float) -> Agreed:
    """What the server agrees to, once a file was written to it, read back and removed. Raises ContenderError."""
    engine = _engine()
    try:
        return Agreed(json.loads(engine.try_file_server(with_identity(contender.address), patience_s)))
    except (engine.EngineError, engine.SpecError) as error:
        raise ContenderError(f"{contender.name}: {error}") from None


def remove_folder(contender: Contender, name: str, patience_s: float) -> None:
    """Remove a work folder of ours. Raises ContenderError."""
    engine = _engine()
    try:
        engine.remove_server_folder(with_identity(contender.address), name, patience_s)
    except (engine.EngineError, engine.SpecError) as error:
        raise ContenderError(f"{contender.name}: {error}") from None


def described(name: str, agreed: Agreed) -> str:
    """A sentence on a contender's server."""
    facts = agreed.facts
    named = [f"{key} {_plain(facts[key])}" for key in FIRST if facts.get(key) is not None]
    sizes = f"reads of {format_size(facts['read_bytes_max'])} and writes of {format_size(facts['write_bytes_max'])}"
    return f"{name}: {agreed.protocol} without a mount, {', '.join([*named, sizes])} at most"
