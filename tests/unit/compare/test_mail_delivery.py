"""A bound on deliveries at a time is inferred over load steps, from runs of a server whose queue is a formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.kinds.mail.compare.delivery import deliveries
from bakeoff.report.compose import compose
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic import run
from tests.unit.compare.told import texts_of
from tests.unit.report.shown import shown

LOAD_STEPS = (1, 4, 8, 12)
DELIVERY_S = 0.5
SENT_PER_S = {1: 10.0, 4: 30.0, 8: 60.0, 12: 90.0}


def load(clients: int, block: int, window_s: float, at_a_time: float, sent_per_s: dict[int, float]) -> dict[str, Any]:
    """A server that starts empty and delivers in turn, `at_a_time` at once, each in `DELIVERY_S`. Mailboxes are looked
    into every 0.2 s, so that a time is known to lie between two ends.
    """
    accepted = sent_per_s[clients] * (1 + block / 1000)
    delivered = min(accepted, at_a_time / DELIVERY_S)
    queue_s = window_s * (accepted / delivered - 1) / 2  # the mean wait before delivery, over all messages
    time_s = DELIVERY_S + queue_s
    messages = int(accepted * window_s)

    def end(seconds: float) -> dict[str, Any]:
        return {"count": messages, "mean_ns": seconds * 1e9, "p95_ns": 2 * seconds * 1e9}

    backlog = int((accepted - delivered) * window_s)
    return {
        "flow": {
            "delivered_per_s": delivered,
            "accepted_per_s": accepted,
            "read_per_s": delivered,
            "accepted": messages,
            "read": messages - backlog,
            "backlog": {"messages": backlog},
            "in_delivery": {"peak": backlog, "mean": backlog / 2},
        },
        "visible": {"after": end(time_s - 0.1), "by": end(time_s + 0.1)},
        "ledger": {"counts": {"accepted": messages, "delivered": messages}, "balanced": True},
    }


def mail(
    at_a_time: float,
    window_s: float = 8.0,
    sent_per_s: dict[int, float] | None = None,
    but: Callable[[int, dict[str, Any]], None] = lambda clients, workload: None,
) -> RunRecord:
    """nginx has the bound; apache's is beyond any load. `but` changes what nginx's trials tell."""
    record = run(load_steps=LOAD_STEPS, blocks=6, window_s=window_s)
    trials = []
    for trial in record.trials:
        bound = at_a_time if trial.contender == "nginx" else 1e6
        workload = load(trial.load_step.clients, trial.block, window_s, bound, sent_per_s or SENT_PER_S)
        if trial.contender == "nginx":
            but(trial.load_step.clients, workload)
        trials.append(replace(trial, workload=workload))
    return replace(record, kind="mail", suite="mail-pop", trials=tuple(trials))


def inferred(record: RunRecord) -> list[str]:
    return [text for text in texts_of(deliveries(record)) if "By Little's law" in text]


@pytest.mark.parametrize("window_s", [8.0, 80.0])
def test_a_bound_on_deliveries_is_named_with_its_number_however_long_the_queue_is(window_s: float) -> None:
    (text,) = texts_of(deliveries(mail(20, window_s)))
    assert text.startswith("nginx: delivery was the limit at 8 and 12 clients: 40.0 messages/s at each, while")
    assert "accepted/s went from 60.2 to 90.3" in text
    assert "that is 16 to 24 deliveries at a time, each as long as at 1 client." in text, "20 is the truth"
    assert "It is an inference" in text
    for setting in (
        "default_process_limit",
        "local_destination_concurrency_limit",
        "queue_run_max",
        "deliver_queue_load_max",
        "process_limit of Dovecot's lmtp service",
    ):
        assert setting in text


def test_it_reaches_terminal_data_and_page() -> None:
    record = mail(20)
    (text,) = inferred(record)
    found = compare_run(record)
    assert f"{text}." in [warning.text for warning in warnings_of(found)]
    assert "16 to 24 deliveries at a time" in to_json(found)
    assert "16 to 24 deliveries at a time" in repr(compose(record, found))
    assert "16 to 24 deliveries at a time" in shown(record, width=2_000)


def test_deliveries_that_grow_with_the_clients_are_no_limit() -> None:
    """Sending outpaces delivery there as well, yet more is delivered at each load."""

    def growing(clients: int, workload: dict[str, Any]) -> None:
        if clients == 12:
            workload["flow"]["delivered_per_s"] *= 1.2

    assert inferred(mail(20, but=growing)) == []
    assert inferred(mail(1e6)) == []


def test_where_the_backlog_does_not_grow_there_is_no_limit() -> None:
    """The clients send no more at the highest load than at the one before: what is flat is what they send."""
    assert inferred(mail(20, sent_per_s={**SENT_PER_S, 12: SENT_PER_S[8]})) == []
    # Nor where all of it is delivered, and only the rate of sending ends.
    assert inferred(mail(1e6, sent_per_s={**SENT_PER_S, 8: 40.0, 12: 41.0})) == []


def test_readers_that_are_the_limit_are_not_taken_for_deliveries() -> None:
    """The same rates and backlogs, but no session ever missed a message: it was there, and nobody had read it."""

    def there_at_once(_clients: int, workload: dict[str, Any]) -> None:
        workload["visible"]["after"]["mean_ns"] = 0.0

    assert inferred(mail(20, but=there_at_once)) == []


def test_without_a_load_at_which_nothing_queues_there_is_no_number() -> None:
    (text,) = texts_of(deliveries(mail(4)))
    assert text.startswith("nginx: up to ") and "certainly not delivered yet" in text

    def slower(clients: int, workload: dict[str, Any]) -> None:
        if clients == 1:
            workload["flow"]["delivered_per_s"] *= 0.8

    assert inferred(mail(4, but=slower)) == [], "its time holds a wait, though its rate is another"


def test_deliveries_that_take_longer_and_keep_up_are_no_limit() -> None:
    """The rates differ by little and some more mail is under way, but it comes out as fast as it goes in."""

    def longer(clients: int, workload: dict[str, Any]) -> None:
        if clients >= 8:
            workload["flow"]["backlog"]["messages"] = 10 * clients
            workload["visible"]["after"]["mean_ns"] = workload["visible"]["by"]["mean_ns"] = 2e9

    assert inferred(mail(1e6, 80.0, {**SENT_PER_S, 8: 60.0, 12: 66.0}, longer)) == []


def test_less_than_one_delivery_at_a_time_is_another_limit() -> None:
    def quick(clients: int, workload: dict[str, Any]) -> None:
        if clients == 1:
            workload["visible"] = {end: {"count": 80, "mean_ns": 1e7, "p95_ns": 2e7} for end in ("after", "by")}

    assert inferred(mail(20, but=quick)) == []
