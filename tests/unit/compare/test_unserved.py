"""The error budget holds for each part of the work by itself, and each failure counts as the slowest operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.compare.failures.unserved import over_budget
from bakeoff.compare.kind import compare_part
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.gates import gate_text
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.served import WorkPart, parts_of
from bakeoff.store.records.trial_parts import StepRecord, Summary
from tests.unit.compare.synthetic import FAST, Server, at_rates, run, summary

EVIL = Server("evil", 1.3 * FAST.capacity, FAST.base_ms / 1.3, decline=FAST.decline)
Trick = Callable[[TrialRecord], TrialRecord]


def played(trick: Trick, rates: bool = False, both: bool = False) -> Comparison:
    record: RunRecord = run((FAST, EVIL), load_steps=(1, 4, 8), blocks=8)
    record = at_rates(record) if rates else record
    trials = tuple(trick(t) if both or t.contender == "evil" else t for t in record.trials)
    return compare_run(replace(record, trials=trials))


def fails(name: str, share: float) -> Trick:
    """So many of the requests of one class are reset."""

    def trick(trial: TrialRecord) -> TrialRecord:
        index = next(i for i, one in enumerate(trial.per_operation) if one.name == name)
        one = trial.per_operation[index]
        lost = round(share * one.operations)
        part = replace(one, operations=one.operations - lost, errors={"reset": lost})
        parts = (*trial.per_operation[:index], part, *trial.per_operation[index + 1 :])
        return replace(trial, per_operation=parts, errors={"reset": lost})

    return trick


@pytest.mark.parametrize("rates", [False, True])
def test_a_page_that_never_succeeds_loses_every_trial_however_seldom_it_is_asked_for(rates: bool) -> None:
    found = played(fails("large", 1.0), rates)
    shares = [one.error_share for one in found.contenders if one.name == "evil"]
    assert 0.008 < shares[0] < 0.0125, "about one request in a hundred: under any budget of the whole"
    assert len(found.forfeited) == 3 * 8 and {one.contender for one in found.forfeited} == {"evil"}
    assert "class large: none of " in sentence(found.forfeited[0].reason)
    assert found.pairs[0].primary.verdict.winner == "nginx"


@pytest.mark.parametrize("rates", [False, True])
def test_a_page_over_its_own_budget_withholds_the_lead(rates: bool) -> None:
    found = played(fails("large", 0.2), rates)
    (pair,) = found.pairs
    assert not found.forfeited
    assert "evil" not in {end.verdict.winner for end in (pair.primary, *pair.secondary)}
    assert [gate_text(gate) for gate in pair.primary.gates if gate.level == "red"] == [
        "evil failed 20 % of class large"
    ]


def test_what_no_contender_serves_is_nobodys_loss_and_nobodys_win() -> None:
    found = played(fails("large", 1.0), both=True)
    assert not found.forfeited
    assert found.pairs[0].primary.verdict.kind == "withheld"


def test_a_client_over_its_own_budget_withholds_the_lead() -> None:
    def one_client(trial: TrialRecord) -> TrialRecord:
        if len(trial.per_client) < 8:
            return trial
        first, *others = trial.per_client
        lost = first.operations // 20
        return replace(trial, per_client=(replace(first, errors=lost), *others), errors={"reset": lost})

    (pair,) = played(one_client).pairs
    assert pair.primary.verdict.kind == "withheld" and "of client 0" in sentence(pair.primary.verdict)


def test_a_load_over_its_own_budget_withholds_the_lead() -> None:
    """The errors of the last of three loads are few of all."""

    def at_eight(trial: TrialRecord) -> TrialRecord:
        lost = int(0.02 * trial.operations) if trial.load_step.clients == 8 else 0
        return replace(trial, errors={"reset": lost} if lost else {})

    (pair,) = played(at_eight).pairs
    assert pair.primary.verdict.kind == "withheld" and "of load 8 clients" in sentence(pair.primary.verdict)


def test_requests_and_steps_that_are_told_by_name_are_parts() -> None:
    trial = run().trials[0]
    failed = {"requests": {"GET /a": {"500": 12}, "GET /b": {"500": 1}, "pay": {"wrong_content": 2}}, "others": 0}
    changed = replace(
        trial,
        workload={"failed": {**failed, "answered": {"GET /a": 0}}},
        steps=(*trial.steps, StepRecord("session/pay", summary(98, 1.0))),
    )
    named = [part for part in parts_of(changed) if part.sort in ("request", "step")]
    assert named == [WorkPart("request", "GET /a", 0, 12), WorkPart("step", "pay", 98, 2)]


def test_a_server_within_its_budget_is_hardly_ever_called_over_it() -> None:
    """Half a percent of all requests at random, in 9 classes, 8 clients and 3 loads: of 300 contenders none."""
    random = np.random.default_rng(20)
    trials = run((FAST,), load_steps=(1, 4, 8), blocks=6).trials
    kind, called = compare_part("web"), 0
    for _ in range(300):
        tried = [_at_random(trial, 0.005, random) for trial in trials]
        called += over_budget(kind, tried, 0.01) is not None
    assert called == 0


def _at_random(trial: TrialRecord, share: float, random: np.random.Generator) -> TrialRecord:
    parts = []
    for one in trial.per_operation:
        lost = int(random.binomial(one.operations, share))
        parts.append(replace(one, operations=one.operations - lost, errors={"reset": lost}))
    clients = []
    for each in trial.per_client:
        lost = int(random.binomial(each.operations, share))
        clients.append(replace(each, operations=each.operations - lost, errors=lost))
    total = sum(sum(part.errors.values()) for part in parts)
    return replace(trial, per_operation=tuple(parts), per_client=tuple(clients), errors={"reset": total})


def without_the_slow(trial: TrialRecord) -> TrialRecord:
    """What takes 20 times the mean, 0.83 % of the requests, is reset at once: the others come sooner."""
    times = trial.service
    lost = round(0.0083 * trial.operations)
    spent = [round((value or 0) / 7.07) for value in (times.p99_ns, times.p999_ns, times.max_ns)]
    service = replace(times, p99_ns=spent[0], p999_ns=spent[1], max_ns=spent[2])
    assert times.p99_ns is not None and times.p999_ns is not None
    # Of all that were tried: the reset ones are the slowest, so that its 99th percentile is what the others have.
    tried = Summary(times.count + lost, None, times.p50_ns, times.p95_ns, times.p99_ns, None, None, None)
    return replace(trial, service=service, errors={"reset": lost}, tried=tried)


def slow_tail(trial: TrialRecord) -> TrialRecord:
    """Both have answers of 40 times the mean."""
    return replace(trial, service=replace(trial.service, max_ns=round(40 * (trial.service.mean_ns or 0))))


@pytest.mark.parametrize("rates", [False, True])
def test_resetting_what_is_slow_wins_nothing(rates: bool) -> None:
    record = run((FAST, replace(EVIL, capacity=1.17 * FAST.capacity, base_ms=FAST.base_ms / 1.17)), blocks=8)
    record = at_rates(record) if rates else record
    trials = tuple(without_the_slow(t) if t.contender == "evil" else slow_tail(t) for t in record.trials)
    if rates:
        trials = tuple(replace(t, response=t.service) for t in trials)
    (pair,) = compare_run(replace(record, trials=trials)).pairs
    flattered = [end for end in (pair.primary, *pair.secondary) if end.metric in ("rate", "mean")]
    assert len(flattered) == 2
    assert "evil" not in {end.verdict.winner for end in flattered}
    p99 = next(end for end in pair.secondary if end.metric == "p99")
    assert p99.ratio == pytest.approx(1 / 1.17, rel=0.02), "and not a seventh of that"
    red = [gate_text(gate) for gate in pair.primary.gates if gate.level == "red"]
    assert rates or ["its lead would disappear" in text for text in red] == [True]


def test_a_percentile_among_the_failures_is_a_loss() -> None:
    """2 % of the requests fail: the 98th percentile is the last that anybody had."""

    def two_percent(trial: TrialRecord) -> TrialRecord:
        times, lost = trial.service, round(0.021 * trial.operations)
        tried = Summary(times.count + lost, None, times.p50_ns, times.p95_ns, None, None, None, None)
        return replace(trial, errors={"reset": lost}, tried=tried)

    found = played(two_percent)
    p99 = next(end for end in found.pairs[0].secondary if end.metric == "p99")
    assert p99.forfeited == {"nginx": 0, "evil": 3 * 8} and p99.ratio >= 10.0
    curve = next(c for c in found.curves if (c.metric, c.contender) == ("p99", "evil"))
    assert all(np.isnan(point.centre) and point.forfeited == 8 for point in curve.points)
