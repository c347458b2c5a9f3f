"""The result over all suites in sentences: who is missing first, then the order, then each suite."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare import wording
from bakeoff.compare.campaign_model import OverallPair, OverallPlace, SuiteEffect, SuiteResult, SuiteVerdict
from bakeoff.compare.manners_model import told_in
from bakeoff.compare.ranking_model import DISQUALIFIED

Told = tuple[str, str]
"""A sentence, and the kind of verdict that it states."""


def headline(
    contenders: Sequence[str],
    suites: Sequence[SuiteResult],
    verdicts: Sequence[SuiteVerdict],
    overall: Sequence[OverallPair],
    places: Sequence[OverallPlace],
    effects: Sequence[SuiteEffect],
) -> list[Told]:
    """Each with its kind."""
    sentences = [(text, "withheld") for suite in suites for text in _dead(suite)]
    sentences.append(_order_sentence(contenders, suites, overall, places))
    sentences += [_suite_sentence(suite, verdicts) for suite in suites if suite.comparison is not None]
    sentences += [(f"{suite.name}: {suite.missing}.", "withheld") for suite in suites if suite.missing]
    measured = [(suite.name, suite.comparison) for suite in suites if suite.comparison is not None]
    sentences += [(f"{name}: {text}", "") for name, found in measured for text in told_in(found.headline)]
    return sentences + _told_of(effects)


def _dead(suite: SuiteResult) -> list[str]:
    """Those who were planned for a suite and could not be measured in it."""
    return [
        f"{name} could not be measured in {suite.name}, which runs without it: {suite.absent[name].rstrip('.')}."
        for name in suite.dead
    ]


def _order_sentence(
    contenders: Sequence[str],
    suites: Sequence[SuiteResult],
    overall: Sequence[OverallPair],
    places: Sequence[OverallPlace],
) -> Told:
    by = f"{wording.plural(len([suite for suite in suites if suite.comparison]), 'suite')}, {weights_of(suites)}"
    if len(contenders) == 1:
        return f"{contenders[0]} was measured alone over {by}: there is nobody to be better than.", "inconclusive"
    unplaced = [place for place in places if place.first is None and place.no_place != DISQUALIFIED]
    without = "; ".join(f"{place.contender} has no place ({place.no_place})" for place in unplaced)
    first = next((place.contender for place in places if place.first == place.last == 1), None)
    unmeasured = [suite.name for suite in suites if suite.comparison is None]
    if first is None and unmeasured:
        have = "has" if len(unmeasured) == 1 else "have"
        of = wording.plural(len(suites), "suite")
        return (
            f"No contender is named the best over all {of}: {wording.names(unmeasured)} {have} no figures.",
            "withheld",
        )
    if first is None:
        rest = f": {without}" if without else ""
        return f"No contender is certainly the best over {by}{rest}.", "inconclusive"
    if len(contenders) == 2 and overall:
        pair = overall[0]
        ratio, low, high = pair.ratio, pair.low, pair.high
        if first == pair.baseline:
            ratio, low, high = 1.0 / ratio, 1.0 / high, 1.0 / low
        other = next(iter({pair.baseline, pair.contender} - {first}))
        reach = f"{wording.ratio(ratio, low, high)} (95 % interval {wording.interval(low, high)})"
        return f"{first} is better over {by}: {reach} as good as {other} on average.", "better"
    rest = "; ".join(f"{place.words} {place.contender}" for place in places if place not in unplaced)
    if without:
        return f"Of those measured in all suites {first} is the best over {by}: {rest}; {without}.", "better"
    return f"{first} is the best over {by}: {rest}.", "better"


def weights_of(suites: Sequence[SuiteResult]) -> str:
    """ "all of one weight", "weights web-static 1, file-mix 2"."""
    if len({suite.weight for suite in suites}) == 1:
        return "all of one weight"
    return "weights " + ", ".join(f"{suite.name} {suite.weight:g}" for suite in suites)


def _suite_sentence(suite: SuiteResult, verdicts: Sequence[SuiteVerdict]) -> Told:
    assert suite.comparison is not None
    own = [verdict for verdict in verdicts if verdict.suite == suite.name]
    if len(own) == 1 and own[0].text.startswith("inconclusive: "):
        one = own[0]
        ratio = f"{wording.ratio(one.ratio, one.low, one.high)} ({wording.interval(one.low, one.high)})"
        return f"{suite.name}: {one.contender} ÷ {one.baseline} {ratio}, {one.text}.", one.kind
    return f"{suite.name}: {suite.comparison.headline[0]}", suite.comparison.headline_kinds[0]


def _told_of(effects: Sequence[SuiteEffect]) -> list[Told]:
    """A sentence for each effect that is shown in some suite: what it is in each of them."""
    shown = dict.fromkeys(effect.effect for effect in effects if effect.kind == "shown")
    return [
        (f"{name}: {'; '.join(_in_suite(effect) for effect in effects if effect.effect == name)}.", "better")
        for name in shown
    ]


def _in_suite(effect: SuiteEffect) -> str:
    ratio = f"{wording.ratio(effect.ratio, effect.low, effect.high)} ({wording.interval(effect.low, effect.high)})"
    return f"{effect.suite} {ratio}, {effect.text}"
