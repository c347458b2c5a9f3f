"""The bounds that MLRsearch (RFC 9971) finds between two loads.

It is told of each probe a share lost, and of its goal a share that may be. Whether a probe met the objective decides on
which side of the goal that share lies; how large it is guides the search's first guesses, for a server that is asked
for too much answers about as much as it can.
"""

import math
from collections.abc import Callable
from typing import Any

from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal

from bakeoff.load.capacity.range import GOAL_LOST, Range
from bakeoff.store.records.trial_parts import JudgedRecord

# Of operations asked for: no more are told as those of one probe.
OF = 10**9
FOREVER_S = 1e9

Answer = Callable[[float], JudgedRecord]


def bounds(where: Range, least: float, most: float, answer: Answer) -> tuple[float | None, float | None]:
    """The highest load that met the objective and the lowest that did not, between two loads, not rounded. `answer`
    says how a probe at a load ended.
    """
    goal = SearchGoal(
        loss_ratio=min(GOAL_LOST, where.strictest),
        exceed_ratio=0.5 if where.repeats > 1 else 0.0,
        relative_width=where.width,
        initial_trial_duration=1.0,
        final_trial_duration=1.0,
        duration_sum=float(where.repeats),
        preceding_targets=2,
        fail_fast=False,
    )
    config = Config(goals=(goal,), min_load=least, max_load=most, search_duration_max=FOREVER_S, warmup_duration=0.0)
    results = MultipleLossRatioSearch(config).search(_Measurer(answer, goal.loss_ratio), debug=_silent)
    lower, upper = results[goal].relevant_lower_bound, results[goal].relevant_upper_bound
    return None if lower is None else float(lower), None if upper is None else float(upper)


class _Measurer(AbstractMeasurer):  # type: ignore[misc]
    """Tells MLRsearch of probes: a second of its time is a probe of ours."""

    def __init__(self, answer: Answer, goal_lost: float) -> None:
        self._answer, self._goal_lost = answer, goal_lost

    def measure(self, intended_duration: float, intended_load: float) -> Any:
        answer = self._answer(intended_load)
        goal = math.floor(self._goal_lost * OF)
        lost = round(answer.lost * OF)
        lost = min(lost, goal) if answer.met else max(lost, goal + 1)
        return MeasurementResult(
            intended_duration=intended_duration, intended_load=intended_load, offered_count=OF, loss_count=lost
        )


def _silent(text: str) -> None:
    """MLRsearch's own account is of no use here: every probe is in the run file."""
