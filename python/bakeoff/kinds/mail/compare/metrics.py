"""What mail servers are compared by: messages, not steps, for a poll of an empty mailbox is a step as well."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from bakeoff.compare import settings
from bakeoff.compare.metric import Metric
from bakeoff.kinds.mail.figures import Flow, MailFigures
from bakeoff.store.records import RunRecord, TrialRecord


def counts_messages(run: RunRecord) -> bool:
    """Whether the trials of `run` tell delivered messages: mail is sent in it, and books are kept."""
    flows = (trial.figures(MailFigures).flowing for trial in run.trials)
    return sending_share(run) > 0.0 and any(math.isfinite(flow.delivered_per_s) for flow in flows)


def sending_share(run: RunRecord) -> float:
    """Share of the clients' time that the plan gives to sending."""
    return settings.number(run.plan, "sending_share", 0.3)


def mail_metrics(run: RunRecord, general: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """The metrics of a mail run, the primary one first; `general` are those of any run.

    Delivered is what was accepted in the window and read back whole in the window, once. What comes later does not
    count: a server that takes mail quickly and delivers it when the load is over would else have the rate of one that
    delivers under load. Only where nobody reads under load (`sending_share` of 1) is the drain what counts.
    """
    late = sending_share(run) >= 1.0

    def delivered(flow: Flow) -> float:
        return flow.delivered_at_last_per_s if late else flow.delivered_per_s

    title = "Messages delivered (accepted in the window, read back whole" + ("" if late else " in it") + ", once)"
    steps, *others = general
    return (
        _rate("rate", title, "delivered", delivered),
        _rate("accepted", "Messages accepted", "accepted", lambda flow: flow.accepted_per_s),
        _rate("read", "Messages read", "read", lambda flow: flow.read_per_s),
        Metric("backlog", BACKLOG_TITLE, "messages", False, "log", _backlog, "backlog"),
        _times(
            "response",
            "Mean response without empty polls",
            lambda figures: 1e3 * figures.response.without_empty_polls.mean_s,
        ),
        _times("visible_after", "Not yet visible after (p95, lower end)", _visible_after_ms),
        _times("visible_by", "Visible by (p95, upper end)", lambda figures: 1e-6 * figures.visible.by.p95_ns),
        replace(steps, key="steps"),
        *(_published(metric) if metric.key == "mean" else metric for metric in others),
    )


LEAST_MS = 0.001
# One more, for there is no ratio to none at all, which is the best.
BACKLOG_TITLE = "Accepted and not read at the end of the window, plus 1"


def _rate(key: str, title: str, done: str, pick: Callable[[Flow], float]) -> Metric:
    unit = f"{done} messages/s"
    return Metric(key, title, unit, True, "log", lambda t: pick(t.figures(MailFigures).flowing), unit)


def _times(key: str, title: str, pick: Callable[[MailFigures], float]) -> Metric:
    """Milliseconds."""
    short = title[0].lower() + title[1:]
    return Metric(key, title, "ms", False, "log", lambda t: pick(t.figures(MailFigures)), short)


def _backlog(trial: TrialRecord) -> float:
    return 1.0 + trial.figures(MailFigures).flowing.backlog.messages


def _visible_after_ms(figures: MailFigures) -> float:
    after_ms = 1e-6 * figures.visible.after.p95_ns
    # The lower end of an interval is nothing when no session came too early: there is no ratio of that.
    return math.nan if after_ms < LEAST_MS else after_ms


def _published(mean: Metric) -> Metric:
    title = "Mean response of all steps (as published)"
    return replace(mean, title=title)
