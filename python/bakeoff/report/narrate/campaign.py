"""The result over all suites in sentences: who is missing first, then the order and the ratios, then each suite."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.campaign_model import (
    Disqualified,
    OverallPair,
    OverallPlace,
    SuiteEffect,
    SuiteResult,
    SuiteVerdict,
)
from bakeoff.compare.model import Comparison
from bakeoff.compare.turns import TURNS
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.challenge import FIRST
from bakeoff.report.narrate.doubts import place_told
from bakeoff.report.narrate.headline import headline as headline_of
from bakeoff.report.narrate.manners import manner_sentence
from bakeoff.report.narrate.sentences import sentence

Told = tuple[str, str]
"""A sentence, and the kind of verdict that it states."""
# All pairs of three and four contenders are told; of more those with the baseline, up to so many.
FEW_PAIRS, MOST_PAIRS = 6, 8


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
    winner = next((place.contender for place in places if place.first == place.last == 1), None)
    sentences += _over_all(contenders, overall, winner)
    sentences += [
        text for suite in suites if suite.comparison is not None for text in _suite_sentences(suite, verdicts)
    ]
    sentences += [(f"{suite.name}: {suite.missing}.", "withheld") for suite in suites if suite.missing]
    measured = [(suite.name, suite.comparison) for suite in suites if suite.comparison is not None]
    sentences += [(f"{name}: {text}", "") for name, found in measured for text in _told_too(found)]
    return sentences + _told_of(effects)


def _told_too(found: Comparison) -> list[str]:
    """What belongs to the result of a suite whoever reads it: how contenders were asked, and where the order turns."""
    manners = manner_sentence(found)
    return [*([manners] if manners else []), *(one.text for one in headline_of(found) if one.kind == TURNS)]


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
    unplaced = [place for place in places if place.first is None and place.no_place != Disqualified()]
    without = "; ".join(f"{place.contender} has no place ({place_told(place)})" for place in unplaced)
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
    rest = "; ".join(f"{place_told(place)} {place.contender}" for place in places if place not in unplaced)
    if without:
        return f"Of those measured in all suites {first} is the best over {by}: {rest}; {without}.", "better"
    return f"{first} is the best over {by}: {rest}.", "better"


def weights_of(suites: Sequence[SuiteResult]) -> str:
    """ "all of one weight", "weights web-static 1, file-mix 2"."""
    if len({suite.weight for suite in suites}) == 1:
        return "all of one weight"
    return "weights " + ", ".join(f"{suite.name} {suite.weight:g}" for suite in suites)


def _suite_sentences(suite: SuiteResult, verdicts: Sequence[SuiteVerdict]) -> list[Told]:
    """What was lost in a suite and who met its objective, then each pair with its ratio and interval."""
    found = suite.comparison
    assert found is not None
    told = [(one.text, one.kind) for one in headline_of(found)]
    first = [(f"{suite.name}: {text}", kind) for text, kind in told if kind in FIRST]
    own = [verdict for verdict in verdicts if verdict.suite == suite.name]
    if not own:
        text, kind = next(((text, kind) for text, kind in told if kind not in FIRST), ("", ""))
        return [*first, (f"{suite.name}: {text}", kind)] if text else first
    chosen = _chosen(own, found.run.baseline)
    rest = f"; {wording.plural(len(own) - len(chosen), 'more pair')} in the table" if len(own) > len(chosen) else ""
    parts = "; ".join(f"{_pair(one, found)}, {sentence(one)}" for one in chosen)
    kinds = {one.kind for one in own}
    kind = kinds.pop() if len(kinds) == 1 else ""
    return [*first, (f"{suite.name}, {_decides(found)}: {parts}{rest}.", kind)]


def _decides(found: Comparison) -> str:
    """What the ratios are of, and that less is better where it is."""
    end = found.pairs[0].primary
    title = end.title[0].lower() + end.title[1:] if end.title[1:2].islower() else end.title
    return title if end.higher_is_better else f"{title} (less is better)"


def _chosen(own: Sequence[SuiteVerdict], baseline: str) -> list[SuiteVerdict]:
    """The pairs that a sentence tells: all of few, of many those with the baseline."""
    with_baseline = [one for one in own if baseline in (one.baseline, one.contender)]
    return list(own) if len(own) <= FEW_PAIRS else with_baseline[:MOST_PAIRS]


def _pair(one: SuiteVerdict, found: Comparison) -> str:
    """ "red ÷ blue 1.31× (1.30–1.31)"; who lost every pair has no ratio."""
    ends = (pair.primary for pair in found.pairs if (pair.baseline, pair.contender) == (one.baseline, one.contender))
    lost = next(end.all_lost for end in ends)
    name = f"{one.contender} ÷ {one.baseline}"
    return f"{name}: {lost} lost all of its trials" if lost else f"{name} {_reach(one.ratio, one.low, one.high)}"


def _reach(ratio: float, low: float, high: float) -> str:
    interval = wording.interval(low, high)
    return wording.ratio(ratio, low, high) + ("" if interval == wording.MISSING else f" ({interval})")


def _over_all(contenders: Sequence[str], overall: Sequence[OverallPair], winner: str | None) -> list[Told]:
    """How far apart they are over all suites, where the sentence of the order does not say so."""
    if not overall or (winner is not None and len(contenders) == 2):
        return []
    first = overall[0].baseline
    chosen = list(overall) if len(overall) <= FEW_PAIRS else [one for one in overall if one.baseline == first]
    parts = [
        f"{one.contender} ÷ {one.baseline} {_reach(one.ratio, one.low, one.high)}"
        + ("" if one.winner else ", not certain")
        for one in chosen[:MOST_PAIRS]
    ]
    return [(f"Over all suites, above 1 is better: {'; '.join(parts)}.", "")]


def _told_of(effects: Sequence[SuiteEffect]) -> list[Told]:
    """A sentence for each effect that is shown in some suite: what it is in each of them."""
    shown = dict.fromkeys(effect.effect for effect in effects if effect.kind == "shown")
    return [
        (f"{name}: {'; '.join(_in_suite(effect) for effect in effects if effect.effect == name)}.", "better")
        for name in shown
    ]


def _in_suite(effect: SuiteEffect) -> str:
    ratio = f"{wording.ratio(effect.ratio, effect.low, effect.high)} ({wording.interval(effect.low, effect.high)})"
    return f"{effect.suite} {ratio}, {sentence(effect)}"
