"""What the ledgers of a run say about each contender."""

from __future__ import annotations

import math
from collections.abc import Iterable

from bakeoff.compare.model.fact import Fact
from bakeoff.core.times import ms_of
from bakeoff.kinds.mail.compare.known import FewMessages, ForeignMail, ReadingLags
from bakeoff.kinds.mail.compare.metrics import sending_share
from bakeoff.kinds.mail.compare.saturation import mean_steps, saturated, threshold_s
from bakeoff.kinds.mail.compare.summary import ContenderLedger, MailAtLoadStep, MailSummary
from bakeoff.kinds.mail.figures import MailFigures, Times
from bakeoff.load.load_step import Clients, LoadStep
from bakeoff.store.records.run_records import OK, RunRecord, TrialRecord

# What must not happen to mail that a server has accepted.
LOSSES = ("lost", "duplicate", "corrupt", "unknown_corrupt", "misdelivered", "ghost", "resurrected")


def came_later(run: RunRecord, name: str) -> int:
    """Messages of a contender's trials that were found after their trial: when mailboxes were emptied for the next one,
    or in that. Before the first trial of a run there is none of it, and behind the last nobody looks.
    """
    _, *later = sorted((t for t in run.trials if t.contender == name), key=lambda trial: trial.order) or (None,)
    later_figures = [trial.figures(MailFigures) for trial in later]
    return sum(figures.init.ours + figures.ledger.counts.get("stale", 0) for figures in later_figures)


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
    """Saturation and ledger of each contender."""
    names = [contender.name for contender in run.contenders]
    at = [
        (name, load_step, [t for t in run.trials if t.contender == name and t.load_step == load_step and t.state == OK])
        for name in names
        for load_step in run.load_steps
    ]
    at_s, means = threshold_s(run), tuple(mean_steps(*one) for one in at)
    return MailSummary(
        saturated_at_s=at_s,
        saturation=means,
        saturated=saturated(run, means, at_s),
        ledgers=tuple(_ledger_of(name, [t for t in run.trials if t.contender == name]) for name in names),
        load_steps=tuple(_mail_at(*one) for one in at),
    )


# What became of a message for a recipient when it was sent: one of these.
OFFERED = ("accepted", "temporary", "permanent", "not_sent", "unknown")


def _mail_at(name: str, load_step: LoadStep, trials: list[TrialRecord]) -> MailAtLoadStep:
    figures = [trial.figures(MailFigures) for trial in trials]
    counts = ledger_counts(trials)
    return MailAtLoadStep(
        contender=name,
        load_step=load_step,
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
    return ms_of(sum(one.count * one.mean_ns for one in known) / count) if count else math.nan


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else math.nan


def _ledger_of(name: str, trials: list[TrialRecord]) -> ContenderLedger:
    ledgers = [trial.figures(MailFigures).ledger for trial in trials]
    foreign = _sum(ledger.foreign or {} for ledger in ledgers)
    unchecked = _sum(ledger.unchecked_mailboxes or {} for ledger in ledgers)
    return ContenderLedger(name, ledger_counts(trials), foreign, unchecked)


# Reading lags when so much of what was accepted in the window, or more, was not read at its end.
LAG_SHARE = 0.1


def lags(run: RunRecord) -> list[Fact]:
    """Contenders whose mail is read more slowly than it is accepted."""
    found = list[Fact]()
    for contender in run.contenders if sending_share(run) < 1.0 else ():
        behind = [row for load_step in run.load_steps if (row := lag(run, contender.name, load_step)) is not None]
        if behind:
            worst = max(behind, key=lambda row: row[3] / row[1])
            found.append(ReadingLags(contender.name, tuple(load_step for load_step, *_ in behind), *worst))
    return found


# Of fewer messages in a window one more or less is more than a tenth of the rate.
FEW_MESSAGES = 10


def few_messages(run: RunRecord) -> list[Fact]:
    """Contenders whose rate of delivered messages is made of a handful in each window."""
    found = list[Fact]()
    for contender in run.contenders:
        telling = [t for t in telling_flow(run, contender.name) if t.state == OK]
        counts = {
            load_step: [
                t.figures(MailFigures).flowing.delivered_per_s * t.window_s for t in telling if t.load_step == load_step
            ]
            for load_step in run.load_steps
        }
        few = {load_step: mean for load_step, each in counts.items() if 0.0 < (mean := _mean(each)) < FEW_MESSAGES}
        if few:
            least = min(few, key=lambda load_step: few[load_step])
            found.append(FewMessages(contender.name, tuple(few), least, few[least]))
    return found


def telling_flow(run: RunRecord, name: str) -> list[TrialRecord]:
    """The trials of a contender that tell the flow of messages."""
    return [t for t in run.trials if t.contender == name and t.figures(MailFigures).flow is not None]


def lag(run: RunRecord, name: str, load_step: LoadStep) -> tuple[LoadStep, float, float, float] | None:
    """(load step, accepted, read, waiting at the end), messages of all its trials; None where reading sustains it."""
    trials = [t for t in telling_flow(run, name) if t.load_step == load_step]
    flows = [t.figures(MailFigures).flowing for t in trials]
    accepted = sum(flow.accepted for flow in flows)
    # What is gone is not waiting.
    gone = ledger_counts(trials)
    waiting = sum(flow.backlog.messages for flow in flows) - gone.get("lost", 0) - gone.get("unchecked", 0)
    # A message for each client that waits for replies is under way in any case.
    under_way = load_step.clients * len(trials) if isinstance(load_step, Clients) else 0
    if not accepted or not waiting > max(LAG_SHARE * accepted, under_way):
        return None
    return load_step, accepted, sum(flow.read for flow in flows), waiting


def foreign_mail(run: RunRecord) -> list[Fact]:
    """Contenders whose mailboxes were given mail that is not Bakeoff's, which was left alone."""
    ledgers = (_ledger_of(c.name, [t for t in run.trials if t.contender == c.name]) for c in run.contenders)
    foreign_counts = [(one.contender, one.foreign) for one in ledgers if one.foreign]
    return [ForeignMail(name, sum(foreign.values()), tuple(sorted(foreign))) for name, foreign in foreign_counts]
