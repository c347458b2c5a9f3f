"""The headline of what challenges a report: first how the challenger did, at last of whom nothing is known."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bakeoff.compare.collections.campaign_model import CampaignComparison, OverallPair
from bakeoff.compare.collections.challenge_model import (
    AskedOtherwise,
    CampaignChallenge,
    Challenge,
    Machine,
    NoFigures,
    NotByBlock,
    OtherContent,
    OtherLoadSteps,
    OtherMachines,
    OtherMetric,
    Searched,
)
from bakeoff.compare.estimate.intervals import turned
from bakeoff.compare.model.pair import Endpoint, PairComparison
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.ranking_doubts import doubts
from bakeoff.report.narrate.sentences import Sentence, sentence
from bakeoff.report.narrate.verdict.ranking import WITHOUT_WINNER

# Kinds of sentences that stand above it: what was lost, and whether an objective was met.
FIRST = ("loss", "objective_met", "objective_missed", "objective_undecided")

UNKNOWN_MACHINE = "a machine that is not named"


def with_challenger(
    made: Challenge, pairs: Sequence[PairComparison], what: str, sentences: Sequence[Sentence]
) -> list[Sentence]:
    """`sentences` with those about the challenger; `what` decides, such as requests/s."""
    at = next((at for at, one in enumerate(sentences) if one.kind not in FIRST), len(sentences))
    before, after = sentences[:at], sentences[at:]
    own = [pair for pair in pairs if made.challenger in (pair.baseline, pair.contender)]
    if not own:
        return [*before, _without_verdict(made), *after]
    if len(pairs) == 1 and after:
        # Of two the sentence about the pair says it all.
        first, *after = after
        lead = Sentence(first.kind, f"{made.challenger} challenges {made.report}: {first.text}")
    else:
        lead = _lead(made, own, what)
    return [*before, lead, *after, *_not_again(made)]


def _lead(made: Challenge, own: Sequence[PairComparison], what: str) -> Sentence:
    """Against each of those beside it: "1.18× a (95 % interval 1.12–1.24), c is better"."""
    kinds = {pair.primary.verdict.kind for pair in own}
    won = all(pair.primary.verdict.winner == made.challenger for pair in own)
    # A mixed result is neither good nor bad.
    kind = kinds.pop() if len(kinds) == 1 and (won or "better" not in kinds) else ""
    parts = [_against(pair, made.challenger) for pair in own]
    return Sentence(kind, f"{made.challenger} challenges {made.report}, in {what}: {'; '.join(parts)}.")


def _against(pair: PairComparison, challenger: str) -> str:
    end, verdict = pair.primary, pair.primary.verdict
    other, ratio, low, high = _by_challenger(pair, challenger, end)
    word = f"{verdict.winner} is better" if verdict.winner else WITHOUT_WINNER.get(verdict.kind, sentence(verdict))
    if not end.blocks:
        return f"{other} has no block in common with it"
    if end.all_forfeited:
        winner = other if end.all_forfeited == challenger else challenger
        return f"{end.all_forfeited} forfeited all of its trials beside {winner}"
    return f"{wording.times(ratio, other, low, high)}{_reach(low, high)}, {word}"


def challenge_sentences(made: CampaignComparison) -> list[Sentence]:
    """Of a campaign: how the challenger stands to each of those that were measured beside it, and over what; empty of
    no challenge.
    """
    if made.challenge is None:
        return []
    own = [pair for pair in made.overall if made.challenge.challenger in (pair.baseline, pair.contender)]
    return [*(_over_suites(pair, made.challenge) for pair in own), Sentence("", sentence(made.challenge))]


def _over_suites(pair: OverallPair, challenge: CampaignChallenge) -> Sentence:
    who, suites = challenge.challenger, wording.plural(len(pair.suites), "suite")
    other, ratio, low, high = _by_challenger(pair, who, pair)
    end = f"{pair.winner} is better" if pair.winner else f"who is better is not certain: {doubts(pair)}"
    text = f"{who} challenges {challenge.report}: over {suites} {wording.ratio(ratio, low, high)} as good as {other}"
    kind = "better" if pair.winner == who else "" if pair.winner else "inconclusive"
    return Sentence(kind, f"{text}{_reach(low, high)}; {end}.")


def _by_challenger(
    pair: PairComparison | OverallPair, challenger: str, end: Endpoint | OverallPair
) -> tuple[str, float, float, float]:
    """The other one of a pair, and the ratio of the challenger to it with its interval."""
    if pair.contender == challenger:
        return pair.baseline, end.ratio, end.low, end.high
    return pair.contender, 1.0 / end.ratio if end.ratio else math.inf, *turned(end.low, end.high)


def _reach(low: float, high: float) -> str:
    interval = wording.interval(low, high)
    return "" if interval == wording.MISSING else f" (95 % interval {interval})"


def _without_verdict(made: Challenge) -> Sentence:
    """Where nobody of the report was measured beside it: how it stands to then, as far as that is known."""
    if made.challenger in made.absent:
        return Sentence("", f"{made.challenger} was to challenge {made.report} and could not be measured: no verdict.")
    absent, one = wording.names(list(made.absent)), len(made.absent) == 1
    clause = f"{absent or 'its contenders'} {'was' if one else 'were'} measured at another time"
    ratios = [wording.times(one.ratio, one.reference) for one in made.ratios if one.contender == made.challenger]
    known = f" Unpaired, in {made.metric}: {wording.names(ratios)}." if ratios else ""
    return Sentence("", f"{made.challenger} challenges {made.report} alone: {clause}, so there is no verdict.{known}")


def _not_again(made: Challenge) -> list[Sentence]:
    """Of whom there is no verdict."""
    if not made.absent:
        return []
    names, one = wording.names(list(made.absent)), len(made.absent) == 1
    return [Sentence("", f"{names} {'was' if one else 'were'} not measured again, so there is no verdict on {names}.")]


@sentence.register
def no_figures(fact: NoFigures) -> str:
    """Why nothing of now is divided by anything of then, as those that follow."""
    return f"the report has no figures of this suite ({fact.why})"


@sentence.register
def searched(fact: Searched) -> str:
    """Of a search."""
    return "capacities are compared within one run alone"


@sentence.register
def not_by_block(fact: NotByBlock) -> str:
    """Of figures that are there of pairs alone."""
    return "the deciding figure belongs to pairs, or the report does not have it by block"


@sentence.register
def other_metric(fact: OtherMetric) -> str:
    """Of runs with other endpoints."""
    return f"the report decides by {fact.reported or 'something else'}, this run by {fact.now}"


@sentence.register
def other_load_steps(fact: OtherLoadSteps) -> str:
    """Of runs with other loads."""
    return "the report has other load steps than this run"


@sentence.register
def other_content(fact: OtherContent) -> str:
    """What is another now, as those that follow."""
    return "the contenders serve other content now"


@sentence.register
def other_machines(fact: OtherMachines) -> str:
    """Of the machines that sent load."""
    return f"the load came from {_machines(fact.reported)} then, from {_machines(fact.now)} now"


def _machines(machines: Sequence[Machine]) -> str:
    return " and ".join(", ".join(one) or UNKNOWN_MACHINE for one in machines) or UNKNOWN_MACHINE


@sentence.register
def asked_otherwise(fact: AskedOtherwise) -> str:
    """Of settings that one contender had alone."""
    return (
        f"client options of {fact.contender} then and of {fact.challenger} now differ ({', '.join(fact.settings)}): "
        "there is no ratio of the two"
    )


@sentence.register
def sentence_over_all(made: CampaignChallenge) -> str:
    """Beside whom it was, in how many suites, and of whom and over what there is no verdict."""
    run, whole = len(made.measured), len(made.suites)
    reach = "all of its suites" if run == whole else f"{run} of its {wording.plural(whole, 'suite')}"
    company = (
        f"beside {wording.names(list(made.again))}"
        if made.again
        else "with none of its contenders measured again in all of these"
    )
    parts = [f"{made.challenger} challenges {made.report} in {reach}, {company}"]
    if not run:
        parts = [f"{made.challenger} was to challenge {made.report} and was measured in none of its suites"]
    for name, suites in made.absent.items():
        where = "" if len(suites) == run else f" in {wording.names(list(suites))}"
        parts.append(f"{name} was not measured again{where}, so there is no verdict on {name}{' there' * bool(where)}")
    why = {
        one.suite: "was left out" if one.left_out else f"has no figures of {made.challenger}" for one in made.without
    }
    without = [f"{name} {words}" for name, words in why.items()]
    if without:
        parts.append(f"{wording.names(without)}, so there is no verdict over all suites")
    return f"{'; '.join(parts)}."
