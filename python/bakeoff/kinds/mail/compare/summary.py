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
class MailSummary(KindSummary):
    """Saturation at each mix, and the books."""

    key: ClassVar[str] = "mail"

    saturation: tuple[Saturation, ...]
    books: tuple[Books, ...]
