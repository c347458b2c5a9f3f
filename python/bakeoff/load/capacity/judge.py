"""A probe held against an objective.

Counted is what was asked for: starts planned for the window at a rate, operations begun by clients that wait. Lost is
what had no good reply: what failed, and by what the queue of those that wait grew all through the window.

A load under which that queue grows is none that a server carries, however long it takes until the times asked for are
exceeded: so no probe meets an objective in which it grew by more than `GROWTH` of what was offered.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from bakeoff.core.times import ns_of
from bakeoff.core.units import format_share
from bakeoff.load.capacity.objective import Condition, Objective
from bakeoff.store.records.trial_parts import GROWTH_TERM, JudgedRecord, TermRecord

# The share of what is offered by which a queue may grow in a probe; and by so many starts at least, which chance does.
GROWTH, GROWTH_LEAST = 0.005, 2.0


NOTHING: "Mapping[str, Answers]" = MappingProxyType({})


@dataclass(frozen=True)
class Answers:
    """What came of a probe. `asked` operations were asked for, `good` of them answered well, `failed` not, and
    `unbegun` were never begun. There are `timed` times, `mean_ns` on average: those of the good ones, and of those that
    waited at the window's end as far as they had. `within(ns)` says how many of them are at most so long, `at(share)`
    how long such a share of them is at most. `grown` starts are what the queue grew by over the window, None of clients
    that wait.
    """

    asked: int
    good: int
    failed: int
    timed: int
    mean_ns: float | None
    within: Callable[[int], int]
    at: Callable[[float], int | None]
    grown: float | None = None
    unbegun: int = 0

    @property
    def lost(self) -> int:
        """What had no good reply."""
        return self.failed + max(self.unbegun, math.floor(self.grown or 0.0))


def judge(
    objective: Objective,
    answers: Answers,
    failed: str = "",
    limit: str = "",
    also: Mapping[str, Answers] = NOTHING,
) -> JudgedRecord:
    """Whether the objective was met. A trial that `failed` for this reason meets none; `limit` is what limited the
    generator, if anything did. `also` is what the same objective holds for beside the answers, by the word in front of
    its terms.
    """
    others_judged = [
        replace(judged, term=f"{word} {judged.term}")
        for word, others in also.items()
        if others.asked
        for judged in (_judged(term, others) for term in objective.terms)
    ]
    terms = (*(_judged(term, answers) for term in objective.terms), *_growth(answers), *others_judged)
    lost = _share(answers.lost, answers.asked) if answers.asked else 1.0
    lost = max([lost, *(_share(others.lost, others.asked) for others in also.values())])
    met = not failed and answers.good > 0 and all(term.met for term in terms)
    return JudgedRecord(met, lost, limit, terms)


def _judged(term: Condition, answers: Answers) -> TermRecord:
    missed = answers.failed + answers.unbegun
    asked = answers.good + missed
    value: float | None = None
    match term.sort:
        case "percentile" | "max":
            timed, asked = answers.timed, answers.timed + answers.failed
            missed = asked - answers.within(round(ns_of(term.limit)))
            # Failed ones are the slowest: the percentile of all is a higher one of those that have a time.
            among_timed = term.quantile * asked / timed if timed else math.inf
            value = answers.at(min(1.0, among_timed)) if among_timed <= 1.0 + 1e-12 else None
        case "mean":
            value = answers.mean_ns
        case "errors":
            value = _share(missed, asked)
        case "achieved":
            value = min(1.0, answers.good / answers.asked) if answers.asked else 0.0
            missed = max(0, answers.asked - answers.good)
    share = _share(missed, answers.asked if term.sort == "achieved" else asked)
    allowed = term.allowed
    met = value is not None and value <= ns_of(term.limit) if allowed is None else share <= allowed + 1e-12
    return TermRecord(str(term), value, share, met)


def _growth(answers: Answers) -> tuple[TermRecord, ...]:
    """The term that every objective has at a rate."""
    if answers.grown is None:
        return ()
    share = min(1.0, answers.grown / answers.asked) if answers.asked else 0.0
    met = share <= GROWTH or answers.grown <= GROWTH_LEAST
    return (TermRecord(f"{GROWTH_TERM}<={format_share(GROWTH)}", share, share, met),)


def _share(part: int, of: int) -> float:
    return min(1.0, part / of) if of > 0 else 1.0
