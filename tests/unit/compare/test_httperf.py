"""What comparisons of httperf's work hold servers to: replies like the other's, and calls timed from when due."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from bakeoff.compare import compare_run
from bakeoff.kinds.httperf.compare import PART
from bakeoff.report.narrate.sentences import sentence
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import OperationRecord
from tests.unit.compare.synthetic import run, summary

ODD = "apache"


def of_httperf(odd: Mapping[str, int], content_bytes: int = 1_000) -> RunRecord:
    """A run in which one answers by these statuses of 100 replies each, and by so much content."""
    record = replace(run(blocks=8), kind="httperf")
    trials = []
    for trial in record.trials:
        n, own = trial.operations, trial.contender == ODD
        statuses = {name: share * n // 100 for name, share in odd.items()} if own else {"s2xx": n}
        replies = sum(statuses.values())
        figures = {
            "requests": replies,
            "replies": replies,
            "statuses": statuses,
            "reply_content_bytes": replies * (content_bytes if own else 1_000),
            "test_duration_s": trial.window_s,
        }
        trials.append(replace(trial, workload=figures))
    return replace(record, trials=tuple(trials))


@pytest.mark.parametrize(
    ("statuses", "content_bytes", "words"),
    [
        ({"s2xx": 100}, 1_000, ""),
        ({"s4xx": 100}, 1_000, "4xx: 100 % of replies"),
        ({"s2xx": 90, "s3xx": 10}, 1_000, "3xx: 10 % of replies"),
        ({"s2xx": 100}, 500, "500 bytes of content per reply"),
    ],
)
def test_who_answers_otherwise_does_other_work(statuses: Mapping[str, int], content_bytes: int, words: str) -> None:
    compared = compare_run(of_httperf(statuses, content_bytes))
    (audit,) = [audit for audit in compared.audits if audit.name == "Same content"]
    assert bool(audit.deviating) == bool(words)
    assert all(words in sentence(trial) for trial in audit.deviating)
    gates = {gate.name for pair in compared.pairs for gate in pair.primary.gates}
    assert ("different content" in gates) == bool(words)


def test_calls_are_timed_from_when_they_were_due() -> None:
    trial = run(blocks=1).trials[0]
    calls, due = summary(50, 1.0), summary(50, 7.0)
    parts = (
        OperationRecord("connection", 50, {}, 0, 0, summary(50, 9.0)),
        OperationRecord("call", 50, {}, 0, 0, calls),
    )
    trial = replace(trial, per_operation=parts)
    assert PART.response(trial) == PART.service(trial) == calls
    assert PART.response(replace(trial, response=due)) == due
