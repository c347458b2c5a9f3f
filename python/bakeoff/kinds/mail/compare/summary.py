"""What a comparison tells beside its curves: immutable values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bakeoff.compare.model import KindSummary
from bakeoff.mix import Mix

SATURATED_S = 5.0


@dataclass(frozen=True)
class Saturation:
    """Mean seconds of the steps of one side that a contender takes at a mix: no EHLO, no QUIT, no empty polls; steps
    that ran into their time-out count with the time that was waited for them.
    """

    contender: str
    mix: Mix
    sending_s: float
    reading_s: float

    @property
    def sides(self) -> tuple[str, ...]:
        """Those that take too long."""
        named = (("sending", self.sending_s), ("reading", self.reading_s))
        return tuple(name for name, seconds in named if seconds >= SATURATED_S)


@dataclass(frozen=True)
class Books:
    """What became of the mail of a contender in all its trials: messages by class (one for each recipient), foreign
    mail by mailbox, and mailboxes that could not be looked at after a trial, by reason.
    """

    contender: str
    counts: dict[str, int]
    foreign: dict[str, int]
    unchecked_mailboxes: dict[str, int]


@dataclass(frozen=True)
class MailAtMix:
    """The mail of a contender at one mix in all its `trials`: messages, one for each recipient. `sent` is what the
    server was offered, whatever came of it; `counts` are all classes of the ledger. Delivery took longer than
    `visible_after_mean_ms` and at most `visible_by_mean_ms`, means over all messages that came. `drain_per_s` are those
    read per second after a trial, `sending_share` that of the clients' time, means over the trials.
    """

    contender: str
    mix: Mix
    trials: int
    sent: int
    delivered: int
    late: int
    lost: int
    duplicate: int
    corrupt: int
    counts: dict[str, int]
    visible_after_mean_ms: float
    visible_by_mean_ms: float
    drain_per_s: float
    sending_share: float


@dataclass(frozen=True)
class MailSummary(KindSummary):
    """Saturation at each mix, the books, and the mail at each mix."""

    key: ClassVar[str] = "mail"

    saturation: tuple[Saturation, ...]
    books: tuple[Books, ...]
    mixes: tuple[MailAtMix, ...] = ()
