"""The search for the highest load that meets an objective, by MLRsearch (RFC 9971).

MLRsearch begins at the highest load that there may be. Of a server that is not known, so the load first climbs from the
least one by a factor until a probe misses; the range between the last two is then searched. Where a load is known that
was found before, the climb begins below it, by a small factor. A load is judged by the majority of its
probes, of which the coarse steps ask for one and the last for several.

Everything follows from the answers: the same answers give the same loads in the same order, so that a search which was
interrupted goes on with those that are stored.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from bakeoff.load.capacity.range import CLIMB, Range
from bakeoff.store.records.run_records import AT_LEAST, DIED, FOUND, NONE, UNSETTLED
from bakeoff.store.records.trial_parts import JudgedRecord

# The climb from a load that is known begins so much below it, and its next load is so much above it.
NEAR = 1.1


@dataclass(frozen=True)
class Found:
    """How a search ended: `outcome` and `reason` as in a SearchRecord; the highest load that met the objective, and
    the lowest above it that did not; None where there is none.
    """

    outcome: str
    reason: str
    met: float | None
    missed: float | None


class GoneError(Exception):
    """The contender died and did not come back; the text says how."""


class _SpentError(Exception):
    """The search has asked for as many probes as it may."""


Measure = Callable[[float], JudgedRecord]


def above(where: Range, load: float, factor: float) -> float:
    """The next load of a climb: another one, even where loads are whole."""
    return min(where.most, max(where.rounded(load * factor), where.rounded(load + 1.0) if where.whole else 0.0))


class Search:
    """One search. `measure` does a probe at a load. What it raises leaves the search, but for GoneError. `near` is a
    load that was found before: where the search begins, and nothing that it rests on.
    """

    def __init__(self, measure: Measure, where: Range, near: float | None = None) -> None:
        self._measure, self._where, self._near = measure, where, near
        self._answers: dict[float, list[JudgedRecord]] = defaultdict(list)
        self._asked: dict[float, int] = defaultdict(int)
        self.probes = 0

    def run(self) -> Found:
        """Search until the bounds are close enough, or cannot be made so."""
        try:
            return self._nearby() or self._climb(self._where.least, self._where.least)
        except _SpentError:
            text = f"{self._where.most_probes} probes were not enough to narrow it to {self._where.width * 100:g} %"
            return Found(UNSETTLED, text, *self._bounds())
        except GoneError as error:
            return Found(DIED, str(error), *self._bounds())

    def _nearby(self) -> Found | None:
        """The climb from below the load that was found before; None where there is none, or it misses there."""
        where = self._where
        below = 0.0 if self._near is None else where.rounded(self._near / NEAR)
        if not where.least < below < where.most:
            return None
        if not self._probe(below).met and not self._probe(below).met:  # once more: one may be a mishap
            return None
        return self._climb(below, above(where, below, NEAR**2))

    def _climb(self, met: float, load: float) -> Found:
        """From `load` up, where `met` is one below that met the objective, or the least."""
        where = self._where
        while True:
            if not self._probe(load).met:
                if load <= where.least:
                    if not self._probe(load).met:  # once more: a mishap at the least load would end it all
                        return self._none(load)
                else:
                    found = self._between(met, load)
                    if found is not None:
                        return found
                    # What stopped the climb was a mishap: more probes at that load met the objective.
            if load >= where.most:
                return Found(AT_LEAST, "the highest load that was allowed still met the objective", load, None)
            met, load = load, above(where, load, CLIMB)

    def _between(self, least: float, most: float) -> Found | None:
        """What MLRsearch finds between two loads; None when the higher one meets the objective after all."""
        found = self._search(least, most)
        if found is not None and found.met is None and least > self._where.least:
            return self._search(self._where.least, most)  # that the lower one met it was a mishap
        return found

    def _search(self, least: float, most: float) -> Found | None:
        from bakeoff.load.capacity.mlr import bounds  # takes a moment to start: only when there is a search

        where = self._where
        self._asked.clear()  # the answers that are there are told again before new ones are asked for
        lower, upper = bounds(where, least, most, self._answer)
        if upper is None:
            return None
        missed = where.rounded(upper)
        if lower is None:
            return self._none(missed)
        return self._found(where.rounded(lower), missed)

    def _found(self, met: float, missed: float) -> Found:
        limit = self._limit(missed)
        return Found(AT_LEAST, limit, met, missed) if limit else Found(FOUND, "", met, missed)

    def _none(self, missed: float) -> Found:
        """No load met the objective; where the generator was the limit, that says nothing of the contender."""
        limit = self._limit(missed)
        if limit:
            return Found(UNSETTLED, limit, None, missed)
        return Found(NONE, "the least load did not meet the objective", None, missed)

    def _limit(self, missed: float) -> str:
        """What limited the generator in most of the probes that missed at a load; empty when nothing did."""
        limits = [answer.limit for answer in self._answers[missed] if not answer.met]
        limited = [limit for limit in limits if limit]
        return limited[-1] if 2 * len(limited) > len(limits) else ""

    def _answer(self, load: float) -> JudgedRecord:
        """The next answer at a load that MLRsearch asks for: one that is there already, or a new probe."""
        rounded, times = self._where.rounded(load), self._asked[load]
        self._asked[load] += 1
        known = self._answers[rounded]
        return known[times] if times < len(known) else self._probe(rounded)

    def _probe(self, load: float) -> JudgedRecord:
        if self.probes >= self._where.most_probes:
            raise _SpentError
        answer = self._measure(load)
        self.probes += 1
        self._answers[load].append(answer)
        return answer

    def _bounds(self) -> tuple[float | None, float | None]:
        """The bounds by the majority of the probes so far."""
        verdicts = {load: 2 * sum(a.met for a in answers) > len(answers) for load, answers in self._answers.items()}
        missed = min((load for load, met in verdicts.items() if not met), default=None)
        met = [load for load, met in verdicts.items() if met and (missed is None or load < missed)]
        return max(met, default=None), missed
