"""What the trial specifications of all kinds share. A kind's `spec.py` holds the twin of the engine's serde type.

The twins are held together by `tests/bridge/test_specs.py`: the same names, what one refuses the other does not take.
"""

import secrets
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, SerializeAsAny

MARK_BYTES = 8


class Spec(BaseModel):
    """Base of everything that crosses to the engine: immutable, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Workload(Spec):
    """What is done in a trial; `kind` says by which workload of the engine."""

    kind: str

    @property
    def rehearsed(self) -> bool:
        """Whether the engine tries one operation before the run, as the checks' own client may fare otherwise."""
        return False

    @property
    def pauses_s(self) -> float:
        """How long an operation rests by itself between its parts, in seconds."""
        return 0.0

    def objection(self, figures: dict[str, Any]) -> str | None:
        """What the figures of the operation that the engine tried say against a run; None when nothing."""
        return None

    @property
    def peers(self) -> tuple[str, ...]:
        """Numeric `host:port`, or hosts, that the traffic of a trial goes to; none where it leaves no socket."""
        return ()

    @property
    def mounted(self) -> str | None:
        """The folder that is worked in, where one is."""
        return None

    @property
    def sources(self) -> tuple[str, ...]:
        """Addresses that it comes from, where a plan names some."""
        return ()

    @property
    def of_nothing(self) -> "OfNothing | None":
        """The same way of asking, of a server that does nothing; None where Bakeoff has none that can be asked so."""
        return None

    def marked(self, mark: str) -> Self:
        """The same work for the trial with this mark, where what it leaves must be told from that of others."""
        return self


class OfNothing(Spec):
    """Work that is asked of a server which does nothing, where the generator's own ceiling shows. `server` describes
    the built-in target, `asked` is the work but for the server's address, `words` are what a reader is told of both.
    """

    asked: SerializeAsAny[Workload]
    server: dict[str, str | int | bool]
    words: str

    @property
    def is_kept(self) -> bool:
        """Whether connections are kept."""
        return not self.server.get("close", False)

    def at(self, address: str) -> Workload:
        """The work with the address of the server."""
        return self.asked.model_copy(update={"addresses": (address,)})


def new_mark() -> str:
    """A mark for one trial, the same for all machines that share it."""
    return secrets.token_hex(MARK_BYTES)


class TlsSpec(Spec):
    """How TLS connections are made."""

    verify: bool
    ca_file: str | None
    resumption: bool
