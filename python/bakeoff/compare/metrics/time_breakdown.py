"""Where the time of contenders went, step by step, and which single step is most of it.

What somebody decides by may be one step that the tool repeats, such as a wait of 200 ms for the reply to QUIT of each
message. Who decides has to know that step by its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.model.comparison import DominantStep, StepName
from bakeoff.store.records.run_records import TrialRecord

# A step that takes this share of a contender's time, and so much less of another's, is named.
MOST_OF_IT, DIFFERS = 0.8, 0.2
OTHER = "other"
# The wait for a close that a server had announced is part of no operation.
CLOSE = "close"
STEPS = ("connect", "tls", "stream", "written", "first_byte", "transfer")


def step_times(trials: Iterable[TrialRecord], names: Collection[str]) -> dict[str, float]:
    """Time of each step of these names in all of `trials`, ns, and what they leave of the whole as `other`."""
    sums: dict[str, float] = {}
    whole = 0.0
    for trial in trials:
        whole += total_ns(trial.service.mean_ns, trial.service.count)
        for step in trial.steps:
            if step.name in names:
                sums[step.name] = sums.get(step.name, 0.0) + total_ns(step.summary.mean_ns, step.summary.count)
    return with_rest(sums, whole)


def with_rest(sums: dict[str, float], whole: float) -> dict[str, float]:
    """The parts with what they leave of the whole; empty where nothing was told of parts."""
    rest = whole - sum(sums.values())
    return {**sums, OTHER: rest} if sums and rest > 0.0 else sums


def total_ns(mean_ns: float | None, count: int) -> float:
    """Time of all operations of a histogram."""
    return (mean_ns or 0.0) * count


def dominant_steps(cube: Cube, kind: str) -> tuple[DominantStep, ...]:
    """The steps that are most of a contender's time, and less of another's. `kind` is that of the suite."""
    by_name = {
        name: cube.kind.time_breakdown([trial for (who, _, _), trial in cube.usable.items() if who == name])
        for name in cube.contenders
    }
    return tuple(found for name in by_name for found in _dominant(kind, name, by_name))


def _dominant(kind: str, name: str, by_name: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterable[DominantStep]:
    for of, parts in by_name[name].items():
        shares = {who: _shares(steps.get(of, {})) for who, steps in by_name.items()}
        step = max(parts, key=lambda step: parts[step], default=OTHER)
        share = shares[name].get(step, 0.0)
        others = {who: theirs.get(step, 0.0) for who, theirs in shares.items() if who != name and theirs}
        if step != OTHER and share >= MOST_OF_IT and any(share - other >= DIFFERS for other in others.values()):
            yield DominantStep(name, of, step, StepName(kind, step), share, others)


def _shares(parts: Mapping[str, float]) -> dict[str, float]:
    whole = sum(parts.values())
    return {step: time_ns / whole for step, time_ns in parts.items()} if whole > 0.0 else {}
