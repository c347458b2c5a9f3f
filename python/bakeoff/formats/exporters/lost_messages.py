"""Messages that a mail server did not keep, by the Message-IDs that stand in its logs."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters.base import Exporter
from bakeoff.formats.exporters.csv_text import Value, csv_text
from bakeoff.formats.exporters.tables import of_trial
from bakeoff.kinds.mail.figures import MailFigures, Message
from bakeoff.store.records.run_records import RunRecord, TrialRecord

# What must not happen to accepted mail, what could not be looked for, and what was given back, by the ledger's names.
FATES = (
    "lost", "duplicate", "corrupt", "unknown_corrupt", "misdelivered", "ghost", "resurrected", "bounced", "unchecked",
)  # fmt: skip
COLUMNS = (
    "message_id", "fate", *of_trial(None), "trial", "state", "sender", "recipient", "accepted_at", "traffic_began_at",
    "message",
)  # fmt: skip


class LostMessages(Exporter):
    """See Exporter. `recipient` is of a misdelivered message the mailbox in which it was found."""

    name = "lost-messages"
    suffix = ".lost.csv"
    summary = "Message-IDs of mail that was lost, doubled, damaged or misdelivered, to be looked for in servers' logs"

    def content(self, run: RunRecord, table: str | None = None) -> str:
        if run.kind != "mail":
            raise PlanError(f"lost-messages is for runs of mail, not of {run.suite}: choose another format")
        return csv_text(COLUMNS, (row for trial in run.trials for row in _rows(trial)))

    def notes(self, run: RunRecord) -> tuple[str, ...]:
        """How many there are, and those that the run file does not list."""
        ledgers = [(trial, trial.figures(MailFigures).ledger) for trial in run.trials]
        total = sum(len(ledger.ids.get(fate, ())) for _, ledger in ledgers for fate in FATES)
        found = ["no message was lost, doubled, damaged or misdelivered"] if total == 0 else []
        for trial, ledger in ledgers:
            for fate in FATES:
                listed, counted = len(ledger.ids.get(fate, ())), ledger.counts.get(fate, 0)
                if counted > listed:
                    found.append(
                        f"trial {trial.id} ({trial.contender}): the run file lists the first {listed:,} of "
                        f"{counted:,} messages: {fate}"
                    )
        return tuple(found)


def _rows(trial: TrialRecord) -> Iterator[tuple[Value, ...]]:
    figures = trial.figures(MailFigures)
    for fate in FATES:
        for message in figures.ledger.ids.get(fate, ()):
            known: dict[str, Value] = {
                **of_trial(trial),
                "message_id": figures.ledger.message_id(message) or None,
                "fate": fate,
                "trial": trial.id,
                "state": trial.state,
                "sender": message.sender or None,
                "recipient": message.mailbox,
                "accepted_at": _moment(figures.began_at, message),
                "traffic_began_at": figures.began_at,
                "message": message.id,
            }
            yield tuple(known[column] for column in COLUMNS)


def _moment(began_at: str | None, message: Message) -> str | None:
    """When the server said that it had the message, UTC."""
    if began_at is None or message.accepted_s is None:
        return None
    try:
        accepted = datetime.fromisoformat(began_at) + timedelta(seconds=message.accepted_s)
    except (ValueError, OverflowError):
        return None
    return accepted.isoformat(timespec="milliseconds")


LOST_MESSAGES = LostMessages()
