"""The order of three and more contenders, as far as the verdicts on their pairs tell it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from bakeoff.compare.model import Sentence
from bakeoff.compare.pair_model import Endpoint, PairComparison
from bakeoff.compare.ranking_model import Place
from bakeoff.report.narrate import wording

# Of two there is a verdict.
LEAST = 3
# So many pairs of a kind are named in a sentence.
NAMED = 4
# Verdicts without a winner, the gravest first, in the words of a list of pairs.
WITHOUT_WINNER = {
    "disqualified": "disqualified",
    "withheld": "verdict withheld",
    "too_few": "too few blocks for a verdict",
    "inconclusive": "inconclusive",
    "near_margin": "faster, size open",
    "equivalent": "equivalent",
}


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


def undecided(pairs: list[PairComparison]) -> list[Sentence]:
    """Which of `pairs` have no winner, by the kind of their verdict; nothing where all have one."""
    by_kind: dict[str, list[str]] = {}
    for pair in pairs:
        by_kind.setdefault(pair.primary.verdict.kind, []).append(f"{pair.contender} ÷ {pair.baseline}")
    listed = [(kind, by_kind[kind]) for kind in WITHOUT_WINNER if kind in by_kind]
    if not listed:
        return []
    parts = [f"{_several(names, len(pairs))} {WITHOUT_WINNER[kind]}" for kind, names in listed]
    number = sum(len(names) for _, names in listed)
    count = "any" if number == len(pairs) > 1 else number
    of = f"No winner in {count} of the other {wording.plural(len(pairs), 'pair')}"
    of = "No winner in the other pair" if len(pairs) == 1 else of
    return [Sentence(listed[0][0], f"{of}: {'; '.join(parts)}.")]


def _several(names: list[str], of: int) -> str:
    if len(names) == of > NAMED:
        return f"all {of}"
    return ", ".join(names) if len(names) <= NAMED else f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"


def ranking_sentence(
    places: tuple[Place, ...], pairs: tuple[PairComparison, ...], what: str, outages: Mapping[str, str]
) -> Sentence:
    """The whole order in a sentence, with the kind of verdict that it states. Who failed trials shares a place while
    blocks are few: `outages` says in how many, by name, so that nobody reads it as a rank that was earned.
    """
    ranked = [place for place in places if place.first is not None]
    sharing: dict[str, list[str]] = {}
    for one in places:
        out = outages.get(one.contender)
        sharing.setdefault(one.words, []).append(f"{one.contender} ({out})" if out else one.contender)
    groups = [f"{words} {wording.names(names)}" for words, names in sharing.items()]
    open_places = any(place.first != place.last for place in ranked)
    why = "; where places are shared, the order is not certain" if open_places else ""
    text = f"Ranking of {len(places)} by {what}: {'; '.join(groups)} ({wording.plural(len(pairs), 'pair')}, Holm{why})."
    kinds = {pair.primary.verdict.kind for pair in pairs}
    if places[0].first == places[0].last == 1:
        return Sentence("better", text)
    return Sentence(kinds.pop() if len(kinds) == 1 else "inconclusive", text)
