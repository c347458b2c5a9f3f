"""The order of three and more contenders in words."""

from __future__ import annotations

from collections.abc import Mapping

from bakeoff.compare.model.pair import PairComparison
from bakeoff.compare.model.ranking import Place
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import Sentence

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
