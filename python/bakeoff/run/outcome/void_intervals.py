"""Rows of a soak in which the load generator did not run, or ran out of ports or open files: void; others count."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from bakeoff.agents.result import DisturbancesResult, TrialResult
from bakeoff.run.fleet.session import FleetOutcome
from bakeoff.run.outcome.disturbances import STOP_S, is_lost
from bakeoff.run.outcome.judge import VOIDING
from bakeoff.store.records.run_records import SoakRowRecord


def apart(outcome: FleetOutcome) -> tuple[FleetOutcome, tuple[DisturbancesResult, ...]]:
    """The outcome of a soak without what befell its machines, which voids rows and not the trial, and what that was."""
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


def judged_by(outcome: FleetOutcome, rows: Sequence[SoakRowRecord]) -> FleetOutcome:
    """The outcome with the operations and errors of these rows alone: of void ones nobody is told a fault.
    What rows do not hold, such as starts that were never made, is not held against anybody.
    """
    if outcome.whole is None:
        return outcome
    errors = Counter[str]()
    for row in rows:
        errors.update(row.errors)
    result, none = outcome.whole.result, {"starts": None, "per_client": ()}
    figures = {
        "operations": sum(row.operations for row in rows),
        "errors": {name: errors[name] for name in result.errors},
        "window_s": sum(row.length_s for row in rows),
    }
    parts = tuple(
        part
        if part.outcome is None
        else replace(part, outcome=replace(part.outcome, result=part.outcome.result.model_copy(update=none)))
        for part in outcome.parts
    )
    whole = replace(outcome.whole, result=result.model_copy(update=figures | none))
    return replace(outcome, whole=whole, parts=parts)


def void_rows(
    rows: Sequence[SoakRowRecord], disturbances: Sequence[DisturbancesResult], ramp_up_s: float, planned: bool
) -> tuple[int, ...]:
    """The numbers of the `rows`, in their order, of which a machine missed a fiftieth or more, lost too much to others,
    or had no port or file left to open a connection with. With starts that are `planned` also the one after a row in
    which it did not run, in which starts that are overdue are made up for. `disturbances` are those of the one stretch
    that the rows are of; without them rows may be of several.
    """
    starts_s = [sum(row.length_s for row in rows[:at]) for at in range(len(rows))]
    lost = {
        row.number
        for row, at_s in zip(rows, starts_s, strict=True)
        if is_lost(_missed_s(row, ramp_up_s + at_s, disturbances), row.stolen_s or 0.0, row.length_s)
    }
    after = {
        following.number
        for row, following in pairwise(rows)
        if planned and row.number in lost and row.stretch == following.stretch
    }
    return tuple(sorted(lost | after | {row.number for row in rows if ran_out(row)}))


def ran_out(row: SoakRowRecord) -> str:
    """Of what the load generator ran out in a row, and what to do; empty where of nothing."""
    return next((advice for error, advice in VOIDING.items() if row.errors.get(error)), "")


def _missed_s(row: SoakRowRecord, begin_s: float, disturbances: Sequence[DisturbancesResult]) -> float:
    """The seconds of a row in which the machine that missed most did not run: stops that no load explains, which have
    their place in time, and all that was seen from the row before to this one.
    """
    end_s = begin_s + row.length_s
    each = (
        sum(
            max(0.0, min(end_s, stop.at_s + stop.length_s) - max(begin_s, stop.at_s))
            for stop in one.stops
            if stop.length_s >= STOP_S
        )
        for one in disturbances
    )
    return max(max(each, default=0.0), row.stopped_s or 0.0)


def _undisturbed(result: TrialResult) -> TrialResult:
    return result.model_copy(update={"generator": result.generator.model_copy(update={"disturbances": None})})
