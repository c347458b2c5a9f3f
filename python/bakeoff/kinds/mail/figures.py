"""What a trial of mail tells: the ledger of messages, their flow, who was let in, and who was refused."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from bakeoff.store.records.figures import Count, Figures, Number, NumberOrNan, Shape

MOST_LISTED = 1_000_000
Counts = Annotated[dict[str, Count], Field(max_length=MOST_LISTED)]
Name = Annotated[str, Field(max_length=1_000)]
Texts = Annotated[tuple[str, ...], Field(max_length=MOST_LISTED)]


class LedgerTotals(Shape):
    """Sums that must agree: what was accepted with what is accounted for, messages seen with those classified."""

    accepted: Count
    accounted: Count
    ids_seen: Count
    classified: Count


class Message(Shape):
    """One message for a recipient: `id` within the trial, the `mailbox` it is for or was found in, its envelope
    `sender`, and when the server took it on, in seconds from the begin of traffic; None where it did not.
    """

    id: Name
    mailbox: Name
    sender: Name = ""
    accepted_s: Number | None = None

    @property
    def text(self) -> str:
        """`0.0.1 in u0001@example.test`."""
        return f"{self.id} in {self.mailbox}"


Messages = Annotated[tuple[Message, ...], Field(max_length=MOST_LISTED)]


class Ledger(Shape):
    """Messages by class, one for each recipient, with the first of each class; `foreign` mail and mailboxes that
    could not be looked at, by mailbox and by reason. No server can bring about one that is not `balanced`. `mark`
    begins the Message-ID of every message of the trial.
    """

    mark: Name = ""
    balanced: bool = True
    counts: Counts = Field(default_factory=dict)
    ids: dict[str, Messages] = Field(default_factory=dict, max_length=MOST_LISTED)
    totals: LedgerTotals | None = None
    foreign: Counts | None = None
    unchecked_mailboxes: Counts | None = None

    def message_id(self, message: Message) -> str:
        """As it stands in the message and in logs of servers; empty without a mark."""
        return f"<{self.mark}.{message.id}@bakeoff.invalid>" if self.mark else ""


class Amount(Shape):
    """Messages for a recipient, and their bytes."""

    messages: NumberOrNan = math.nan
    bytes: NumberOrNan = math.nan


class Backlog(Shape):
    """Messages that were accepted and not read at the end of the window."""

    messages: NumberOrNan = math.nan


class Inside(Shape):
    """Messages certainly between acceptance and delivery: at most at a time, and at either end of the window."""

    peak: NumberOrNan = math.nan
    at_start: NumberOrNan = math.nan
    at_end: NumberOrNan = math.nan


class Drain(Shape):
    """Messages read per second after the trial."""

    per_s: NumberOrNan = math.nan


class Second(Shape):
    """One second of the trial."""

    second: Count
    accepted: Count
    read: Count


class Flow(Shape):
    """Messages in the window, for each recipient, and per second."""

    delivered_per_s: NumberOrNan = math.nan
    delivered_at_last_per_s: NumberOrNan = math.nan
    accepted_per_s: NumberOrNan = math.nan
    read_per_s: NumberOrNan = math.nan
    accepted: NumberOrNan = math.nan
    read: NumberOrNan = math.nan
    offered: Amount = Amount()
    put_off: Amount = Amount()
    in_delivery: Inside = Inside()
    backlog: Backlog = Backlog()
    drain: Drain = Drain()
    per_second: Annotated[tuple[Second, ...], Field(max_length=MOST_LISTED)] = ()


class Times(Shape):
    """One end of the times from acceptance to visibility, ns."""

    count: NumberOrNan = math.nan
    mean_ns: NumberOrNan = math.nan
    p50_ns: NumberOrNan = math.nan
    p95_ns: NumberOrNan = math.nan
    p99_ns: NumberOrNan = math.nan
    p999_ns: NumberOrNan = math.nan


class Visible(Shape):
    """Certainly not there `after` so long, there `by` so long; the former also as an HdrHistogram, V2 in base64."""

    after: Times = Times()
    by: Times = Times()
    after_histogram: Annotated[str, Field(max_length=MOST_LISTED)] = ""


class Tally(Shape):
    """How many were tried, and how many of them failed."""

    tried: Count
    failed: Count


Tallies = Annotated[dict[str, Tally], Field(max_length=MOST_LISTED)]


class Work(Shape):
    """Messages for a recipient, or visits of a mailbox, that ended in the window, and the times of those that went
    well: of a message from the connect to the final reply. Mailboxes, by address, and clients, by number, are those
    that had failures.
    """

    tried: Count = 0
    failed: Count = 0
    time: Times = Times()
    failing_mailboxes: Tallies = Field(default_factory=dict)
    failing_clients: Tallies = Field(default_factory=dict)


class Done(Shape):
    """Whole pieces of work."""

    messages: Work = Work()
    visits: Work = Work()


class Steps(Shape):
    """Steps of one side, and their mean time."""

    steps: NumberOrNan = math.nan
    mean_s: NumberOrNan = math.nan


class Response(Shape):
    """Mean response times without empty polls; of a side with EHLO and QUIT only where these take longer."""

    without_empty_polls: Steps = Steps()
    sending: Steps = Steps()
    reading: Steps = Steps()


class AtPeak(Shape):
    """The times in which as many sessions as ever were inside, and others waited."""

    let_in_expected: NumberOrNan = 0.0


class ServiceSessions(Shape):
    """Sessions at a time behind one door of the server."""

    peak: Count = 0
    at_peak: AtPeak | None = None


class Refused(Shape):
    """Sessions that were not served, by reason, and what the server said."""

    counts: Counts = Field(default_factory=dict)
    texts: Texts = ()


class Refusals(Shape):
    """Before the trial, and in it."""

    init: Refused = Refused()
    measured: Refused = Refused()


class Share(Shape):
    """Share of the clients' time spent on sending."""

    sending: NumberOrNan = math.nan


class Emptied(Shape):
    """What the mailboxes held before the trial; `ours` is mail of earlier trials."""

    ours: Count = 0


class MailFigures(Figures):
    """Parts are empty where a trial does not tell them; `flow` is None then."""

    ledger: Ledger = Ledger()
    flow: Flow | None = None
    visible: Visible = Visible()
    response: Response = Response()
    sessions: dict[str, ServiceSessions] = Field(default_factory=dict, max_length=MOST_LISTED)
    refusals: Refusals = Refusals()
    init: Emptied = Emptied()
    done: Done | None = None
    share: Share = Share()

    @property
    def flowing(self) -> Flow:
        """The flow; one of unknown figures where the trial tells none."""
        return self.flow or NO_FLOW


NO_FLOW = Flow()

PART = MailFigures
