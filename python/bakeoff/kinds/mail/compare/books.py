"""What the ledgers of a run say about each contender, and at which loads it is saturated."""

from __future__ import annotations

import math
from collections.abc import Iterable

from bakeoff.compare import wording
from bakeoff.kinds.mail.compare.metrics import sending_share
from bakeoff.kinds.mail.compare.summary import Books, MailAtMix, MailSummary, Saturation
from bakeoff.kinds.mail.figures import MailFigures, Steps, Times
from bakeoff.mix import Mix
from bakeoff.store.records import RunRecord, TrialRecord

# What must not happen to mail that a server has accepted, in words.
LOSSES = {
    "lost": "lost",
    "duplicate": "delivered more than once",
    "corrupt": "damaged",
    "unknown_corrupt": "damaged when the connection was lost before the reply",
    "misdelivered": "put into a mailbox it was not for",
    "ghost": "refused and delivered all the same",
    "resurrected": "back after its deletion was confirmed",
}


def ledger_counts(trials: list[TrialRecord]) -> dict[str, int]:
    """The classes of all messages of `trials`, added up."""
    return _sum(trial.figures(MailFigures).ledger.counts for trial in trials)


def _sum(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for name, count in one.items():
            total[name] = total.get(name, 0) + count
    return total


def mail_summary(run: RunRecord) -> MailSummary:
    """Saturation and books of each contender."""
    names = [contender.name for contender in run.contenders]
    at = [
        (name, mix, [t for t in run.trials if t.contender == name and t.mix == mix])
        for name in names
        for mix in run.mixes
    ]
    return MailSummary(
        tuple(_saturation(*one) for one in at),
        tuple(_books(name, [t for t in run.trials if t.contender == name]) for name in names),
        tuple(_mail_at(*one) for one in at),
    )


# What became of a message for a recipient when it was sent: one of these.
OFFERED = ("accepted", "temporary", "permanent", "not_sent", "unknown")


def _mail_at(name: str, mix: Mix, trials: list[TrialRecord]) -> MailAtMix:
    figures = [trial.figures(MailFigures) for trial in trials]
    counts = ledger_counts(trials)
    return MailAtMix(
        contender=name,
        mix=mix,
        trials=len(trials),
        sent=sum(counts.get(kind, 0) for kind in OFFERED),
        delivered=counts.get("delivered", 0),
        late=counts.get("late", 0),
        lost=counts.get("lost", 0),
        duplicate=counts.get("duplicate", 0),
        corrupt=counts.get("corrupt", 0) + counts.get("unknown_corrupt", 0),
        counts=counts,
        visible_after_mean_ms=_mean_ms(one.visible.after for one in figures),
        visible_by_mean_ms=_mean_ms(one.visible.by for one in figures),
        drain_per_s=_mean(one.flowing.drain.per_s for one in figures),
        sending_share=_mean(one.share.sending for one in figures),
    )


def _mean_ms(times: Iterable[Times]) -> float:
    """Over all messages of all trials."""
    known = [one for one in times if one.count > 0 and math.isfinite(one.mean_ns)]
    count = sum(one.count for one in known)
    return sum(one.count * one.mean_ns for one in known) / count / 1e6 if count else math.nan


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else math.nan


def _saturation(name: str, mix: Mix, trials: list[TrialRecord]) -> Saturation:
    responses = [trial.figures(MailFigures).response for trial in trials]
    return Saturation(name, mix, _mean_s(r.sending for r in responses), _mean_s(r.reading for r in responses))


def _mean_s(sides: Iterable[Steps]) -> float:
    """Over all steps of all trials: a block with few steps must not weigh more than one with many."""
    known = [side for side in sides if side.steps > 0 and math.isfinite(side.mean_s)]
    total = sum(side.steps for side in known)
    return sum(side.steps * side.mean_s for side in known) / total if total else math.nan


def _books(name: str, trials: list[TrialRecord]) -> Books:
    ledgers = [trial.figures(MailFigures).ledger for trial in trials]
    foreign = _sum(ledger.foreign or {} for ledger in ledgers)
    return Books(name, ledger_counts(trials), foreign, _sum(ledger.unchecked_mailboxes or {} for ledger in ledgers))


# Reading lags when so much of what was accepted in the window, or more, was not read at its end.
LAG_SHARE = 0.1


def lags(run: RunRecord) -> tuple[str, ...]:
    """A sentence for each contender whose mail is read more slowly than it is accepted."""
    if sending_share(run) >= 1.0:
        return ()
    sentences = []
    for contender in run.contenders:
        behind = [row for mix in run.mixes if (row := lag(run, contender.name, mix)) is not None]
        if behind:
            mixes = wording.several([mix for mix, *_ in behind])
            mix, accepted, read, waiting = max(behind, key=lambda row: row[3] / row[1])
            sentences.append(
                f"{contender.name}: reading lags behind sending at {mixes}: at {mix} it accepted "
                f"{wording.figures(accepted)} messages/s, {wording.figures(read)}/s were read, and "
                f"{wording.figures(waiting)} waited at the end of the window"
            )
    return tuple(sentences)


def telling_flow(run: RunRecord, name: str) -> list[TrialRecord]:
    """The trials of a contender that tell the flow of messages."""
    return [t for t in run.trials if t.contender == name and t.figures(MailFigures).flow is not None]


def lag(run: RunRecord, name: str, mix: Mix) -> tuple[Mix, float, float, float] | None:
    """(mix, accepted/s, read/s, messages waiting), means over the trials; None where reading keeps up."""
    trials = [t for t in telling_flow(run, name) if t.mix == mix]
    flows = [t.figures(MailFigures).flowing for t in trials]
    accepted = sum(flow.accepted for flow in flows)
    # What is gone is not waiting.
    gone = ledger_counts(trials)
    waiting = sum(flow.backlog.messages for flow in flows) - gone.get("lost", 0) - gone.get("unchecked", 0)
    window_s = sum(t.window_s for t in trials)
    if not trials or not window_s or not accepted or not waiting > LAG_SHARE * accepted:
        return None
    read = sum(flow.read for flow in flows)
    return mix, accepted / window_s, read / window_s, waiting / len(trials)


def foreign_mail(run: RunRecord) -> tuple[str, ...]:
    """A sentence for each contender whose mailboxes were given mail that is not Bakeoff's, which was left alone."""
    sentences = []
    for contender in run.contenders:
        by_mailbox = _books(contender.name, [t for t in run.trials if t.contender == contender.name]).foreign
        if by_mailbox:
            named = sorted(by_mailbox)
            more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
            sentences.append(
                f"{contender.name}: {wording.plural(sum(by_mailbox.values()), 'message')} that are not Bakeoff's were "
                f"in {wording.plural(len(named), 'mailbox', 'mailboxes')} during trials and left alone: "
                f"{', '.join(named[:NAMED])}{more}"
            )
    return tuple(sentences)


# Mailboxes named before the rest are only counted.
NAMED = 5
