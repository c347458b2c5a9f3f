"""What is read out of a trial, in which unit, and which direction is good."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bakeoff.compare.cube.cube import why_unusable
from bakeoff.compare.metrics.all_attempts import all_attempts_ns
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.comparison import ContenderSummary, RunInfo
from bakeoff.compare.validity.generator_capacity import generator_capacities
from bakeoff.core.thresholds import CAPACITY_FRACTION, P95_OPERATIONS, P99_OPERATIONS
from bakeoff.core.times import ms_of, ms_or_nan
from bakeoff.load.load_step import LoadStep
from bakeoff.plan.model import Plan
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.marks import NEAR_GENERATOR_CAPACITY
from bakeoff.store.records.run_records import RunRecord, TrialRecord

if TYPE_CHECKING:
    from bakeoff.compare.kind import ComparePart


def metrics(kind: ComparePart, plan: Plan) -> tuple[Metric, ...]:
    """The metrics that any run of `kind` has, the primary one first."""

    def throughput(trial: TrialRecord) -> float:
        return megabytes_per_s(kind.moved_bytes(trial), trial)

    def mean(trial: TrialRecord) -> float:
        return ms_or_nan(kind.response(trial).mean_ns)

    def percentile(key: str, title: str, least: int = 1) -> Metric:
        def milliseconds(trial: TrialRecord) -> float:
            return ms_of(all_attempts_ns(kind, trial, key))

        return Metric(key, title, "ms", False, "log", milliseconds, f"{key} response time", least=least)

    return (
        *kind.rates(plan),
        Metric("throughput", "Throughput", "MB/s", True, "log", throughput, "throughput"),
        Metric(
            "mean",
            title="Mean response time",
            unit="ms",
            higher_is_better=False,
            scale="log",
            extract=mean,
            short="mean response time",
        ),
        percentile("p50", title="Median response time (p50)"),
        percentile("p95", title="95th percentile of response time (p95)", least=P95_OPERATIONS),
        percentile("p99", title="99th percentile of response time (p99)", least=P99_OPERATIONS),
    )


def operations_rate(work: str, key: str = "rate") -> Metric:
    """Operations per second, by their `work`."""
    rate = f"{work}/s"
    return Metric(key, f"{rate[0].upper()}{rate[1:]}", rate, True, "log", lambda t: t.operations_per_s, rate)


def megabytes_per_s(moved_bytes: int, trial: TrialRecord) -> float:
    """Bytes moved in the window of `trial`, 10⁶ a second."""
    return moved_bytes / 1e6 / trial.window_s if trial.window_s > 0.0 else math.nan


def rate_of(measured: tuple[Metric, ...]) -> Metric:
    """What is done per second, among the metrics of a run: it need not be what decides. Files of other tools may state
    none: what they state first stands for it.
    """
    return next((metric for metric in measured if metric.key == "rate"), measured[0])


def peak_operations(run: RunRecord, info: RunInfo, contender: ContenderSummary) -> float:
    """The contender's peak in operations a second, whatever its rate is told in; NaN without one."""
    if info.rate_unit == f"{info.work}/s":
        return contender.peak
    rates: dict[LoadStep, list[float]] = defaultdict(list)
    for trial in run.trials:
        if trial.contender == contender.name and why_unusable(trial) is None:
            rates[trial.load_step].append(trial.operations_per_s)
    return max((math.fsum(measured) / len(measured) for measured in rates.values()), default=math.nan)


def near_generator_capacity(run: RunRecord, info: RunInfo, contenders: Sequence[ContenderSummary]) -> dict[str, float]:
    """Whose peak is more than `CAPACITY_FRACTION` of what the generator could ask at most, and what share of it."""
    # Above what is no more than a lower bound only trials with busy load threads say that the generator was near.
    busy = {trial.contender for trial in run.trials if NEAR_GENERATOR_CAPACITY in trial.marks}
    shares = {
        c.name: peak_operations(run, info, c) / capacity.operations_per_s
        for c in contenders
        if (capacity := generator_capacities(run).get(c.name)) is not None and (not capacity.is_floor or c.name in busy)
    }
    return {name: share for name, share in shares.items() if share > CAPACITY_FRACTION}


def error_share(trial: TrialRecord) -> float:
    """Failed operations as a share of all that ended in the window; NaN when none ended, or nobody counted them."""
    if not trial.figures(Figures).errors_stated:
        return math.nan
    tried = trial.operations + trial.errors_total
    return trial.errors_total / tried if tried else math.nan
