"""The result over all suites in sentences: who is missing first, then the order and the ratios, then each suite."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.collections.campaign_model import (
    CampaignComparison,
    Disqualified,
    SuiteEffect,
    SuiteResult,
    SuiteVerdict,
    compared,
)
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.verdict.crossover import CROSSOVER
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.challenge import FIRST, challenge_sentences
from bakeoff.report.narrate.collections.ranking_doubts import place_text
from bakeoff.report.narrate.figures.factors import title_words
from bakeoff.report.narrate.sentences import Sentence, sentence
from bakeoff.report.narrate.validity.client_options import client_options_sentence
from bakeoff.report.narrate.verdict.headline import headline as headline_of

# All pairs of three and four contenders are told; of more those with the baseline, up to so many.
FEW_PAIRS, MOST_PAIRS = 6, 8

NOTHING_YET = "nothing of it was measured yet"


def headline(found: CampaignComparison) -> tuple[Sentence, ...]:
    """Who could not be measured, a challenge, the order, the ratios over all suites, each suite, and each effect."""
    measured = compared(found.suites)
    return (
        *_dead(found),
        *challenge_sentences(found),
        _order_sentence(found),
        *_over_all(found),
        *(one for suite, of in measured for one in _suite_sentences(suite, of, found.verdicts)),
        *(Sentence("withheld", f"{suite.name}: {why}.") for suite in found.suites if (why := missing_words(suite))),
        *(Sentence("", f"{suite.name}: {text}") for suite, of in measured for text in _also_differs(of)),
        *_effects(found.effects),
    )


def result(found: CampaignComparison) -> tuple[str, ...]:
    """The sentences to read when only a few are read: the order, behind who could not be measured, and where
    contenders were not asked alike; of a challenge how the challenger did, and who and what is not in it.
    """
    sentences = headline(found)
    first = next((at for at, one in enumerate(sentences) if one.kind != "withheld"), 0)
    challenge = challenge_sentences(found)
    behind = len(_dead(found)) + len(challenge) if challenge else 0
    client_options = [
        f"{suite.name}: {text}" for suite, of in compared(found.suites) if (text := client_options_sentence(of))
    ]
    return (*(one.text for one in (*sentences[: first + 1], *sentences[first + 1 : behind])), *client_options)


def missing_words(suite: SuiteResult) -> str:
    """Why there is no more of a suite, and how far it had come; empty of one that is whole."""
    if suite.put_aside is None:
        return suite.missing or (NOTHING_YET if suite.comparison is None else "")
    done, planned = suite.put_aside
    after = f" after {done} of {wording.plural(planned, 'block')}" if planned else ""
    return f"put aside{after}: {suite.missing}"


def _also_differs(found: Comparison) -> list[str]:
    """What belongs to the result of a suite whoever reads it: how contenders were asked, and its crossovers."""
    client_options = client_options_sentence(found)
    return [
        *([client_options] if client_options else []),
        *(one.text for one in headline_of(found) if one.kind == CROSSOVER),
    ]


def _dead(found: CampaignComparison) -> list[Sentence]:
    """Those who were planned for a suite and could not be measured in it."""
    form = "{} could not be measured in {}, which runs without it: {}."
    return [
        Sentence("withheld", form.format(name, suite.name, suite.absent[name].rstrip(".")))
        for suite in found.suites
        for name in suite.dead
    ]


def _order_sentence(found: CampaignComparison) -> Sentence:
    contenders, suites, places = found.contenders, found.suites, found.places
    by = f"{wording.plural(len([suite for suite in suites if suite.comparison]), 'suite')}, {weights_of(suites)}"
    if len(contenders) == 1:
        return Sentence("inconclusive", f"{contenders[0]} was measured alone over {by}: there is no other contender.")
    unplaced = [place for place in places if place.first is None and place.no_place != Disqualified()]
    without = "; ".join(f"{place.contender} has no place ({place_text(place)})" for place in unplaced)
    first = next((place.contender for place in places if place.first == place.last == 1), None)
    unmeasured = [suite.name for suite in suites if suite.comparison is None]
    if first is None and unmeasured:
        have = "has" if len(unmeasured) == 1 else "have"
        of = wording.plural(len(suites), "suite")
        text = f"No contender is named the best over all {of}: {wording.names(unmeasured)} {have} no figures."
        return Sentence("withheld", text)
    if first is None:
        rest = f": {without}" if without else ""
        return Sentence("inconclusive", f"No contender is certainly the best over {by}{rest}.")
    if len(contenders) == 2 and found.overall:
        pair = found.overall[0]
        ratio, low, high = pair.ratio, pair.low, pair.high
        if first == pair.baseline:
            ratio, low, high = 1.0 / ratio, 1.0 / high, 1.0 / low
        other = next(iter({pair.baseline, pair.contender} - {first}))
        reach = f"{wording.ratio(ratio, low, high)} (95 % interval {wording.interval(low, high)})"
        return Sentence("better", f"{first} is better over {by}: {reach} as good as {other} on average.")
    rest = "; ".join(f"{place_text(place)} {place.contender}" for place in places if place not in unplaced)
    if without:
        return Sentence(
            "better", f"Of contenders measured in all suites {first} is the best over {by}: {rest}; {without}."
        )
    return Sentence("better", f"{first} is the best over {by}: {rest}.")


def place_of_each(found: CampaignComparison) -> list[str]:
    """Who has no place in the order, and why: "Cedar was not measured in file-mix and mail-pop"."""
    without = [place for place in found.places if place.first is None]
    return [
        f"{place.contender} was {text}"
        if (text := place_text(place)).startswith(("not ", "disqualified"))
        else f"{place.contender} has no place ({text})"
        for place in without
    ]


def weights_of(suites: Sequence[SuiteResult]) -> str:
    """ "all of one weight", "weights web-static 1, file-mix 2"."""
    if len({suite.weight for suite in suites}) == 1:
        return "all of one weight"
    return "weights " + ", ".join(f"{suite.name} {suite.weight:g}" for suite in suites)


def _suite_sentences(suite: SuiteResult, found: Comparison, verdicts: Sequence[SuiteVerdict]) -> list[Sentence]:
    """What was lost in a suite and who met its objective, then each pair with its ratio and interval."""
    sentences = headline_of(found)
    first = [Sentence(one.kind, f"{suite.name}: {one.text}") for one in sentences if one.kind in FIRST]
    own = [verdict for verdict in verdicts if verdict.suite == suite.name]
    if not own:
        rest = [Sentence(one.kind, f"{suite.name}: {one.text}") for one in sentences if one.kind not in FIRST]
        return [*first, *rest[:1]]
    chosen = _chosen(own, found.run.baseline)
    more = f"; {wording.plural(len(own) - len(chosen), 'more pair')} in the table" if len(own) > len(chosen) else ""
    parts = "; ".join(f"{_pair(one, found)}, {sentence(one)}" for one in chosen)
    kinds = {one.kind for one in own}
    kind = kinds.pop() if len(kinds) == 1 else ""
    return [*first, Sentence(kind, f"{suite.name}, {_decides(found)}: {parts}{more}.")]


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
    forfeited = next(end.all_forfeited for end in ends)
    name = f"{one.contender} ÷ {one.baseline}"
    return (
        f"{name}: {forfeited} forfeited all of its trials"
        if forfeited
        else f"{name} {_reach(one.ratio, one.low, one.high)}"
    )


def _reach(ratio: float, low: float, high: float) -> str:
    interval = wording.interval(low, high)
    return wording.ratio(ratio, low, high) + ("" if interval == wording.MISSING else f" ({interval})")


def _over_all(found: CampaignComparison) -> list[Sentence]:
    """How far apart they are over all suites, where the sentence of the order does not say so."""
    overall = found.overall
    if not overall or (found.winner is not None and len(found.contenders) == 2):
        return []
    first = overall[0].baseline
    chosen = list(overall) if len(overall) <= FEW_PAIRS else [one for one in overall if one.baseline == first]
    parts = [
        f"{one.contender} ÷ {one.baseline} {_reach(one.ratio, one.low, one.high)}"
        + ("" if one.winner else ", not certain")
        for one in chosen[:MOST_PAIRS]
    ]
    return [Sentence("", f"Over all suites, above 1 is better: {'; '.join(parts)}.")]


def _effects(effects: Sequence[SuiteEffect]) -> list[Sentence]:
    """A sentence for each effect that is shown in some suite: what it is in each of them."""
    own: dict[str, list[SuiteEffect]] = {}
    for effect in effects:
        own.setdefault(title_words(effect), []).append(effect)
    return [
        Sentence("better", f"{wording.sentence(name)}: {'; '.join(map(_in_suite, effects))}.")
        for name, effects in own.items()
        if any(effect.kind == "shown" for effect in effects)
    ]


def _in_suite(effect: SuiteEffect) -> str:
    ratio = f"{wording.ratio(effect.ratio, effect.low, effect.high)} ({wording.interval(effect.low, effect.high)})"
    return f"{effect.suite} {ratio}, {sentence(effect)}"
