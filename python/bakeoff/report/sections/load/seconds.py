"""How the trials at the peak went, second by second."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from bakeoff.core.times import ms_of
from bakeoff.report.blocks.tree import Chart, Column, Section, Table, Text
from bakeoff.report.charts.panels import courses
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import SecondRecord

MOST_POINTS = 90
# Fewer points are no course; what there is stands in the table.
FEWEST_POINTS = 3
NARROWEST_S = 0.25
ROUNDING_S = 1e-6
RATES = ("slowest second, {unit}", "fastest second, {unit}")
TAILS = ("worst p99 of a second, ms",)


@report_section("seconds", in_full=True)
def section(context: Context) -> Section | None:
    """Rate and p99 of each whole second at the load step where the fastest contender peaks; of trials too short to have
    a course only the figures.
    """
    load_step = context.peak_load_step()
    if load_step is None:
        return None
    trials = [trial for name in context.names for trial in context.at(name, load_step) if trial.per_second]
    if not trials:
        return None
    whole = {trial.id: whole_seconds(context, trial) for trial in trials}
    longest = max(len(seconds) for seconds in whole.values())
    unit = f"{context.comparison.run.work}/s"  # seconds count operations, whatever the run is decided in
    where = f"at {load_step.words}"
    table, rate_table, tail_table = (_table(context, trials, unit, of) for of in (RATES + TAILS, RATES, TAILS))
    if longest < FEWEST_POINTS:
        text = f"No course is drawn of trials that have fewer than {FEWEST_POINTS} whole seconds."
        # Of one second the slowest is the fastest.
        alone = all(len(_inside(context, trial)) == 1 for trial in trials)
        tables = () if alone else (replace(table, folded=True),)
        return Section(f"Second by second {where}", (Text(text), *tables))
    step = max(1, math.ceil(longest / MOST_POINTS))
    rates = [row for trial in trials for row in _series(trial, whole[trial.id], step, _rate)]
    tails = [row for trial in trials for row in _series(trial, whole[trial.id], step, _tail)]
    window = (*_window(context, trials), max(s.second + s.width_s for seconds in whole.values() for s in seconds))
    point = "one second" if step == 1 else f"{step} seconds"
    subtitle = f"thin: each trial, bold: mean; {point} per point"
    title = f"{unit[0].upper()}{unit[1:]} over time {where}"
    text = f"{unit} in each second of the trials {where}, a panel for each contender and a thin line for each block."
    drawing = courses(rates, means(rates), context.names, window, unit, (title, subtitle))
    charts = [Chart("chart-seconds-rate", title, text, drawing, rate_table, wide=True)]
    if tails:
        time = "service time" if context.is_open_loop else "response time"
        title = f"p99 of {time} in each second {where}"
        subtitle = f"each trial; {point if step == 1 else f'worst of {point}'} per point"
        drawing = courses(tails, [], context.names, window, "ms", (title, subtitle))
        text = f"99th percentile of {time} in each second of the trials {where}, a panel for each contender."
        charts.append(Chart("chart-seconds-p99", title, text, drawing, tail_table, wide=True))
    note = Text(
        "A flat line is a steady state. A drift, a saw-tooth or a late rise means that the window was not steady. Only "
        "whole seconds are drawn."
    )
    return Section(f"Second by second {where}", (note, *charts))


def _rate(seconds: list[SecondRecord]) -> float:
    return sum(second.operations for second in seconds) / sum(second.width_s for second in seconds)


def _tail(seconds: list[SecondRecord]) -> float:
    known_tails = [second.service.p99_ns for second in seconds if second.service.p99_ns is not None]
    return ms_of(max(known_tails)) if known_tails else math.nan


def whole_seconds(context: Context, trial: TrialRecord) -> list[SecondRecord]:
    """Those of full length that end with the load: what is left of a second at its end would look like a collapse, and
    what comes after it is waiting for the last replies.
    """
    width_s = max(second.width_s for second in trial.per_second)
    end_s = end_of_load_s(context, trial)
    return [
        second
        for second in trial.per_second
        if second.width_s >= width_s - ROUNDING_S and second.second + second.width_s <= end_s + ROUNDING_S
    ]


def end_of_load_s(context: Context, trial: TrialRecord) -> float:
    """When the last operation of a trial began at the latest, seconds since its start; infinity where the plan fixes
    the number of operations.
    """
    settings = context.run.planned.settings
    return math.inf if settings.clock.operations else settings.length_s


def _series(
    trial: TrialRecord, seconds: list[SecondRecord], step: int, value: Callable[[list[SecondRecord]], float]
) -> list[Row]:
    rows = []
    for start in range(0, len(seconds), step):
        chunk = seconds[start : start + step]
        figure = known(value(chunk))
        if figure is not None and len(chunk) == step:
            middle = chunk[0].second + 0.5 * sum(second.width_s for second in chunk)
            rows.append({"contender": trial.contender, "trial": trial.id, "second": middle, "value": figure})
    return rows


def means(rows: list[Row]) -> list[Row]:
    """The mean over the trials of a contender, and of a series of it, at each second."""
    by_second: dict[tuple[str, str | None, float], list[float]] = defaultdict(list)
    for row in rows:
        by_second[row["contender"], row.get("series"), row["second"]].append(row["value"])
    return [
        {
            "contender": name,
            **({"series": series} if series else {}),
            "second": second,
            "value": known(sum(values) / len(values)),
        }
        for (name, series, second), values in by_second.items()
    ]


def _window(context: Context, trials: list[TrialRecord]) -> tuple[float, float]:
    """The measured window, seconds since the start of a trial."""
    begin_s = context.run.planned.settings.clock.ramp_up_s
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
    settings = context.run.planned.settings
    clock = settings.clock
    if clock.operations:
        return 0.0, trial.window_s
    return clock.ramp_up_s, max(clock.ramp_up_s, settings.length_s - clock.ramp_down_s)


def _none(context: Context, trials: list[TrialRecord]) -> str:
    """Why there is no row: how long a trial must be to have one."""
    width_s = max(second.width_s for trial in trials for second in trial.per_second)
    clock = context.run.planned.settings.clock
    ramps = [0.0, 0.0] if clock.operations else [clock.ramp_up_s, clock.ramp_down_s]
    needed_s = (math.ceil(ramps[0] / width_s) + 1) * width_s + ramps[1]
    return f"none: trials shorter than {needed_s:g} s have no whole second in their window"


def _table(context: Context, trials: list[TrialRecord], unit: str, of: tuple[str, ...]) -> Table:
    columns = (
        Column("Contender", numeric=False),
        Column("Block"),
        *(Column(title.format(unit=unit)) for title in of),
    )
    rows: list[tuple[str, ...]] = []
    for trial in trials:
        inside = _inside(context, trial)
        if inside:
            rates = [_rate([second]) for second in inside]
            summary = (wording.rate(min(rates)), wording.rate(max(rates)), wording.figures(_tail(inside)))
            figures = dict(zip(RATES + TAILS, summary, strict=True))
            rows.append((trial.contender, f"{trial.block}", *(figures[title] for title in of)))
    if not rows:
        rows.append((_none(context, trials), *[wording.MISSING] * (len(columns) - 1)))
    return Table("Seconds wholly inside the window", columns, tuple(rows))
