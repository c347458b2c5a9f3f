"""What failed of mail, by what its users count: messages for a recipient, and visits of a mailbox."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bakeoff.compare.model.comparison import Failed
from bakeoff.kinds.mail.figures import MailFigures, Work
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.served import WorkPart, parts_of


def failures(trials: Iterable[TrialRecord]) -> tuple[Failed, ...]:
    """Over the windows of all `trials`; empty where none tells them."""
    done_work = [done for trial in trials if (done := trial.figures(MailFigures).done) is not None]
    counted = (
        _failed([done.messages for done in done_work], title="messages"),
        _failed([done.visits for done in done_work], title="visits of a mailbox"),
    )
    return tuple(each for each in counted if each.tried)


def _failed(works: Sequence[Work], title: str) -> Failed:
    return Failed(title, sum(one.failed for one in works), sum(one.tried for one in works))


def parts(trial: TrialRecord) -> Iterator[WorkPart]:
    """Also messages and visits: those of each mailbox, and in a closed loop those of each client. Steps and polls, of
    which there are many, would hide them.
    """
    yield from parts_of(trial)
    done = trial.figures(MailFigures).done
    if done is None:
        return
    for sort, place, work in (("messages", "to", done.messages), ("visits", "of", done.visits)):
        places = {f"{sort} {place}": work.failing_mailboxes}
        if trial.starts is None:
            places[f"{sort} by client"] = work.failing_clients
        for words, tallies in places.items():
            for name, tally in tallies.items():
                yield WorkPart(words, name, max(0, tally.tried - tally.failed), tally.failed)
