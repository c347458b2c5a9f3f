"""Servers that exist as arithmetic alone: what becomes of a load on them, in no time."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bakeoff.load.capacity.judge import Answers, judge
from bakeoff.load.capacity.objective import Objective
from bakeoff.stats import queue_growth
from bakeoff.store.records.trial_parts import JudgedRecord


@dataclass
class Queue:
    """One counter that takes `per_s` customers a second on average, at random times each, who come at random times:
    the queue M/M/1. In a share `mishaps` of its trials it stands still for a fifth of a second.
    """

    per_s: float
    seed: int
    window_s: float = 2.0
    mishaps: float = 0.0
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def answers(self, load: float) -> Answers:
        """What came of `load` customers a second."""
        count = max(1, round(load * self.window_s * 1.2))
        came = np.cumsum(self.rng.exponential(1.0 / load, count))
        took = self.rng.exponential(1.0 / self.per_s, count)
        busy = np.cumsum(took)
        left = np.maximum.accumulate(came - np.concatenate([[0.0], busy[:-1]])) + busy
        if self.rng.random() < self.mishaps:
            left = left + 0.2
        begins = came[0] + self.window_s * 0.2
        ends = begins + self.window_s
        asked = int(((came >= begins) & (came < ends)).sum())
        times = (np.minimum(left, ends) - came)[(left >= begins) & (came < ends)]
        moments = np.linspace(begins, ends, 51)
        queue = np.searchsorted(came, moments) - np.searchsorted(np.sort(left), moments)
        good = int(((left >= begins) & (left < ends)).sum())
        return answers_of(asked, np.sort(times * 1e9), good, queue_growth(queue.tolist()))


def answers_of(asked: int, times_ns: np.ndarray, good: int, grown: float | None, failed: int = 0) -> Answers:
    """Answers with these times, sorted."""
    timed = len(times_ns)
    return Answers(
        asked=asked,
        good=good,
        failed=failed,
        timed=timed,
        mean_ns=float(times_ns.mean()) if timed else None,
        within=lambda limit_ns: int(np.searchsorted(times_ns, limit_ns, "right")),
        at=lambda share: int(times_ns[min(timed - 1, math.ceil(share * timed) - 1)]) if timed else None,
        grown=grown,
    )


def limited(per_s: float, objective: Objective) -> Callable[[float], JudgedRecord]:
    """A server that answers so many a second and not one more, at once up to there."""

    def measure(load: float) -> JudgedRecord:
        asked = round(load * 2.0)
        slow = 0.0 if load <= per_s else (load - per_s) * 2.0 / load
        good = min(asked, round(per_s * 2.0))
        return judge(objective, answers_of(asked, np.full(asked, (0.001 + slow) * 1e9), good, float(asked - good)))

    return measure
