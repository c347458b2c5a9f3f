"""What the intervals of a soak tell: how figures moved over the hours, first and last interval, gaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal

from bakeoff.core.times import ms_or_nan
from bakeoff.load.load_step import LoadStep
from bakeoff.stats.series.trend import growth
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import RunRecord, SoakIntervalRecord, TrialRecord

# An interval that was cut shorter than this share of the plan's is not compared with whole ones.
WHOLE_SHARE = 0.5
# Intervals of one segment that lie further apart than this had something between them: the machine was suspended.
GAP_S = 2.0

FigureName = Literal["rate", "p50", "p99", "memory"]
# Figures of an interval whose trend is told, each with how an interval has it; NaN where an interval has none.
FIGURES: dict[FigureName, Callable[[SoakIntervalRecord], float]] = {
    "rate": lambda interval: interval.operations_per_s,
    "p50": lambda interval: ms_or_nan(interval.times.p50_ns),
    "p99": lambda interval: ms_or_nan(interval.times.p99_ns),
    "memory": lambda interval: float(interval.rss_bytes),
}


@dataclass(frozen=True)
class SoakTrend:
    """How a figure moved: operations/s (`rate`), response time in ms (`p50`, `p99`), bytes of the generator's memory.

    `first` and `last` are those of the first and last whole interval. `change` is by which share it grew from begin to
    end, as a straight line through the logarithms of the `intervals` whole intervals says, `low` and `high` its 95 %
    interval; NaN for fewer than six. Intervals without a figure, as none succeeded, are left out.
    """

    figure: FigureName
    first: float
    last: float
    change: float
    low: float
    high: float
    intervals: int

    @property
    def is_open(self) -> bool:
        """Whether its interval has no end on either side, as that of few intervals that are alike."""
        return self.low <= -1.0 + 1e-9 or self.high >= 1e9

    @property
    def moves(self) -> bool:
        """Whether the interval leaves out that nothing changed."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class SoakInterval:
    """One interval: `number` from 0, `at_s` where in the time under load it began, response times in ms. In one that is
    `void` the generator did not run for long enough, or ran out of ports or open files.
    """

    number: int
    segment: int
    started_at: str
    at_s: float
    length_s: float
    operations: int
    operations_per_s: float
    errors: dict[str, int]
    error_share: float
    p50_ms: float
    p99_ms: float
    max_ms: float
    cpu_share: float
    run_delay_share: float | None
    stolen_share: float | None
    stopped_s: float | None
    rss_bytes: int
    void: bool = False


@dataclass(frozen=True)
class SoakGap:
    """Time that is missing after interval `after`: from its end by the clock until the next interval began, with its
    ramp.
    """

    after: int
    length_s: float


@dataclass(frozen=True)
class ContenderSoak:
    """The soak of one contender in one block. `planned_s` is how long its intervals were to be together, `measured_s`
    how
    long they are; operations and errors are those of intervals that are not void; `stopped_by` is the rule that ended
    it early, `give_up` when nothing succeeded any more.
    """

    contender: str
    block: int
    load_step: LoadStep
    planned_s: float
    measured_s: float
    segments: int
    operations: int
    errors: dict[str, int]
    stopped_by: str | None
    reason: str
    intervals: tuple[SoakInterval, ...]
    trends: tuple[SoakTrend, ...]
    gaps: tuple[SoakGap, ...]


@dataclass(frozen=True)
class Soak:
    """A run whose trials are soaks, with intervals of `interval_s` seconds."""

    interval_s: float
    contenders: tuple[ContenderSoak, ...]


def soak_of(run: RunRecord) -> Soak | None:
    """What the intervals of a run tell, also of trials that have not ended; None when it has none."""
    interval_s = run.planned.settings.clock.interval_s
    if not run.soak_intervals or interval_s is None:
        return None
    planned_s = run.planned.settings.window_s
    orders = sorted({interval.order for interval in run.soak_intervals})
    trials = {trial.order: trial for trial in run.trials}
    intervals = {order: [interval for interval in run.soak_intervals if interval.order == order] for order in orders}
    return Soak(
        interval_s, tuple(_contender(intervals[order], trials.get(order), planned_s, interval_s) for order in orders)
    )


