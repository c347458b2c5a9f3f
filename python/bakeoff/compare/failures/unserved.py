"""What a contender never did: a class of requests, a page or a step that does not succeed once while another contender
serves it is lost, however small its share of the work; and a part of the work that is over the error budget by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.reason import NeverServed
from bakeoff.load.load_step import LoadStep
from bakeoff.stats import binomial_at_least
from bakeoff.store.records.run_records import OK, TrialRecord
from bakeoff.store.records.served import LOAD, NEVER_IN_ALL, WorkPart, added_up, never_served

if TYPE_CHECKING:
    from bakeoff.compare.kind import ComparePart

Key = tuple[str, LoadStep, int]
# A part is over its budget where chance would make so many failures of it, at the budget, no oftener than this.
CHANCE = 0.001


def unserved(kind: ComparePart, trials: Mapping[Key, TrialRecord]) -> dict[Key, Fact]:
    """Trials in which a part of the work never succeeded that another contender did, each with the reason. Parts that
    are tried seldom are looked at over all trials of a contender at one load.
    """
    counted = {key: trial for key, trial in trials.items() if trial.state == OK and trial.operations}
    if not any(trial.errors for trial in counted.values()):
        return {}
    parts = {key: list(kind.parts(trial)) for key, trial in counted.items()}
    done = _done(parts)
    at_load: dict[tuple[str, LoadStep], list[list[WorkPart]]] = defaultdict(list)
    for (name, load_step, _), own in parts.items():
        at_load[name, load_step].append(own)
    never = {key: {part.key for part in never_served(added_up(lists), NEVER_IN_ALL)} for key, lists in at_load.items()}
    found: dict[Key, Fact] = {}
    for key, own in parts.items():
        suspects = never[key[:2]] | {part.key for part in never_served(own)}
        failed = [part for part in own if part.key in suspects and part.failed and not part.good]
        lost = tuple(
            (part.words, part.failed)
            for part in failed
            if any(_does(others, part) for name, others in done.items() if name != key[0])
        )
        if lost:
            found[key] = NeverServed(lost)
    return found


def _done(parts: Mapping[Key, list[WorkPart]]) -> dict[str, dict[tuple[str, str], WorkPart]]:
    """What became of each part in all trials of each contender."""
    lists: dict[str, list[list[WorkPart]]] = defaultdict(list)
    for (name, _, _), own in parts.items():
        lists[name].append(own)
    return {name: {part.key: part for part in added_up(own)} for name, own in lists.items()}


def _does(done: Mapping[tuple[str, str], WorkPart], part: WorkPart) -> bool:
    """Whether a contender succeeds at a part; what is told by name only when it fails succeeds where it is not told."""
    return part.key not in done or done[part.key].good > 0


def over_budget(kind: ComparePart, trials: Iterable[TrialRecord], budget: float) -> WorkPart | None:
    """The part of the work, or the load, with the largest share of failures among those that fail more than `budget` by
    more than chance does; None where none is.
    """
    lists = [
        [*kind.parts(trial), WorkPart(LOAD, trial.load_step.words, trial.operations, trial.errors_total)]
        for trial in trials
    ]
    parts = [part for part in added_up(lists) if part.good + part.failed]
    over = [
        part
        for part in parts
        if part.failed > budget * (part.good + part.failed)
        and binomial_at_least(part.failed, part.good + part.failed, budget) < CHANCE / len(parts)
    ]
    return max(over, key=lambda part: part.failed / (part.good + part.failed), default=None)
