"""Over all suites: why an order is not certain, and why a contender has no place, in words."""

from __future__ import annotations

from bakeoff.compare.collections.campaign_model import (
    BelowDelta,
    Disqualified,
    FewBlocks,
    LeaderForfeited,
    NoOtherContender,
    NotBothIn,
    NotMeasuredIn,
    NotShown,
    OverallPair,
    OverallPlace,
    WithheldIn,
)
from bakeoff.compare.model.ranking import DISQUALIFIED, place_words
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


def doubts(pair: OverallPair) -> str:
    """All that keeps the order of two from being certain."""
    return "; ".join(map(sentence, pair.why_not))


def short_doubts(pair: OverallPair) -> str:
    """The same without the reasons of verdicts that are withheld, which stand with the suites."""
    parts = (
        f"{one.suite}: {one.verdict.kind}" if isinstance(one, WithheldIn) else sentence(one) for one in pair.why_not
    )
    return "; ".join(parts)


def place_text(place: OverallPlace) -> str:
    """ "1–3", or why there is none."""
    return place_words(place.first, place.last) if place.no_place is None else sentence(place.no_place)


@sentence.register
def few_blocks(fact: FewBlocks) -> str:
    """What keeps an order from being certain, as those that follow."""
    return f"{fact.suite} has {wording.plural(fact.blocks, 'block')}"


@sentence.register
def withheld_in(fact: WithheldIn) -> str:
    """Of a suite that withholds its verdict."""
    return f"{fact.suite}: {sentence(fact.verdict)}"


@sentence.register
def not_both_in(fact: NotBothIn) -> str:
    """Of suites without a ratio."""
    return f"not both in {wording.names(fact.suites)}"


@sentence.register
def not_shown(fact: NotShown) -> str:
    """Of chance."""
    return "the difference is not shown" if fact.has_interval else "no interval"


@sentence.register
def below_delta(fact: BelowDelta) -> str:
    """Of what does not matter."""
    return f"the difference is smaller than {fact.delta:.0%}"


@sentence.register
def leader_forfeited(fact: LeaderForfeited) -> str:
    """Of who failed and is ahead."""
    return f"{fact.contender} forfeited trials in {fact.suite}"


@sentence.register
def not_measured_in(fact: NotMeasuredIn) -> str:
    """Why a contender has no place, as those that follow."""
    return f"not measured in {wording.names(fact.suites)}"


@sentence.register
def disqualified(fact: Disqualified) -> str:
    """Of wrong content."""
    return DISQUALIFIED


@sentence.register
def no_other_contender(fact: NoOtherContender) -> str:
    """Of the only one."""
    return "no other contender was measured in all suites"
