"""What mail servers are compared by: messages, not steps, for a poll of an empty mailbox is a step as well."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from bakeoff.compare.metrics.metric import Metric
from bakeoff.core.times import ms_of
from bakeoff.kinds.mail.figures import Flow, MailFigures
from bakeoff.kinds.mail.plan import mail_settings
from bakeoff.load.open_loop import SUSTAINED_SHARE
from bakeoff.store.records.run_records import RunRecord, TrialRecord


def counts_messages(run: RunRecord) -> bool:
    """Whether the trials of `run` tell delivered messages: mail is sent in it, and a ledger is kept."""
    flows = (trial.figures(MailFigures).flowing for trial in run.trials)
    return sending_share(run) > 0.0 and any(math.isfinite(flow.delivered_per_s) for flow in flows)


def sending_share(run: RunRecord) -> float:
    """Share of the clients' time that the plan gives to sending."""
    return mail_settings(run.planned.settings).sending_share


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
    whole = any(trial.figures(MailFigures).done is not None for trial in run.trials)
    if whole:
        # Percentiles of steps, of which polls make many, say nothing of a message.
        others = [metric for metric in others if metric.key not in PERCENTILES]
    return (
        _rate("rate", title, "delivered", delivered),
        *_messages(),
        *(_of_work("", "message", title="one message, connect to final reply") if whole else ()),
        *(_of_work("visit_", "visit", title="one visit of a mailbox") if whole else ()),
        _times(
            "response",
            title="Mean response without empty polls",
            pick=lambda figures: 1e3 * figures.response.without_empty_polls.mean_s,
        ),
        replace(steps, key="steps"),
        *(_published(metric) if metric.key == "mean" else metric for metric in others),
    )


def _messages() -> tuple[Metric, ...]:
    """What became of messages: alike under every load."""
    return (
        _rate("accepted", "Messages accepted", "accepted", lambda flow: flow.accepted_per_s),
        _rate("read", "Messages read", "read", lambda flow: flow.read_per_s),
        Metric(
            "backlog",
            title="Accepted and not read at the end of the window, plus 1",
            unit="messages",
            higher_is_better=False,
            scale="log",
            extract=_backlog,
            short="backlog",
        ),
        _times("visible_after", title="Not yet visible after (p95, lower end), plus 1 ms", pick=_visible_after_ms),
        _times(
            "visible_by",
            title="Visible by (p95, upper end)",
            pick=lambda figures: ms_of(figures.visible.by.p95_ns),
        ),
    )


def mail_at_rates(run: RunRecord, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """The metrics of a mail run at rates: what decides, messages, then what any kind has."""
    decides, *others = metrics
    title = "Messages delivered (accepted in the window, read back whole in it, once)"
    return (
        decides,
        _rate("delivered", title, "delivered", lambda flow: flow.delivered_per_s),
        *_messages(),
        *_of_work("message_", "message", title="one message, connect to final reply"),
        *_of_work("visit_", "visit", title="one visit of a mailbox"),
        *others,
    )


def put_off_ns(trial: TrialRecord, figure: str) -> float:
    """How long after its acceptance a message was certainly not visible yet, ns: in `figure`, p95 at least, so that a
    server cannot put off what decides nothing. Infinite where messages were accepted and none was ever seen.
    """
    figures = trial.figures(MailFigures)
    after = figures.visible.after
    if not after.count > 0.0:
        return math.inf if figures.ledger.counts.get("accepted", 0) else 0.0
    value = {"p99": after.p99_ns, "p999": after.p999_ns}.get(figure, after.p95_ns)
    return value if math.isfinite(value) else after.p95_ns


# Standard deviations by which what is under way may differ between the ends of a window.
EDGES = 3.0


def piles_up(trial: TrialRecord) -> bool:
    """Whether a server accepts more than it delivers: of what it accepted in the window more than 1 % was added to what
    was certainly still inside, looked for in vain, and more than chance adds.
    """
    flow = trial.figures(MailFigures).flowing
    inside = flow.in_delivery
    added = inside.at_end - inside.at_start
    return added > (1.0 - SUSTAINED_SHARE) * flow.accepted + EDGES * math.sqrt(2.0 * max(1.0, inside.at_start))


PERCENTILES = ("p50", "p95", "p99")


def _of_work(prefix: str, which: Literal["message", "visit"], title: str) -> tuple[Metric, ...]:
    """Percentiles of the time of whole pieces of work."""

    def metric(name: str) -> Metric:
        def milliseconds(figures: MailFigures) -> float:
            if figures.done is None:
                return math.nan
            work = figures.done.messages if which == "message" else figures.done.visits
            return ms_of(float(getattr(work.time, f"{name}_ns")))

        made = _times(prefix + name, f"Time for {title} ({name})", milliseconds)
        return replace(made, short=f"{name} time of {'a message' if which == 'message' else 'a visit of a mailbox'}")

    return tuple(metric(name) for name in PERCENTILES)


# Below it nothing is told apart: sessions that look for a message come when they come.
LEAST_MS = 1.0


def _rate(key: str, title: str, done: str, pick: Callable[[Flow], float]) -> Metric:
    unit = f"{done} messages/s"
    return Metric(key, title, unit, True, "log", lambda t: pick(t.figures(MailFigures).flowing), unit)


def _times(key: str, title: str, pick: Callable[[MailFigures], float]) -> Metric:
    """Milliseconds."""
    short = title[0].lower() + title[1:]
    return Metric(key, title, "ms", False, "log", lambda t: pick(t.figures(MailFigures)), short)


def _backlog(trial: TrialRecord) -> float:
    # One more, for there is no ratio to none at all, which is the best.
    return 1.0 + trial.figures(MailFigures).flowing.backlog.messages


def _visible_after_ms(figures: MailFigures) -> float:
    # The lower end of an interval is nothing when no session came too early, and there is no ratio of that.
    return LEAST_MS + ms_of(figures.visible.after.p95_ns)


def _published(mean: Metric) -> Metric:
    return replace(mean, title="Mean response of all steps (as published)")
