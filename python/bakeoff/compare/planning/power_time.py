"""How long a block takes: as it did in the pilot, with resets and checks, which no forecast knows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import pairwise
from statistics import median_low

from bakeoff.core.errors import RunFileError
from bakeoff.plan.design.durations import ExpectedDuration, expected_duration
from bakeoff.plan.input.stored import stored_plan
from bakeoff.plan.model import Plan
from bakeoff.store.records.run_records import LEFT_OUT, RunRecord

PILOT, FORECAST = "pilot", "forecast"


def block_time(pilot: RunRecord, blocks_s: Iterable[float], plan: Plan, found: ExpectedDuration) -> tuple[float, str]:
    """Seconds of a block of `plan`, and by what they are known: what blocks of the `pilot` took, `blocks_s`, times what
    a block is forecast to take here and there; of another suite, or without any that was whole, the forecast alone.
    """
    forecast_s, known = found.trials_s / plan.blocks, list(blocks_s)
    pilot_plan = _planned(pilot)
    if not known or pilot_plan is None or pilot_plan.suite != plan.suite:
        return forecast_s, FORECAST
    there, here = (expected_duration(each).trials_s / each.blocks for each in (pilot_plan, plan))
    if not there > 0.0:
        return forecast_s, FORECAST
    # The lower one of the middle: a run that was interrupted has one that lasted until it was gone on with.
    return median_low(known) * here / there, PILOT


def block_times(runs: Mapping[str, RunRecord]) -> dict[str, tuple[float, ...]]:
    """By run of one folder, or of one file, the seconds from the first start of each block to the next block's, of
    whichever run that is: blocks of a campaign take turns. Blocks in which somebody was left out tell nothing.
    """
    begun = [(begins, name, block) for name, run in runs.items() for block, begins in sorted(_beginnings(run).items())]
    # Where a clock was set back its moments order nothing: blocks of one run are told apart by their numbers.
    if len(runs) > 1:
        if any(now < before for one in runs for before, now in pairwise(b for b, name, _ in begun if name == one)):
            return dict.fromkeys(runs, ())
        begun.sort()
    ends = [begins for begins, _, _ in begun[1:]]
    found: dict[str, list[float]] = {name: [] for name in runs}
    for (begins, name, block), end in zip(begun, ends, strict=False):
        if end > begins and not _is_short(runs[name], block):
            found[name].append(end - begins)
    return {name: tuple(times) for name, times in found.items()}


def _beginnings(run: RunRecord) -> dict[int, float]:
    """When the first trial of each block began, in seconds."""
    found: dict[int, float] = {}
    for trial in (*run.trials, *run.earlier):
        begins = _moment(trial.started_at)
        if math.isfinite(begins):
            found[trial.block] = min(begins, found.get(trial.block, math.inf))
    return found


def _is_short(run: RunRecord, block: int) -> bool:
    return any(trial.block == block and trial.code == LEFT_OUT for trial in run.trials)


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return math.nan


def _planned(run: RunRecord) -> Plan | None:
    """The plan of a run, if this version can read it."""
    try:
        return stored_plan(run)
    except RunFileError:
        return None
