"""The ways to a machine's facts: `local`, `ssh://user@host`, `command: …`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

from bakeoff.core.errors import PlanError
from bakeoff.core.system.ssh import address_of, argv, has_password

LONGEST = 1000
FORMS = 'say "local", "ssh://user@host" or "command: ./facts.sh"'


@dataclass(frozen=True)
class Way:
    """`text` as it was given; `argv` is what is run here; `host` is who answers over ssh, `user@host`."""

    text: str
    kind: Literal["local", "ssh", "command"]
    argv: tuple[str, ...]
    host: str = ""
    port: int | None = None

    @property
    def act(self) -> str:
        """What is done here, in words."""
        match self.kind:
            case "local":
                return "read facts of this machine"
            case "ssh":
                return f"read facts of {self.host} over ssh"
            case "command":
                return f"run here: {self.argv[-1]}"

    @property
    def ssh(self) -> str:
        """The command that a person types to get there."""
        return shlex.join(["ssh", *(["-p", str(self.port)] if self.port else []), self.host])


def way_of(text: str) -> Way:
    """The way that `text` names. Raises PlanError."""
    text = text.strip()
    if len(text) > LONGEST or not text.isprintable():
        raise PlanError(f"a way to collect facts is one line of at most {LONGEST} signs: {FORMS}")
    if text == "local":
        return Way(text, "local", ("sh", "-s"))
    if text.startswith("command:"):
        command = text.removeprefix("command:").strip()
        if not command:
            raise PlanError(f"{text!r} names no command: {FORMS}")
        return Way(text, "command", ("sh", "-c", command))
    if text.startswith("ssh://"):
        return _ssh(text)
    raise PlanError(f"{text!r} is no way to collect facts: {FORMS}")


def _ssh(text: str) -> Way:
    if has_password(text):
        raise PlanError("a password stands in an address of ssh: leave it out, and use a key (ssh-copy-id)")
    address = address_of(text)
    if address is None:
        raise PlanError(f"{text!r} is no address of ssh: say ssh://user@host or ssh://user@host:22")
    named = f"{address.user}@{address.host}" if address.user else address.host
    return Way(text, "ssh", argv(named, "sh -s", port=address.port), named, address.port)
