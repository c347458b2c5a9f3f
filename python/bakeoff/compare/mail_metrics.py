"""What mail servers are compared by: messages, not steps, for a poll of an empty mailbox is a step as well."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from bakeoff.compare.metric import Metric, Scale
from bakeoff.store.records import RunRecord, TrialRecord


def counts_messages(run: RunRecord) -> bool:
    """Whether the trials of `run` tell delivered messages: mail is sent in it, and books are kept."""
    return (
        run.kind == "mail"
        and sending_share(run) > 0.0
        and any(math.isfinite(of(trial, "flow", "delivered_per_s")) for trial in run.trials)
    )


def sending_share(run: RunRecord) -> float:
    """Share of the clients' time that the plan gives to sending."""
    return float(run.plan.get("settings", {}).get("sending_share", 0.3))


def of(trial: TrialRecord, *path: str) -> float:
    """A number of the trial's own figures; NaN where there is none."""
    value: object = trial.workload
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return float(value) if isinstance(value, (int, float)) else math.nan


def mail_metrics(run: RunRecord, general: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """The metrics of a mail run, the primary one first; `general` are those of any run.

    Delivered is what was accepted in the window and read back whole in the window, once. What comes later does not
    count: a server that takes mail quickly and delivers it when the load is over would else have the rate of one that
    delivers under load. Only where nobody reads under load (`sending_share` of 1) is the drain what counts.
    """
    late = sending_share(run) >= 1.0
    delivered = "delivered_at_last_per_s" if late else "delivered_per_s"
    title = "Messages delivered (accepted in the window, read back whole" + ("" if late else " in it") + ", once)"
    steps, *others = general
    return (
        _metric("rate", title, "delivered messages/s", True, "log", "flow", delivered),
        _metric("accepted", "Messages accepted", "accepted messages/s", True, "log", "flow", "accepted_per_s"),
        _metric("read", "Messages read", "read messages/s", True, "log", "flow", "read_per_s"),
        Metric("backlog", BACKLOG_TITLE, "messages", False, "log", lambda t: 1.0 + of(t, *BACKLOG), "backlog"),
        _times(
            "response", "Mean response without empty polls", "response", "without_empty_polls", "mean_s", factor=1e3
        ),
        _times("visible_after", "Not yet visible after (p95, lower end)", "visible", "after", "p95_ns", factor=1e-6),
        _times("visible_by", "Visible by (p95, upper end)", "visible", "by", "p95_ns", factor=1e-6),
        replace(steps, key="steps"),
        *(_published(metric) if metric.key == "mean" else metric for metric in others),
    )


LEAST_MS = 0.001
# One more, for there is no ratio to none at all, which is the best.
BACKLOG_TITLE = "Accepted and not read at the end of the window, plus 1"
BACKLOG = ("flow", "backlog", "messages")


def _metric(key: str, title: str, unit: str, higher_is_better: bool, scale: Scale, *path: str) -> Metric:
    return Metric(key, title, unit, higher_is_better, scale, _reader(path, 1.0), unit)


def _times(key: str, title: str, *path: str, factor: float) -> Metric:
    """Milliseconds."""
    return Metric(key, title, "ms", False, "log", _reader(path, factor), title[0].lower() + title[1:])


def _reader(path: tuple[str, ...], factor: float) -> Callable[[TrialRecord], float]:
    def read(trial: TrialRecord) -> float:
        value = factor * of(trial, *path)
        # The lower end of an interval is nothing when no session came too early: there is no ratio of that.
        return math.nan if path[:2] == ("visible", "after") and value < LEAST_MS else value

    return read


def _published(mean: Metric) -> Metric:
    title = "Mean response of all steps (as published)"
    return replace(mean, title=title)
