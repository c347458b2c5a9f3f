"""The order of three and more contenders, as far as the verdicts on their pairs tell it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from bakeoff.compare.model.pair import Endpoint, PairComparison
from bakeoff.compare.model.ranking import Place

# Of two there is a verdict.
LEAST = 3


def rank(pairs: tuple[PairComparison, ...], names: tuple[str, ...], baseline: str) -> tuple[Place, ...]:
    """A place for each of `names`, the best first; empty for fewer than three.

    One stands above another only where the verdict on the pair is that it is better (Holm over all pairs): a contender
    has all places from 1 + those better than it to n − those that it is better than. Inside of these the numbers order.
    """
    if len(names) < LEAST or not pairs:
        return ()
    out = wrong_content(pairs)
    ranked = [name for name in names if name not in out]
    won = [(pair.primary.verdict.winner, pair.baseline, pair.contender) for pair in pairs]
    over = {name: beaten(won, name, ranked) for name in names}
    places = []
    for name in names:
        end = _against(pairs, name, baseline)
        ratio, low, high = (1.0, math.nan, math.nan) if name == baseline else (math.nan,) * 3
        if end is not None and end.blocks:
            ratio, low, high = end.ratio, end.low, end.high
        under = tuple(other for other in names if name in over[other])
        first, last = possible_places(name, over, ranked)
        places.append(Place(name, first, last, ratio, low, high, over[name], under))
    good = 1.0 if pairs[0].primary.higher_is_better else -1.0
    return tuple(sorted(places, key=lambda place: _key(place, good)))


def wrong_content(pairs: Iterable[PairComparison]) -> set[str]:
    """Who is disqualified in one of these pairs."""
    return {gate.contender for pair in pairs for gate in pair.primary.gates if gate.name == "wrong content"}


def beaten(won: Iterable[tuple[str | None, str, str]], name: str, ranked: Sequence[str]) -> tuple[str, ...]:
    """Which of `ranked` a contender is better than; `won` has the winner of each pair, if it has one, and the pair."""
    others = (({one, other} - {name}).pop() for winner, one, other in won if winner == name)
    return tuple(other for other in others if other in ranked)


def possible_places(
    name: str, over: Mapping[str, Sequence[str]], ranked: Sequence[str]
) -> tuple[int | None, int | None]:
    """From 1 + those better than it to n − those that it is better than; none for one that is not `ranked`."""
    if name not in ranked:
        return None, None
    return 1 + sum(name in over[other] for other in ranked), len(ranked) - len(over[name])


def _against(pairs: tuple[PairComparison, ...], name: str, baseline: str) -> Endpoint | None:
    return next((pair.primary for pair in pairs if (pair.baseline, pair.contender) == (baseline, name)), None)


def _key(place: Place, good: float) -> tuple[bool, bool, float]:
    """By the numbers; the winner is first all the same, and the disqualified last."""
    known = not math.isnan(place.ratio) and place.ratio > 0.0
    score = -good * math.log(place.ratio) if known else math.inf
    return place.first is None, not place.first == place.last == 1, score


def leading(places: tuple[Place, ...], pairs: tuple[PairComparison, ...]) -> tuple[PairComparison, ...]:
    """The pair of the two that stand first: what the headline tells of, the same way round as the tables do."""
    first = {place.contender for place in places[:2]}
    return tuple(pair for pair in pairs if {pair.baseline, pair.contender} == first)
