"""What a run at rates says beside what decides: fates of starts, what is clear, and no differences that are none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.load.arrivals import Constant
from bakeoff.load.load_step import Rate
from bakeoff.store.records.marks import BEHIND_SCHEDULE
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY, FatesRecord, StartsRecord, Summary
from tests.told import headline_of
from tests.unit.compare.synthetic import FAST, Server, run

Make = Callable[[TrialRecord], TrialRecord]
OTHER = Server("other", FAST.capacity, FAST.base_ms)


def times(count: int, p50_ms: float, p99_ms: float) -> Summary:
    p50, p99 = round(p50_ms * 1e6), round(p99_ms * 1e6)
    return Summary(count, p50 * 1.1, p50, (p50 + p99) // 2, p99, 2 * p99, 2 * p99, p50 // 2)


def at_rate(per_s: float, window_s: float, other: Make, blocks: int = 8) -> Comparison:
    """Two contenders at one rate, of which the second is `other`."""
    record = run((FAST, OTHER), load_steps=(4,), blocks=blocks)
    load_step, random = Rate(per_s, Constant(), 4), np.random.default_rng(3)
    offered = round(per_s * window_s)

    def made(trial: TrialRecord) -> TrialRecord:
        starts = StartsRecord(offered, offered, 0, offered, 0, 1, EMPTY_SUMMARY, (), FatesRecord(offered, 0, 0))
        one = times(offered, 0.2 * random.normal(1.0, 0.02), 2.0 * random.normal(1.0, 0.3))
        parts = (replace(trial.per_operation[0], operations=offered),)
        late = replace(one, p50_ns=20_000, p95_ns=40_000, p99_ns=1_500_000)
        made = replace(
            trial, load_step=load_step, window_s=window_s, operations=offered, operations_per_s=per_s, service=one,
            response=one,
            starts=starts, per_operation=parts, per_client=(), generator_late_start=late, statuses={"2xx": offered},
        )  # fmt: skip
        return other(made) if trial.contender == "other" else made

    planned = {**record.plan, "settings": {**record.plan["settings"], "length_s": window_s + 2.0}}
    return compare_run(replace(record, plan=planned, load_steps=(load_step,), trials=tuple(map(made, record.trials))))


def slower(trial: TrialRecord) -> TrialRecord:
    """3 ms more for each."""
    assert trial.response is not None

    def later(t: Summary) -> Summary:
        ns = {name: getattr(t, name) + 3_000_000 for name in ("p50_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns")}
        return replace(t, mean_ns=(t.mean_ns or 0) + 3e6, **ns)

    return replace(trial, service=later(trial.service), response=later(trial.response))


def test_a_median_that_is_clear_is_said_where_the_p99_cannot_be_told() -> None:
    """200/s for 1.5 s are 300 starts: none has a p99."""
    found = at_rate(200.0, 1.5, slower)
    text = " ".join(headline_of(found))
    assert "rials are too short for p99: use windows of at least 2 s" in text
    (pair,) = found.pairs
    ends = {end.metric: end for end in pair.secondary}
    assert ends["p50"].verdict.winner == "nginx" and ends["p50"].ratio == pytest.approx(16.0, rel=0.05)
    assert "he median response time of other is 1" in text


def test_a_late_generator_takes_no_medians_and_no_service_times_away() -> None:
    """It is late by 1.5 ms at p99 and by 0.02 ms in the middle: what it adds to a median of 3 ms is nothing."""
    found = at_rate(200.0, 5.0, lambda trial: replace(slower(trial), marks=(BEHIND_SCHEDULE,)))
    ends = {end.metric: end for end in found.pairs[0].secondary}
    assert found.pairs[0].primary.verdict.kind != "better", "the p99 decides, and the generator is in it"
    for metric in ("p50", "service_p50", "service_p99"):
        assert not [gate for gate in ends[metric].gates if gate.name == "schedule" and gate.contender == "other"]
    assert ends["p50"].verdict.winner == ends["service_p50"].verdict.winner == "nginx"


def test_what_is_open_at_the_end_is_no_difference_of_rates() -> None:
    """67/s for 4.25 s: one of 285 is under way when the window ends, in every trial."""

    def one_open(trial: TrialRecord) -> TrialRecord:
        assert trial.starts is not None
        answered = trial.starts.offered - 1
        return replace(trial, starts=replace(trial.starts, answered=answered, fates=FatesRecord(answered, 0, 1)))

    (pair,) = at_rate(67.0, 4.25, one_open).pairs
    rate = next(end for end in pair.secondary if end.metric == "rate")
    assert rate.low < 1.0 < rate.high and rate.high - rate.low > 0.003
    assert rate.p_t == 1.0


def test_no_interval_has_no_width() -> None:
    found = at_rate(200.0, 5.0, lambda trial: trial)
    for end in (found.pairs[0].primary, *found.pairs[0].secondary):
        assert end.high > end.low, end.metric
    for curve in found.curves:
        for point in curve.points:
            assert curve.metric == "errors" or point.high > point.low, curve.metric
