"""What must be known of a mail run, as data: reading that lags, foreign mail, and limits that decided its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.gate import GateDetail
from bakeoff.load.load_step import LoadStep


@dataclass(frozen=True)
class LedgerRule(Fact):
    """Each message has one class."""


@dataclass(frozen=True)
class FailedShares(GateDetail):
    """Of what users count, the share that failed."""

    shares: Mapping[str, float]


@dataclass(frozen=True)
class SmallerMail(GateDetail):
    """The messages that were taken are smaller by this share, on average."""

    smaller: float


@dataclass(frozen=True)
class MixedTls(Fact):
    """By contender in which way it is spoken to, where some have TLS and others have not."""

    ways: Mapping[str, str]


@dataclass(frozen=True)
class ReadingLags(Fact):
    """A contender whose mail is read more slowly than it is accepted, at `load_steps`; messages are those of all
    windows at `worst`.
    """

    contender: str
    load_steps: tuple[LoadStep, ...]
    worst: LoadStep
    accepted: float
    read: float
    waiting: float


@dataclass(frozen=True)
class FewMessages(Fact):
    """A contender of whose messages a window has a handful at `load_steps`, and `mean` on average at the `least` of
    them.
    """

    contender: str
    load_steps: tuple[LoadStep, ...]
    least: LoadStep
    mean: float


@dataclass(frozen=True)
class ForeignMail(Fact):
    """Messages that are not Bakeoff's, in these mailboxes of a contender."""

    contender: str
    messages: int
    mailboxes: tuple[str, ...]


@dataclass(frozen=True)
class LostCameLater(Fact):
    """By contender how much mail of earlier trials was found, of how much that is lost. Drains ended after so long."""

    found: Mapping[str, tuple[int, int]]
    drain_s: float


@dataclass(frozen=True)
class ShortDrain(Fact):
    """The drain ended before mail counts as late: by contender the lost mail that may have been in a queue."""

    lost: Mapping[str, int]
    drain_s: float
    late_s: float


@dataclass(frozen=True)
class SessionsBounded(Fact):
    """Never more than so many sessions were served at once at a `door`."""

    contender: str
    service: str
    limit: int


@dataclass(frozen=True)
class QueueFull(Fact):
    """Connects waited for whole seconds, or in vain; `queues` are the listen backlogs that are known."""

    contender: str
    queues: tuple[str, ...]


@dataclass(frozen=True)
class RateBounded(Fact):
    """So many messages per second at several loads, which is a known limit."""

    contender: str
    limit: int


@dataclass(frozen=True)
class DeliveryBounded(Fact):
    """At `load_steps` a contender delivered messages at one `rate`, while what it accepted a second, and what waited,
    grew from the first value to the second. By the time of a delivery at `free`, that is from `least` to `most`
    deliveries at a time.
    """

    contender: str
    load_steps: tuple[LoadStep, ...]
    rate: float
    accepted: tuple[float, float]
    waiting: tuple[float, float]
    free: LoadStep
    least: float
    most: float


@dataclass(frozen=True)
class DeliveryWaited(Fact):
    """Up to `peak` accepted messages at once were certainly not delivered, one in twenty for `wait_ms` or more."""

    contender: str
    peak: float
    wait_ms: float
