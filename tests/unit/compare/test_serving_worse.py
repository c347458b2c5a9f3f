"""Can more of what a metric counts be had by serving worse? For each way that there is: it does not win.

The contender "worse" is the same server as "nginx", and does one thing worse that makes its figures look better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from tests.told import headline_of
from tests.unit.compare.synthetic import FAST, Server, change, run

WORSE = Server("worse", 1.3 * FAST.capacity, FAST.base_ms / 1.3, decline=FAST.decline)

Trick = Callable[[TrialRecord], TrialRecord]


def played(trick: Trick, kind: str = "web", load_steps: tuple[int, ...] = (1, 4, 8)) -> Comparison:
    """Its trick makes "worse" faster by 30 % in every block."""
    record: RunRecord = run((FAST, WORSE), load_steps=load_steps, blocks=8)
    trials = tuple(trick(trial) if trial.contender == "worse" else trial for trial in record.trials)
    return compare_run(replace(record, kind=kind, trials=trials))


def errors(**shares: float) -> Trick:
    """So many of its operations fail; those that fail are quick, and in no figure."""
    return lambda trial: replace(
        trial, errors={name: max(1, round(share * trial.operations)) for name, share in shares.items()}
    )


def smaller_pages(trial: TrialRecord) -> TrialRecord:
    """Half of each page is left out, in agreement with its header."""
    parts = tuple(replace(part, bytes_in=part.bytes_in // 2) for part in trial.per_operation)
    return replace(trial, per_operation=parts, bytes_in=sum(part.bytes_in for part in parts))


def padded_pages(trial: TrialRecord) -> TrialRecord:
    """Twice the bytes for the same pages."""
    parts = tuple(replace(part, bytes_in=part.bytes_in * 2) for part in trial.per_operation)
    return replace(trial, per_operation=parts, bytes_in=2 * trial.bytes_in)


def only_near_clients(trial: TrialRecord) -> TrialRecord:
    """One client of several gets all that another one would have got."""
    if trial.load_step.clients == 1:
        return trial
    first, *others, last = trial.per_client
    given = replace(first, operations=first.operations + last.operations - 1)
    return replace(trial, per_client=(given, *others, replace(last, operations=1)))


def dies_at(clients: int) -> Trick:
    return lambda trial: (
        replace(trial, state="failed", reason="it died") if trial.load_step.clients == clients else trial
    )


def workload(**figures: Any) -> Trick:
    return lambda trial: replace(trial, workload=figures)


def ledger(**counts: int) -> Trick:
    return workload(ledger={"counts": {"accepted": 1000, **counts}, "balanced": True})


def statuses(**shares: float) -> Trick:
    """So many of its replies have these statuses, which the plan counts as answers."""
    return lambda trial: replace(trial, statuses={name: round(s * trial.operations) for name, s in shares.items()})


TRICKS: dict[str, tuple[Trick, str]] = {
    "answers with error pages": (errors(wrong_status=0.02), "web"),
    "refuses every request where any status counts": (statuses(**{"5xx": 1.0}), "web"),
    "knows no page where any status counts": (statuses(**{"2xx": 0.8, "4xx": 0.2}), "web"),
    "breaks the protocol now and then": (errors(protocol=0.002), "web"),
    "sends other bytes": (errors(wrong_content=1e-9), "web"),
    "cuts bodies short": (errors(short_body=1e-9), "web"),
    "refuses quickly": (errors(refused=0.04), "web"),
    "resets what is slow": (errors(reset_after_first_byte=0.04), "web"),
    "lets what is slow time out": (errors(reply_timeout=0.02), "web"),
    "swallows requests": (errors(unfinished=1e-9), "web"),
    "sends smaller pages": (smaller_pages, "web"),
    "pads its pages": (padded_pages, "web"),
    "serves near clients": (only_near_clients, "web"),
    "starves a client of an application": (only_near_clients, "app"),
    "says busy": (errors(wrong_status=0.04), "app"),
    "keeps no records": (errors(wrong_content=1e-9), "app"),
    "loses mail": (ledger(lost=1), "mail"),
    "doubles mail": (ledger(duplicate=1), "mail"),
    "puts large mail off": (
        workload(flow={"offered": {"messages": 500, "bytes": 4e6}, "put_off": {"messages": 4, "bytes": 1e6}}),
        "mail",
    ),
    "gives back changed files": (errors(wrong_content=1e-9), "file-mix"),
    "fails file calls quickly": (errors(not_found=0.02), "file-mix"),
    "dies at the load at which it is slow": (dies_at(8), "web"),
}


@pytest.mark.parametrize("name", TRICKS)
def test_it_does_not_win_by_this(name: str) -> None:
    found = played(*TRICKS[name])
    (pair,) = found.pairs
    assert pair.primary.verdict.winner != "worse"
    assert pair.primary.verdict.kind != "equivalent"
    # Nor does it in what explains the result.
    assert "worse" not in {end.verdict.winner for end in pair.secondary}
    assert pair.primary.gates, "and the reason is there to read"


def test_without_a_trick_the_faster_one_wins() -> None:
    assert played(lambda trial: trial).pairs[0].primary.verdict.winner == "worse"


def test_a_server_that_refuses_every_request_is_seen_at_once() -> None:
    """Where any status counts its errors are none; the first sentence and that of errors say what it answered."""
    found = played(statuses(**{"5xx": 1.0}))
    (pair,) = found.pairs
    assert pair.primary.verdict.kind == "withheld"
    assert "replies of worse: all with 5xx; replies of nginx:" in headline_of(found)[0]
    (sentence,) = [text for text in headline_of(found) if text.startswith("Errors: ")]
    assert "worse none in" in sentence and "though it answered all with 5xx, which counts as answered here" in sentence
    assert "5xx" not in sentence.split(";")[0]
    # Where such statuses are failures they are told of once.
    failing = played(lambda t: replace(t, statuses={"5xx": 500}, errors={"wrong_status": 500}))
    assert not any("counts as answered" in text for text in headline_of(failing))


def test_of_a_dead_server_no_operations_without_errors_are_told() -> None:
    record = change(
        run((FAST, WORSE), load_steps=(4,), blocks=1), "worse", None, None, state="failed", operations=0, errors={}
    )
    (sentence,) = [text for text in headline_of(compare_run(record)) if text.startswith("Errors: ")]
    assert sentence.endswith("; worse dead in 1 of 1 trial.") and "in 0 " not in sentence
