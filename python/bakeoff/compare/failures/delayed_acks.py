"""Steps that take as long as a delayed acknowledgement does.

A sender that writes twice in a row, with Nagle's algorithm on, holds the second write back until the first is
acknowledged; a receiver that has nothing to send acknowledges after 40 ms (Linux), or 200 ms (Linux at the most, and
others). Beside replies of less than a millisecond that is all that is measured, and which of two servers meets it may
be a matter of how a client divides its writes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.model.comparison import DelayedStep, StepName
from bakeoff.core.times import ms_of
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import Summary

# From when on and until when an acknowledgement comes that was delayed, ms.
PLATEAUS = ((39.0, 49.0), (199.0, 221.0))
# Another step of the contender is quicker than that, in the median, ms.
QUICK_MS = 4.0
# So often at least a step is done in a trial that says something of it.
LEAST = 20
# The share of steps that take as long at least, by the percentiles that lie in a plateau.
AT_LEAST = ((("p50_ns", "p95_ns"), 0.5), (("p95_ns", "p99_ns"), 0.05))


def delayed_steps(cube: Cube, kind: str) -> tuple[DelayedStep, ...]:
    """The steps of each contender that stand on a plateau in half of the trials that have them, or more. `kind` is that
    of the suite.
    """
    by_name: dict[str, list[TrialRecord]] = defaultdict(list)
    for (name, _, _), trial in cube.usable.items():
        by_name[name].append(trial)
    return tuple(
        found
        for name, trials in by_name.items()
        for step in dict.fromkeys(operation.name for trial in trials for operation in trial.per_operation)
        if (found := _found(kind, name, step, trials)) is not None
    )


def _found(kind: str, name: str, step: str, trials: Iterable[TrialRecord]) -> DelayedStep | None:
    delays, quickest, asked = list[tuple[float, float]](), list[float](), 0
    for trial in trials:
        own = [operation.service for operation in trial.per_operation if operation.name == step]
        own = [summary for summary in own if summary.count >= LEAST]
        others = [o.service.p50_ns for o in trial.per_operation if o.name != step and o.service.p50_ns is not None]
        if not own or not others or ms_of(min(others)) > QUICK_MS:
            continue
        asked += 1
        if (plateau := _plateau(own[0])) is not None:
            delays.append(plateau)
            quickest.append(ms_of(min(others)))
    if not delays or 2 * len(delays) < asked:
        return None
    share = min(share for share, _ in delays)
    typical = sorted(ms for _, ms in delays)[len(delays) // 2]
    return DelayedStep(name, step, StepName(kind, step), share, typical, min(quickest), len(delays))


def _plateau(times: Summary) -> tuple[float, float] | None:
    """The share of times, at least, that lie on a plateau, and the time in ms; None where they do not."""
    for names, share in AT_LEAST:
        ends = [getattr(times, name) for name in names]
        if any(end is None for end in ends):
            continue
        for low, high in PLATEAUS:
            if all(low <= ms_of(end) <= high for end in ends):
                return share, ms_of(ends[0])
    return None
