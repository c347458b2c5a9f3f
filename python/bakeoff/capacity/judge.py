"""A probe held against an objective.

Counted is what was asked for: starts planned for the window at a rate, operations begun by clients that wait. Lost is
what had no good reply: failed, never begun, or still waiting when it should not have been.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from bakeoff.capacity.objective import Objective, Term
from bakeoff.store.records import JudgedRecord, TermRecord

# Chance moves the number of operations under way between the edges of a window by this many of its standard deviations.
EDGE_DEVIATIONS = 3.0


@dataclass(frozen=True)
class Answers:
    """What came of a probe. `asked` operations were asked for, `good` of them answered well, `lost` not at all;
    `mean_ns` is that of the good ones. `within(ns)` says how many good ones took at most so long, `at(share)` the time
    that such a share of them took at most.
    """

    asked: int
    good: int
    lost: int
    mean_ns: float | None
    within: Callable[[int], int]
    at: Callable[[float], int | None]


def waiting(offered: int, over: int, per_s: float, mean_ns: float | None) -> int:
    """Of `offered` starts how many still waited at the end of the window, as `over` were over, more than wait at any
    moment at this pace: a queue that grows.
    """
    under_way = per_s * (mean_ns or 0.0) / 1e9
    edge = under_way + EDGE_DEVIATIONS * math.sqrt(under_way) + 1.0
    return max(0, math.floor(offered - over - edge))


def judge(objective: Objective, answers: Answers, failed: str = "", limit: str = "") -> JudgedRecord:
    """Whether the objective was met. A trial that `failed` for this reason meets none; `limit` is what limited the
    generator, if anything did.
    """
    terms = tuple(_judged(term, answers) for term in objective.terms)
    lost = _share(answers.lost, answers.asked) if answers.asked else 1.0
    met = not failed and answers.good > 0 and all(term.met for term in terms)
    return JudgedRecord(met, lost, limit, terms)


def _judged(term: Term, answers: Answers) -> TermRecord:
    good, lost = answers.good, answers.lost
    asked = good + lost
    value: float | None = None
    missed = lost
    match term.sort:
        case "percentile" | "max":
            missed = asked - answers.within(round(term.limit * 1e9))
            # Lost ones are the slowest: the percentile of all is a higher one of those that were answered.
            among_good = term.quantile * asked / good if good else math.inf
            value = answers.at(min(1.0, among_good)) if among_good <= 1.0 + 1e-12 else None
        case "mean":
            value = answers.mean_ns
        case "errors":
            value = _share(lost, asked)
        case "achieved":
            value = min(1.0, good / answers.asked) if answers.asked else 0.0
            missed = max(0, answers.asked - good)
    share = _share(missed, answers.asked if term.sort == "achieved" else asked)
    allowed = term.allowed
    met = value is not None and value <= term.limit * 1e9 if allowed is None else share <= allowed + 1e-12
    return TermRecord(str(term), value, share, met)


def _share(part: int, of: int) -> float:
    return min(1.0, part / of) if of > 0 else 1.0
