"""The result of a campaign in at most five sentences: the order, then each suite with ratios, intervals, conditions."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.collections.campaign_model import CampaignComparison, SuiteResult, SuiteVerdict, compared
from bakeoff.compare.model.comparison import Comparison
from bakeoff.plan.design.factors import SERVER
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.campaign import headline, place_of_each
from bakeoff.report.narrate.collections.challenge import challenge_sentences
from bakeoff.report.narrate.figures.factors import effect_words

MOST = 5
MOST_PAIRS = 4
# What a sentence says behind a ratio whose verdict is not that it is certain.
OPEN = {
    "equivalent": "equivalent",
    "near_margin": "perhaps too little to matter",
    "inconclusive": "not certain",
    "withheld": "verdict withheld",
    "disqualified": "disqualified",
    "too_few": "too few blocks for a verdict",
    "forfeit": "forfeited by one",
}


def summary(found: CampaignComparison) -> tuple[str, ...]:
    """Who could not be measured, what was challenged, the order, the suites; what has no room is in the tables."""
    first = [one.text for one in headline(found) if one.kind == "withheld" and "could not be measured" in one.text]
    lines = [*first, *(one.text for one in challenge_sentences(found)), _order(found)][: MOST - 1]
    suites = [_suite(suite, of, found.verdicts) for suite, of in compared(found.suites) if of.pairs]
    factors = _factors(found)[: max(0, MOST - 1 - len(lines))]
    room = MOST - len(lines) - len(factors)
    if len(suites) > room:
        left = wording.plural(len(suites) - room + 1, "more suite")
        suites = [*suites[: room - 1], f"{left}: see the table of suites."]
    return (*lines, *suites, *factors)


def _factors(found: CampaignComparison) -> list[str]:
    """ "Effect of dma (off ÷ on): web 0.58× (0.57–0.59); files 1.01× (0.99–1.03), equivalent." of settings."""
    own: dict[str, list[str]] = {}
    for one in found.effects:
        if one.is_main and SERVER not in one.factors:
            interval = wording.interval(one.low, one.high)
            ending = f", {OPEN[one.kind]}" if one.kind in OPEN else ""
            ratio = f"{one.suite} {wording.ratio(one.ratio, one.low, one.high)} ({interval}){ending}"
            own.setdefault(effect_words(one), []).append(ratio)
    sentences = [f"{wording.sentence(name)}: {'; '.join(parts)}." for name, parts in own.items()]
    return [" ".join(sentences)] if sentences else []


def _order(found: CampaignComparison) -> str:
    """Who is the best over how many suites, and who was not measured in all of them."""
    over = wording.plural(len([suite for suite in found.suites if suite.comparison]), "suite")
    missing = [suite.name for suite in found.suites if suite.comparison is None]
    without = f" {wording.names(missing)} {'has' if len(missing) == 1 else 'have'} no figures." if missing else ""
    left = "".join(f" {text}." for text in place_of_each(found))
    if len(found.contenders) == 1:
        return f"{found.contenders[0]} was measured alone over {over}.{without}"
    if found.winner is None:
        return f"No contender is certainly the best over {over}.{without}{left}"
    among = " of the contenders measured in all suites" if left else ""
    return f"{found.winner} is the best{among} over {over}{_ahead(found, found.winner)}.{without}{left}"


def _ahead(found: CampaignComparison, winner: str) -> str:
    """By how much the best is ahead of the baseline, or of the next."""
    pairs = [one for one in found.overall if winner in (one.contender, one.baseline)]
    if not pairs:
        return ""
    one = pairs[0]
    ends = (one.ratio, one.low, one.high)
    other = one.baseline
    if winner == one.baseline:
        ends, other = (1.0 / one.ratio, 1.0 / one.high, 1.0 / one.low), one.contender
    return f": {wording.ratio(*ends)} ({wording.interval(*ends[1:])}) as good as {other} on average"


def _suite(suite: SuiteResult, found: Comparison, verdicts: Sequence[SuiteVerdict]) -> str:
    """ "web (requests/s, from 1 to 16 clients, 8 blocks): Cedar 1.26× Alder (1.24–1.28)."."""
    base = found.run.baseline
    own = [one for one in verdicts if one.suite == suite.name and base in (one.baseline, one.contender)]
    end = found.pairs[0].primary
    title = end.title if not end.title[1:2].islower() else end.title[0].lower() + end.title[1:]
    what = title.partition(" (")[0] + ("" if end.higher_is_better else ", less is better")
    steps = found.run.load_steps
    load = steps[0].words if len(steps) == 1 else f"from {steps[0]} to {steps[-1].words}"
    blocks = wording.plural(found.run.blocks_measured, "block")
    parts = "; ".join(_pair(one, found) for one in own[:MOST_PAIRS])
    more = f"; {wording.plural(len(own) - MOST_PAIRS, 'more pair')}" if len(own) > MOST_PAIRS else ""
    return f"{suite.name} ({what}, {load}, {blocks}): {parts}{more}."


def _pair(one: SuiteVerdict, found: Comparison) -> str:
    ends = (pair.primary for pair in found.pairs if (pair.baseline, pair.contender) == (one.baseline, one.contender))
    if lost := next(end.all_forfeited for end in ends):
        return f"{lost} forfeited all of its trials against {one.baseline if lost == one.contender else one.contender}"
    interval = wording.interval(one.low, one.high)
    reach = f" ({interval})" if interval != wording.MISSING else ""
    open_ = f", {OPEN[one.kind]}" if one.kind in OPEN else ""
    return f"{one.contender} {wording.times(one.ratio, one.baseline, one.low, one.high)}{reach}{open_}"
