"""What the trial specifications of all kinds share. A kind's `spec.py` holds the twin of the engine's serde type.

The twins are held together by `tests/bridge/test_specs.py`: the same names, what one refuses the other does not take.
"""

import secrets
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, SerializeAsAny

from bakeoff.kinds import load
from bakeoff.load.load_step import LoadStep

MARK_BYTES = 8
SECRET_BITS = 64


class Spec(BaseModel):
    """Base of everything that crosses to the engine: immutable, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Workload(Spec):
    """What is done in a trial; `kind` says by which workload of the engine."""

    kind: str

    @property
    def rehearsed(self) -> bool:
        """Whether the engine tries one operation before the run: the checks ask for one page, a trial for more."""
        return False

    @property
    def pauses_s(self) -> float:
        """How long an operation rests by itself between its parts, in seconds."""
        return 0.0

    @property
    def learning(self) -> Self | None:
        """The same work, whose figures tell what replies were; None where that is learnt in another way, or not."""
        return None

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
    def null_calibration(self) -> "NullCalibration | None":
        """The same way of asking, of a server that does nothing; None where Bakeoff has none that can be asked so."""
        return None

    def under(self, load_step: LoadStep) -> Self:
        """The same work at this load step, where that is not a matter of the load alone."""
        return self

    def at(self, address: str, certificate: str | None = None) -> Self:
        """The same work, of a built-in server at this address, whose certificate is this PEM file if it has one."""
        return self.model_copy(update={"addresses": (address,)})

    def marked(self, mark: str) -> Self:
        """The same work for the trial with this mark, where what it leaves must be told from that of others."""
        return self


def spec_part(name: str) -> type[Workload]:
    """What the engine is told of a kind. Raises PlanError when there is no such kind, or when it lacks this part."""
    part: type[Workload] = load(name, "spec")
    return part


class NullCalibration(Spec):
    """Work that is asked of a server which does nothing, where the generator's own capacity shows. `server` describes
    the built-in target, `asked` is the work but for the server's address, `words` are what a reader is told of both.
    A connection is made for `connects_every` operations, at the most; None where all are kept. No more than
    `most_clients` can ask it.
    """

    asked: SerializeAsAny[Workload]
    server: dict[str, str | int | bool | dict[str, bool]]
    words: str
    connects_every: int | None = None
    most_clients: int = 100_000

    @property
    def way(self) -> str:
        """What makes another way of asking of it: all but how long replies are, which one number stands for."""
        return self.model_copy(update={"server": {**self.server, "page_bytes": 0}, "words": ""}).model_dump_json()

    def described(self, threads: int, certificate: str) -> dict[str, Any]:
        """The server with as many threads as it is asked by, and the file for its certificate, where it has one."""
        described: dict[str, Any] = {**self.server, "threads": threads}
        if isinstance(tls := self.server.get("tls"), dict):
            described["tls"] = {**tls, "certificate_file": certificate}
        return described


def new_mark() -> str:
    """A mark for one trial, the same for all machines that share it."""
    return secrets.token_hex(MARK_BYTES)


def new_secret() -> int:
    """A secret for one trial, the same for all machines that share it."""
    return secrets.randbits(SECRET_BITS)


class TlsSpec(Spec):
    """How TLS connections are made."""

    verify: bool
    ca_file: str | None
    resumption: bool
    # The end of the handshake is written by itself, before what is sent first; else both leave together.
    handshake_apart: bool = False

    def of_built_in(self, certificate: str | None) -> Self:
        """The same of a built-in server, whose certificate this PEM file is: checked where this checks one."""
        verify = certificate is not None and self.verify
        return self.model_copy(update={"verify": verify, "ca_file": certificate if verify else None})
