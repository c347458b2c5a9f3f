"""What a comparison tells beside its curves: immutable values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bakeoff.compare.model.comparison import KindSummary
from bakeoff.load.load_step import LoadStep


@dataclass(frozen=True)
class Saturation:
    """Mean seconds of the steps of each side, and of both together, that a contender takes at a load step: no EHLO, no
    QUIT, no empty polls; steps that ran into their time-out count with the time that was waited for them. NaN where
    none was timed.
    """

    contender: str
    load_step: LoadStep
    sending_s: float
    reading_s: float
    together_s: float

    def mean_s(self, side: str) -> float:
        """Of one of `SIDES`."""
        return {"sending": self.sending_s, "reading": self.reading_s, "together": self.together_s}[side]


SIDES = ("sending", "reading", "together")


@dataclass(frozen=True)
class Saturated:
    """From `load_step` on a contender is saturated on one of `SIDES`, that is by `protocol`: a step takes `mean_s`
    there, the threshold or more. `below_again` are higher load steps at which it is not.
    """

    contender: str
    side: str
    protocol: str
    load_step: LoadStep
    mean_s: float
    below_again: tuple[LoadStep, ...]


@dataclass(frozen=True)
class ContenderLedger:
    """What became of the mail of a contender in all its trials: messages by class (one for each recipient), foreign
    mail by mailbox, and mailboxes that could not be looked at after a trial, by reason.
    """

    contender: str
    counts: dict[str, int]
    foreign: dict[str, int]
    unchecked_mailboxes: dict[str, int]


@dataclass(frozen=True)
class MailAtLoadStep:
    """The mail of a contender at one load step in all its `trials`: messages, one for each recipient. `sent` is what
    the server was offered, whatever came of it; `counts` are all classes of the ledger. Delivery took longer than
    `visible_after_mean_ms` and at most `visible_by_mean_ms`, means over all messages that came. `drain_per_s` are those
    read per second after a trial, `sending_share` that of the clients' time, means over the trials.
    """

    contender: str
    load_step: LoadStep
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
    """Mean steps at each load step, who is saturated by them (`saturated_at_s` or more), ledgers, the mail at each
    load step.
    """

    key: ClassVar[str] = "mail"

    saturated_at_s: float
    saturation: tuple[Saturation, ...]
    saturated: tuple[Saturated, ...]
    ledgers: tuple[ContenderLedger, ...]
    load_steps: tuple[MailAtLoadStep, ...] = ()
