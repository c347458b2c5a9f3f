"""What a comparison says of ledgers and limits, for trials made for the purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.mail import limits, losses
from bakeoff.store.records import OperationRecord, RunRecord
from tests.unit.compare.synthetic import run, summary


def mail_run(clients: int = 30, errors: dict[str, int] | None = None, **workload: Any) -> RunRecord:
    """One trial of nginx with this workload; `errors` are those of the step smtp-connect."""
    record = run(mixes=(clients,), blocks=1)
    trials = []
    for trial in record.trials:
        step = OperationRecord("smtp-connect", 100, errors or {}, 0, 0, summary(100, 1.0))
        ours = workload if trial.contender == "nginx" else {}
        trials.append(replace(trial, workload=ours, per_operation=(*trial.per_operation, step)))
    return replace(record, kind="mail", suite="mail-pop", trials=tuple(trials))


def doors(peak: float, mean: float, waiting: float, door: str = "smtp") -> dict[str, dict[str, float]]:
    return {door: {"peak": peak, "mean": mean, "waiting": waiting}}


def test_losses_are_the_first_lines_and_only_those_of_the_contender_that_lost() -> None:
    counts = {"accepted": 5000, "delivered": 4938, "lost": 50, "duplicate": 12, "temporary": 7}
    comparison = compare_run(mail_run(ledger={"counts": counts, "balanced": True}))
    assert comparison.headline[0] == (
        "nginx did not keep its mail: of 5,000 accepted, 50 lost, 12 delivered more than once."
    )
    assert not any(line.startswith("apache did not") for line in comparison.headline)


def test_a_ledger_without_losses_says_nothing() -> None:
    counts = {"accepted": 10, "delivered": 10, "unknown": 3, "unknown_seen": 1, "temporary": 4, "bounced": 1}
    assert losses(mail_run(ledger={"counts": counts, "balanced": True})) == ()


@pytest.mark.parametrize("door", ["smtp", "pop3", "pop3_logged_in"])
def test_a_plateau_with_sessions_waiting_in_front_of_it_is_a_limit(door: str) -> None:
    (text,) = limits(mail_run(sessions=doors(20, 19.4, 9.8, door)))
    assert text.startswith("nginx: never more than 20 ")
    assert "that equals the limit of 20 (Exim's smtp_accept_max" in text
    assert text in [
        w.text.removesuffix(".") for w in compare_run(mail_run(sessions=doors(20, 19.4, 9.8, door))).warnings
    ]


@pytest.mark.parametrize(
    "sessions",
    [
        doors(26, 21.0, 3.0),  # 30 threads that share their time: the peak is two deviations above the mean
        doors(20, 19.4, 0.2),  # nobody waits
        doors(30, 30.0, 5.0),  # all threads are in
        doors(1, 1.0, 5.0),
        {},
    ],
)
def test_a_number_that_the_load_explains_is_no_limit(sessions: dict[str, Any]) -> None:
    assert limits(mail_run(sessions=sessions)) == ()


def test_a_server_that_says_no_tells_its_limit_even_when_its_sessions_are_short() -> None:
    said = {"measured": {"counts": {"busy_421": 40}}}
    record = mail_run(errors={"refused": 40}, sessions=doors(25, 14.0, 0.4), refusals=said)
    (text,) = limits(record)
    assert text.endswith("that equals the limit of 25")
    # The same refusals, but not at this door.
    assert limits(mail_run(sessions=doors(25, 14.0, 0.4), refusals=said)) == ()


def test_dropped_connects_are_told_with_the_length_of_the_queue() -> None:
    record = mail_run(refusals={"measured": {"counts": {"connect_1s": 4}}})
    facts = {"nginx": {"smtp listen backlog": 5, "pop3 banner": "+OK"}}
    record = replace(record, environment={**record.environment, "content": {"contenders": facts}})
    (text,) = limits(record)
    assert text.endswith("the accept queue of the server was full (its smtp listen backlog 5)")


def test_a_rate_that_equals_a_known_throttle() -> None:
    (text,) = limits(mail_run(flow={"accepted_per_s": 19.8}))
    assert text == "nginx: 19.8 messages per second equals the limit of 20 (Maddy's limits of 20 messages per second)"
    assert limits(mail_run(flow={"accepted_per_s": 25.0})) == ()
