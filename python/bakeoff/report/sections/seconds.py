"""How the trials at the peak went, second by second."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable

from bakeoff.compare import wording
from bakeoff.compare.settings import number
from bakeoff.report.blocks import Chart, Column, Section, Table, Text
from bakeoff.report.charts import Row, known, over_seconds
from bakeoff.report.context import Context
from bakeoff.store.records import SecondRecord, TrialRecord

MOST_POINTS = 90
NARROWEST_S = 0.25
ROUNDING_S = 1e-6


def section(context: Context) -> Section | None:
    """Rate and p99 of each second at the mix where the fastest contender peaks."""
    mix = context.peak_mix()
    if mix is None:
        return None
    trials = [trial for name in context.names for trial in context.at(name, mix) if trial.per_second]
    if not trials:
        return None
    longest = max(len(trial.per_second) for trial in trials)
    step = max(1, math.ceil(longest / MOST_POINTS))
    unit = f"{context.comparison.run.work}/s"  # seconds count operations, whatever the run is decided in
    where = f"at {mix.words}"
    rates = [row for trial in trials for row in _series(trial, step, _rate)]
    tails = [row for trial in trials for row in _series(trial, step, _tail)]
    bins = f"thin: each trial, bold: mean; {'one second' if step == 1 else f'{step} seconds'} per point; grey: ramps"
    window = _window(context, trials)
    charts = [
        Chart(
            "chart-seconds-rate",
            f"{unit} per second {where}",
            f"{unit} in each second of the trials {where}, one thin line for each block.",
            over_seconds(
                rates,
                _means(rates),
                context.names,
                window,
                f"{unit[0].upper()}{unit[1:]} over time {where}",
                bins,
            ),
            _table(context, trials, unit),
        ),
    ]
    if tails:
        sub = f"ms, each trial; {'one second' if step == 1 else f'worst of {step} seconds'} per point; grey: ramps"
        time = "service time" if context.at_rates else "response time"
        title = f"p99 of {time} in each second {where}"
        spec = over_seconds(tails, [], context.names, window, title, sub)
        text = f"99th percentile of {time} in each second of the trials {where}."
        charts.append(Chart("chart-seconds-p99", title, text, spec, _table(context, trials, unit)))
    note = Text(
        "A flat line is a steady state. A drift, a saw-tooth or a late rise means that the window was not steady."
    )
    return Section("seconds", f"Second by second {where}", (note, *charts))


def _rate(seconds: list[SecondRecord]) -> float:
    return sum(second.operations for second in seconds) / sum(second.width_s for second in seconds)


def _tail(seconds: list[SecondRecord]) -> float:
    known_tails = [second.service.p99_ns for second in seconds if second.service.p99_ns is not None]
    return max(known_tails) / 1e6 if known_tails else math.nan


def _series(trial: TrialRecord, step: int, value: Callable[[list[SecondRecord]], float]) -> list[Row]:
    # A sliver at the end of a trial holds too few operations for a rate.
    seconds = [second for second in trial.per_second if second.width_s >= NARROWEST_S]
    rows = []
    for start in range(0, len(seconds), step):
        chunk = list(seconds[start : start + step])
        figure = known(value(chunk))
        if figure is not None:
            rows.append(
                {
                    "contender": trial.contender,
                    "trial": trial.id,
                    "second": chunk[0].second + 0.5 * sum(second.width_s for second in chunk),
                    "value": figure,
                }
            )
    return rows


def _means(rows: list[Row]) -> list[Row]:
    by_second: dict[tuple[str, float], list[float]] = defaultdict(list)
    for row in rows:
        by_second[row["contender"], row["second"]].append(row["value"])
    return [
        {"contender": name, "second": second, "value": known(sum(values) / len(values))}
        for (name, second), values in by_second.items()
    ]


def _window(context: Context, trials: list[TrialRecord]) -> tuple[float, float]:
    """The measured window, seconds since the start of a trial."""
    begin_s = number(context.run.plan, "ramp_up_s", 0.0)
    return (begin_s, begin_s + max(trial.window_s for trial in trials))


def _inside(context: Context, trial: TrialRecord) -> list[SecondRecord]:
    """The rows that lie wholly inside the measured window; slivers are too short for a rate."""
    begin_s, end_s = _bounds(context, trial)
    return [
        second
        for second in trial.per_second
        if second.second >= begin_s - ROUNDING_S
        and second.second + second.width_s <= end_s + ROUNDING_S
        and second.width_s >= NARROWEST_S
    ]


def _bounds(context: Context, trial: TrialRecord) -> tuple[float, float]:
    """Begin and end of the window by the plan, seconds since the start of the trial."""
    plan = context.run.plan
    if number(plan, "operations", 0.0):
        return 0.0, trial.window_s
    begin_s = number(plan, "ramp_up_s", 0.0)
    length_s = number(plan, "length_s", begin_s + trial.window_s)
    return begin_s, max(begin_s, length_s - number(plan, "ramp_down_s", 0.0))


def _none(context: Context, trials: list[TrialRecord]) -> str:
    """Why there is no row: how long a trial must be to have one."""
    width_s = max(second.width_s for trial in trials for second in trial.per_second)
    ramps = [number(context.run.plan, name, 0.0) for name in ("ramp_up_s", "ramp_down_s")]
    if number(context.run.plan, "operations", 0.0):
        ramps = [0.0, 0.0]
    needed_s = (math.ceil(ramps[0] / width_s) + 1) * width_s + ramps[1]
    return f"none: trials shorter than {needed_s:g} s have no whole second in their window"


def _table(context: Context, trials: list[TrialRecord], unit: str) -> Table:
    columns = (
        Column("Contender", numeric=False),
        Column("Block"),
        Column(f"slowest second, {unit}"),
        Column(f"fastest second, {unit}"),
        Column("worst p99 of a second, ms"),
    )
    rows: list[tuple[str, ...]] = []
    for trial in trials:
        inside = _inside(context, trial)
        if inside:
            rates = [_rate([second]) for second in inside]
            slowest, fastest = wording.rate(min(rates)), wording.rate(max(rates))
            rows.append((trial.contender, f"{trial.block}", slowest, fastest, wording.figures(_tail(inside))))
    if not rows:
        rows.append((_none(context, trials), *[wording.MISSING] * (len(columns) - 1)))
    return Table("Seconds wholly inside the window", columns, tuple(rows))
