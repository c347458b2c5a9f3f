"""What the rows of a soak tell: how figures moved over the hours, first and last row, gaps."""

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
from bakeoff.store.records.run_records import RunRecord, SoakRowRecord, TrialRecord

# A row that was cut shorter than this share of the plan's is not compared with whole ones.
WHOLE_SHARE = 0.5
# Rows of one stretch that lie further apart than this had something between them: the machine was suspended.
GAP_S = 2.0

FigureName = Literal["rate", "p50", "p99", "memory"]
# Figures of a row whose trend is told, each with how a row has it; NaN where a row has none.
FIGURES: dict[FigureName, Callable[[SoakRowRecord], float]] = {
    "rate": lambda row: row.operations_per_s,
    "p50": lambda row: ms_or_nan(row.times.p50_ns),
    "p99": lambda row: ms_or_nan(row.times.p99_ns),
    "memory": lambda row: float(row.rss_bytes),
}


@dataclass(frozen=True)
class SoakTrend:
    """How a figure moved: operations/s (`rate`), response time in ms (`p50`, `p99`), bytes of the generator's memory.

    `first` and `last` are those of the first and last whole row. `change` is by which share it grew from begin to end,
    as a straight line through the logarithms of the `rows` whole rows says, `low` and `high` its 95 % interval; NaN for
    fewer than six. Rows without a figure, as none succeeded, are left out.
    """

    figure: FigureName
    first: float
    last: float
    change: float
    low: float
    high: float
    rows: int

    @property
    def is_open(self) -> bool:
        """Whether its interval has no end on either side, as that of few rows that are alike."""
        return self.low <= -1.0 + 1e-9 or self.high >= 1e9

    @property
    def moves(self) -> bool:
        """Whether the interval leaves out that nothing changed."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class SoakRow:
    """One row: `number` from 0, `at_s` where in the time under load it began, response times in ms. In one that is
    `void` the generator did not run for long enough, or ran out of ports or open files.
    """

    number: int
    stretch: int
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
    """Time that is missing after row `after`: from its end by the clock until the next row began, with its ramp."""

    after: int
    length_s: float


@dataclass(frozen=True)
class ContenderSoak:
    """The soak of one contender in one block. `planned_s` is how long its rows were to be together, `measured_s` how
    long they are; operations and errors are those of rows that are not void; `stopped_by` is the rule that ended it
    early, `give_up` when nothing succeeded any more.
    """

    contender: str
    block: int
    load_step: LoadStep
    planned_s: float
    measured_s: float
    stretches: int
    operations: int
    errors: dict[str, int]
    stopped_by: str | None
    reason: str
    rows: tuple[SoakRow, ...]
    trends: tuple[SoakTrend, ...]
    gaps: tuple[SoakGap, ...]


@dataclass(frozen=True)
class Soak:
    """A run whose trials are soaks, with rows of `row_s` seconds."""

    row_s: float
    contenders: tuple[ContenderSoak, ...]


def soak_of(run: RunRecord) -> Soak | None:
    """What the rows of a run tell, also of trials that have not ended; None when it has none."""
    row_s = run.planned.settings.clock.row_s
    if not run.soak_rows or row_s is None:
        return None
    planned_s = run.planned.settings.window_s
    orders = sorted({row.order for row in run.soak_rows})
    trials = {trial.order: trial for trial in run.trials}
    rows = {order: [row for row in run.soak_rows if row.order == order] for order in orders}
    return Soak(row_s, tuple(_contender(rows[order], trials.get(order), planned_s, row_s) for order in orders))


def _contender(rows: list[SoakRowRecord], trial: TrialRecord | None, planned_s: float, row_s: float) -> ContenderSoak:
    figures = trial.figures(Figures).soak if trial is not None else None
    void = set(figures.void) if figures is not None else set()
    counted = [row for row in rows if row.number not in void]
    errors: dict[str, int] = {}
    for row in counted:
        for name, count in row.errors.items():
            errors[name] = errors.get(name, 0) + count
    starts_s, first = _starts(rows), rows[0]
    return ContenderSoak(
        contender=first.contender,
        block=first.block,
        load_step=first.load_step,
        planned_s=planned_s,
        measured_s=math.fsum(row.length_s for row in rows),
        stretches=max(row.stretch for row in rows),
        operations=sum(row.operations for row in counted),
        errors=errors,
        stopped_by=figures.stopped_by if figures is not None else None,
        reason=trial.reason if trial is not None else "",
        rows=tuple(_row(row, at_s, row.number in void) for row, at_s in zip(rows, starts_s, strict=True)),
        trends=tuple(_trend(name, rows, starts_s, row_s, void) for name in FIGURES),
        gaps=tuple(_gaps(rows)),
    )


def _starts(rows: Sequence[SoakRowRecord]) -> list[float]:
    """Where each row begins in the time under load."""
    starts, at_s = [], 0.0
    for row in rows:
        starts.append(at_s)
        at_s += row.length_s
    return starts


def _row(row: SoakRowRecord, at_s: float, void: bool) -> SoakRow:
    return SoakRow(
        number=row.number,
        stretch=row.stretch,
        started_at=row.started_at,
        at_s=at_s,
        length_s=row.length_s,
        operations=row.operations,
        operations_per_s=row.operations_per_s,
        errors=row.errors,
        error_share=row.error_share,
        p50_ms=ms_or_nan(row.times.p50_ns),
        p99_ms=ms_or_nan(row.times.p99_ns),
        max_ms=ms_or_nan(row.times.max_ns),
        cpu_share=row.cpu_share,
        run_delay_share=row.run_delay_share,
        stolen_share=None if row.stolen_s is None or row.length_s <= 0 else row.stolen_s / row.length_s,
        stopped_s=row.stopped_s,
        rss_bytes=row.rss_bytes,
        void=void,
    )


def _trend(
    name: FigureName, rows: list[SoakRowRecord], starts_s: list[float], row_s: float, void: set[int]
) -> SoakTrend:
    whole = [
        (at_s + row.length_s / 2, value)
        for row, at_s in zip(rows, starts_s, strict=True)
        if row.number not in void and row.length_s >= WHOLE_SHARE * row_s and (value := FIGURES[name](row)) > 0.0
    ]
    if not whole:
        return SoakTrend(name, math.nan, math.nan, math.nan, math.nan, math.nan, 0)
    length_s = starts_s[-1] + rows[-1].length_s
    grown = growth([at_s for at_s, _ in whole], [value for _, value in whole], length_s)
    change = (math.nan,) * 3 if grown is None else (grown.factor - 1.0, grown.low - 1.0, grown.high - 1.0)
    return SoakTrend(name, whole[0][1], whole[-1][1], *change, len(whole))


def _gaps(rows: list[SoakRowRecord]) -> list[SoakGap]:
    gaps = []
    for before, after in pairwise(rows):
        began, went_on = (datetime.fromisoformat(row.started_at) for row in (before, after))
        missing_s = (went_on - began).total_seconds() - before.length_s
        if before.stretch != after.stretch or missing_s > GAP_S:
            gaps.append(SoakGap(before.number, max(0.0, missing_s)))
    return gaps
