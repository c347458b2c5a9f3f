"""What the trial specifications of all kinds share. A kind's `spec.py` holds the twin of the engine's serde type.

The twins are held together by `tests/bridge/test_specs.py`: the same names, what one refuses the other does not take.
"""

import secrets
from typing import Self

from pydantic import BaseModel, ConfigDict

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

    def marked(self, mark: str) -> Self:
        """The same work for the trial with this mark, where what it leaves must be told from that of others."""
        return self


def new_mark() -> str:
    """A mark for one trial, the same for all machines that share it."""
    return secrets.token_hex(MARK_BYTES)


class TlsSpec(Spec):
    """How TLS connections are made."""

    verify: bool
    ca_file: str | None
    resumption: bool
