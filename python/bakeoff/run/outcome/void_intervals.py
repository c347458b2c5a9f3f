"""Void intervals of a soak: those in which the load generator did not run, or ran out of ports or open files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from bakeoff.agents.result import DisturbancesResult, TrialResult
from bakeoff.run.fleet.session import FleetOutcome
from bakeoff.run.outcome.disturbances import STOP_S, is_lost
from bakeoff.run.outcome.judge import VOIDING
from bakeoff.store.records.run_records import SoakIntervalRecord


def apart(outcome: FleetOutcome) -> tuple[FleetOutcome, tuple[DisturbancesResult, ...]]:
    """The outcome of a soak without what befell its machines, which voids intervals and not the trial, and what that
    was.
    """
    whole = None if outcome.whole is None else replace(outcome.whole, result=_undisturbed(outcome.whole.result))
    parts = tuple(
        part
        if part.outcome is None
        else replace(part, outcome=replace(part.outcome, result=_undisturbed(part.outcome.result)))
        for part in outcome.parts
    )
    results = [part.outcome.result for part in outcome.parts if part.outcome is not None]
    found = tuple(each for result in results if (each := result.generator.disturbances) is not None)
    return replace(outcome, whole=whole, parts=parts), found


def judged_by(outcome: FleetOutcome, intervals: Sequence[SoakIntervalRecord]) -> FleetOutcome:
    """The outcome with the operations and errors of these intervals alone: of void ones nobody is told a fault.
    What intervals do not hold, such as starts that were never made, is not held against anybody.
    """
    if outcome.whole is None:
        return outcome
    errors = Counter[str]()
    for interval in intervals:
        errors.update(interval.errors)
    result, none = outcome.whole.result, {"starts": None, "per_client": ()}
    figures = {
        "operations": sum(interval.operations for interval in intervals),
        "errors": {name: errors[name] for name in result.errors},
        "window_s": sum(interval.length_s for interval in intervals),
    }
    parts = tuple(
        part
        if part.outcome is None
        else replace(part, outcome=replace(part.outcome, result=part.outcome.result.model_copy(update=none)))
        for part in outcome.parts
    )
    whole = replace(outcome.whole, result=result.model_copy(update=figures | none))
    return replace(outcome, whole=whole, parts=parts)


def void_intervals(
    intervals: Sequence[SoakIntervalRecord], disturbances: Sequence[DisturbancesResult], ramp_up_s: float, planned: bool
) -> tuple[int, ...]:
    """The numbers of the `intervals`, in their order, of which a machine missed a fiftieth or more, lost too much to
    others,
    or had no port or file left to open a connection with. With starts that are `planned` also the one after an interval
    in which it did not run, in which starts that are overdue are made up for. `disturbances` are those of the one
    segment that the intervals are of; without them intervals may be of several.
    """
    starts_s = [sum(interval.length_s for interval in intervals[:at]) for at in range(len(intervals))]
    lost = {
        interval.number
        for interval, at_s in zip(intervals, starts_s, strict=True)
        if is_lost(_missed_s(interval, ramp_up_s + at_s, disturbances), interval.stolen_s or 0.0, interval.length_s)
    }
    after = {
        following.number
        for interval, following in pairwise(intervals)
        if planned and interval.number in lost and interval.segment == following.segment
    }
    return tuple(sorted(lost | after | {interval.number for interval in intervals if ran_out(interval)}))


def ran_out(interval: SoakIntervalRecord) -> str:
    """Of what the load generator ran out in an interval, and what to do; empty where of nothing."""
    return next((advice for error, advice in VOIDING.items() if interval.errors.get(error)), "")


def _missed_s(interval: SoakIntervalRecord, begin_s: float, disturbances: Sequence[DisturbancesResult]) -> float:
    """The seconds of an interval in which the machine that missed most did not run: stops that no load explains, which
    have
    their place in time, and all that was seen from the interval before to this one.
    """
    end_s = begin_s + interval.length_s
    each = (
        sum(
            max(0.0, min(end_s, stop.at_s + stop.length_s) - max(begin_s, stop.at_s))
            for stop in one.stops
            if stop.length_s >= STOP_S
        )
        for one in disturbances
    )
    return max(max(each, default=0.0), interval.stopped_s or 0.0)


def _undisturbed(result: TrialResult) -> TrialResult:
    return result.model_copy(update={"generator": result.generator.model_copy(update={"disturbances": None})})
