"""What the ledgers of a mail run say about each contender, and at which loads it is saturated."""

from __future__ import annotations

import math

from bakeoff.compare import wording
from bakeoff.compare.mail_metrics import of, sending_share
from bakeoff.compare.mail_model import Books, MailSummary, Saturation
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
    total: dict[str, int] = {}
    for trial in trials:
        for name, count in (trial.workload.get("ledger") or {}).get("counts", {}).items():
            total[name] = total.get(name, 0) + int(count)
    return total


def overall_response_s(trial: TrialRecord) -> float:
    """Mean over all timed steps, seconds; NaN when none succeeded."""
    return trial.service.mean_ns / 1e9 if trial.service.mean_ns is not None else float("nan")


def mail_summary(run: RunRecord) -> MailSummary | None:
    """Of a mail run; None of any other."""
    if run.kind != "mail":
        return None
    names = [contender.name for contender in run.contenders]
    saturation = tuple(
        _saturation(name, mix, [t for t in run.trials if t.contender == name and t.mix_clients == mix])
        for name in names
        for mix in run.mixes
    )
    return MailSummary(
        saturation, tuple(_books(name, [t for t in run.trials if t.contender == name]) for name in names)
    )


def _saturation(name: str, mix: int, trials: list[TrialRecord]) -> Saturation:
    return Saturation(name, mix, _mean_s(trials, "sending"), _mean_s(trials, "reading"))


def _mean_s(trials: list[TrialRecord], side: str) -> float:
    """Over all steps of all trials: a block with few steps must not weigh more than one with many."""
    pairs = [(of(t, "response", side, "steps"), of(t, "response", side, "mean_s")) for t in trials]
    known = [(steps, mean) for steps, mean in pairs if steps > 0 and math.isfinite(mean)]
    total = sum(steps for steps, _ in known)
    return sum(steps * mean for steps, mean in known) / total if total else math.nan


def _books(name: str, trials: list[TrialRecord]) -> Books:
    foreign: dict[str, int] = {}
    unchecked: dict[str, int] = {}
    for trial in trials:
        ledger = trial.workload.get("ledger") or {}
        for found, total in ((ledger.get("foreign"), foreign), (ledger.get("unchecked_mailboxes"), unchecked)):
            for key, count in (found or {}).items():
                total[key] = total.get(key, 0) + int(count)
    return Books(name, ledger_counts(trials), foreign, unchecked)


# Reading lags when so much of what was accepted in the window, or more, was not read at its end.
LAG_SHARE = 0.1


def lags(run: RunRecord) -> tuple[str, ...]:
    """A sentence for each contender whose mail is read more slowly than it is accepted."""
    if run.kind != "mail" or sending_share(run) >= 1.0:
        return ()
    found = []
    for contender in run.contenders:
        behind = [row for mix in run.mixes if (row := lag(run, contender.name, mix)) is not None]
        if behind:
            mixes = wording.names([str(mix) for mix, *_ in behind])
            mix, accepted, read, waiting = max(behind, key=lambda row: row[3] / row[1])
            found.append(
                f"{contender.name}: reading lags behind sending at {mixes} clients: at {mix} it accepted "
                f"{wording.figures(accepted)} messages/s, {wording.figures(read)}/s were read, and "
                f"{wording.figures(waiting)} waited at the end of the window"
            )
    return tuple(found)


def lag(run: RunRecord, name: str, mix: int) -> tuple[int, float, float, float] | None:
    """(clients, accepted/s, read/s, messages waiting), means over the trials; None where reading keeps up."""
    trials = [t for t in run.trials if t.contender == name and t.mix_clients == mix and "flow" in t.workload]
    accepted = sum(of(t, "flow", "accepted") for t in trials)
    # What is gone is not waiting.
    gone = ledger_counts(trials)
    waiting = sum(of(t, "flow", "backlog", "messages") for t in trials) - gone.get("lost", 0) - gone.get("unchecked", 0)
    window_s = sum(t.window_s for t in trials)
    if not trials or not window_s or not accepted or not waiting > LAG_SHARE * accepted:
        return None
    read = sum(of(t, "flow", "read") for t in trials)
    return mix, accepted / window_s, read / window_s, waiting / len(trials)


def foreign_mail(run: RunRecord) -> tuple[str, ...]:
    """A sentence for each contender whose mailboxes were given mail that is not Bakeoff's, which was left alone."""
    if run.kind != "mail":
        return ()
    found = []
    for contender in run.contenders:
        by_mailbox = _books(contender.name, [t for t in run.trials if t.contender == contender.name]).foreign
        if by_mailbox:
            named = sorted(by_mailbox)
            more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
            found.append(
                f"{contender.name}: {wording.plural(sum(by_mailbox.values()), 'message')} that are not Bakeoff's were "
                f"in {wording.plural(len(named), 'mailbox', 'mailboxes')} during trials and left alone: "
                f"{', '.join(named[:NAMED])}{more}"
            )
    return tuple(found)


# Mailboxes named before the rest are only counted.
NAMED = 5