def _contender(
    intervals: list[SoakIntervalRecord], trial: TrialRecord | None, planned_s: float, interval_s: float
) -> ContenderSoak:
    figures = trial.figures(Figures).soak if trial is not None else None
    void = set(figures.void) if figures is not None else set()
    counted = [interval for interval in intervals if interval.number not in void]
    errors: dict[str, int] = {}
    for interval in counted:
        for name, count in interval.errors.items():
            errors[name] = errors.get(name, 0) + count
    starts_s, first = _starts(intervals), intervals[0]
    return ContenderSoak(
        contender=first.contender,
        block=first.block,
        load_step=first.load_step,
        planned_s=planned_s,
        measured_s=math.fsum(interval.length_s for interval in intervals),
        segments=max(interval.segment for interval in intervals),
        operations=sum(interval.operations for interval in counted),
        errors=errors,
        stopped_by=figures.stopped_by if figures is not None else None,
        reason=trial.reason if trial is not None else "",
        intervals=tuple(
            _row(interval, at_s, interval.number in void) for interval, at_s in zip(intervals, starts_s, strict=True)
        ),
        trends=tuple(_trend(name, intervals, starts_s, interval_s, void) for name in FIGURES),
        gaps=tuple(_gaps(intervals)),
    )


def _starts(intervals: Sequence[SoakIntervalRecord]) -> list[float]:
    """Where each interval begins in the time under load."""
    starts, at_s = [], 0.0
    for interval in intervals:
        starts.append(at_s)
        at_s += interval.length_s
    return starts


def _row(interval: SoakIntervalRecord, at_s: float, void: bool) -> SoakInterval:
    return SoakInterval(
        number=interval.number,
        segment=interval.segment,
        started_at=interval.started_at,
        at_s=at_s,
        length_s=interval.length_s,
        operations=interval.operations,
        operations_per_s=interval.operations_per_s,
        errors=interval.errors,
        error_share=interval.error_share,
        p50_ms=ms_or_nan(interval.times.p50_ns),
        p99_ms=ms_or_nan(interval.times.p99_ns),
        max_ms=ms_or_nan(interval.times.max_ns),
        cpu_share=interval.cpu_share,
        run_delay_share=interval.run_delay_share,
        stolen_share=None
        if interval.stolen_s is None or interval.length_s <= 0
        else interval.stolen_s / interval.length_s,
        stopped_s=interval.stopped_s,
        rss_bytes=interval.rss_bytes,
        void=void,
    )


def _trend(
    name: FigureName, intervals: list[SoakIntervalRecord], starts_s: list[float], interval_s: float, void: set[int]
) -> SoakTrend:
    whole = [
        (at_s + interval.length_s / 2, value)
        for interval, at_s in zip(intervals, starts_s, strict=True)
        if interval.number not in void
        and interval.length_s >= WHOLE_SHARE * interval_s
        and (value := FIGURES[name](interval)) > 0.0
    ]
    if not whole:
        return SoakTrend(name, math.nan, math.nan, math.nan, math.nan, math.nan, 0)
    length_s = starts_s[-1] + intervals[-1].length_s
    grown = growth([at_s for at_s, _ in whole], [value for _, value in whole], length_s)
    change = (math.nan,) * 3 if grown is None else (grown.factor - 1.0, grown.low - 1.0, grown.high - 1.0)
    return SoakTrend(name, whole[0][1], whole[-1][1], *change, len(whole))


def _gaps(intervals: list[SoakIntervalRecord]) -> list[SoakGap]:
    gaps = []
    for before, after in pairwise(intervals):
        began, went_on = (datetime.fromisoformat(interval.started_at) for interval in (before, after))
        missing_s = (went_on - began).total_seconds() - before.length_s
        if before.segment != after.segment or missing_s > GAP_S:
            gaps.append(SoakGap(before.number, max(0.0, missing_s)))
    return gaps
