"""How a campaign stands to the report on another that it challenges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bakeoff.compare.campaign_model import CampaignComparison, OverallPair, SuiteResult
from bakeoff.compare.challenge_model import CampaignChallenge, SuiteChallenge
from bakeoff.compare.intervals import turned
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.doubts import doubts
from bakeoff.store.challenged import ChallengedCampaign, ChallengedSuite


def with_challenge(made: CampaignComparison, read: ChallengedCampaign) -> CampaignComparison:
    """The comparison with what it challenges, of which a reader of the headline must know."""
    challenge = challenge_over_all(made.suites, read)
    at = sum(len(suite.dead) for suite in made.suites)  # that somebody could not be measured stands above it
    told = [*_leads(made, challenge), (sentence_over_all(challenge), "")]
    return replace(
        made,
        challenge=challenge,
        headline=(*made.headline[:at], *(text for text, _ in told), *made.headline[at:]),
        headline_kinds=(*made.headline_kinds[:at], *(kind for _, kind in told), *made.headline_kinds[at:]),
    )


def _leads(made: CampaignComparison, challenge: CampaignChallenge) -> list[tuple[str, str]]:
    """How the challenger stands to each of those that were measured beside it: a sentence and its kind."""
    own = [pair for pair in made.overall if challenge.challenger in (pair.baseline, pair.contender)]
    return [_lead(pair, challenge) for pair in own]


def _lead(pair: OverallPair, challenge: CampaignChallenge) -> tuple[str, str]:
    who, ratio, low, high = challenge.challenger, pair.ratio, pair.low, pair.high
    other = pair.contender if pair.baseline == who else pair.baseline
    if pair.baseline == who:
        ratio, (low, high) = 1.0 / ratio, turned(low, high)
    interval = wording.interval(low, high)
    reach = "" if interval == wording.MISSING else f" (95 % interval {interval})"
    suites = wording.plural(len(pair.suites), "suite")
    end = f"{pair.winner} is better" if pair.winner else f"who is better is not certain: {doubts(pair)}"
    text = f"{who} challenges {challenge.report}: over {suites} {wording.ratio(ratio, low, high)} as good as {other}"
    return f"{text}{reach}; {end}.", ("better" if pair.winner == who else "" if pair.winner else "inconclusive")


def challenge_over_all(suites: Sequence[SuiteResult], read: ChallengedCampaign) -> CampaignChallenge:
    """See CampaignChallenge; `suites` are all of the report's."""
    results = {suite.name: suite for suite in suites}
    return CampaignChallenge(
        report=read.report,
        sha256=read.sha256,
        title=read.title,
        said=read.said,
        challenger=read.challenger,
        suites=tuple(_suite(one, results[one.name], read.challenger) for one in read.suites),
    )


def _suite(one: ChallengedSuite, result: SuiteResult, challenger: str) -> SuiteChallenge:
    own = None if result.comparison is None else result.comparison.challenge
    missing = result.missing if result.comparison is None and not one.left_out else ""
    if own is not None and challenger in own.absent:
        missing = f"{challenger} is missing from it, {own.absent[challenger]}"
    return SuiteChallenge(
        suite=one.name,
        left_out=one.left_out,
        missing=missing,
        again=() if own is None else own.again,
        absent=dict(one.absent if own is None else own.absent),
        said=(f"It had no figures: {one.missing}.",) if one.missing else _said(one),
    )


def _said(one: ChallengedSuite) -> tuple[str, ...]:
    comparison = one.data.get("comparison")
    lines = comparison.get("headline") if isinstance(comparison, dict) else None
    return tuple(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ()


def sentence_over_all(made: CampaignChallenge) -> str:
    """Beside whom it was, in how many suites, and of whom and over what there is no verdict."""
    run, whole = len(made.measured), len(made.suites)
    reach = "all of its suites" if run == whole else f"{run} of its {wording.plural(whole, 'suite')}"
    beside = (
        f"beside {wording.names(list(made.again))}" if made.again else "with nobody of it beside it in all of these"
    )
    parts = [f"{made.challenger} challenges {made.report} in {reach}, {beside}"]
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
