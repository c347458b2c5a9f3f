"""A campaign that challenges a report, in words: how the challenger stands over all suites, and of whom and over what
there is no verdict.
"""

from __future__ import annotations

from bakeoff.compare.collections.campaign_model import CampaignComparison, OverallPair
from bakeoff.compare.collections.challenge_model import CampaignChallenge
from bakeoff.compare.estimate.intervals import turned
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.ranking_doubts import doubts
from bakeoff.report.narrate.sentences import Sentence, sentence


def challenge_sentences(made: CampaignComparison) -> list[Sentence]:
    """How the challenger stands to each of those that were measured beside it, and over what; empty of no challenge."""
    if made.challenge is None:
        return []
    own = [pair for pair in made.overall if made.challenge.challenger in (pair.baseline, pair.contender)]
    return [*(_lead(pair, made.challenge) for pair in own), Sentence("", sentence(made.challenge))]


def _lead(pair: OverallPair, challenge: CampaignChallenge) -> Sentence:
    who, ratio, low, high = challenge.challenger, pair.ratio, pair.low, pair.high
    other = pair.contender if pair.baseline == who else pair.baseline
    if pair.baseline == who:
        ratio, (low, high) = 1.0 / ratio, turned(low, high)
    interval = wording.interval(low, high)
    reach = "" if interval == wording.MISSING else f" (95 % interval {interval})"
    suites = wording.plural(len(pair.suites), "suite")
    end = f"{pair.winner} is better" if pair.winner else f"who is better is not certain: {doubts(pair)}"
    text = f"{who} challenges {challenge.report}: over {suites} {wording.ratio(ratio, low, high)} as good as {other}"
    kind = "better" if pair.winner == who else "" if pair.winner else "inconclusive"
    return Sentence(kind, f"{text}{reach}; {end}.")


@sentence.register
def sentence_over_all(made: CampaignChallenge) -> str:
    """Beside whom it was, in how many suites, and of whom and over what there is no verdict."""
    run, whole = len(made.measured), len(made.suites)
    reach = "all of its suites" if run == whole else f"{run} of its {wording.plural(whole, 'suite')}"
    company = (
        f"beside {wording.names(list(made.again))}" if made.again else "with nobody of it beside it in all of these"
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
