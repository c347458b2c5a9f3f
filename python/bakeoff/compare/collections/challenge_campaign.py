"""How a campaign stands to the report on another that it challenges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bakeoff.compare.collections.campaign_model import CampaignComparison, SuiteResult
from bakeoff.compare.collections.challenge_model import CampaignChallenge, SuiteChallenge
from bakeoff.store.collections.challenged import ChallengedCampaign, ChallengedSuite


def with_challenge(made: CampaignComparison, read: ChallengedCampaign) -> CampaignComparison:
    """The comparison with what it challenges."""
    return replace(made, challenge=challenge_over_all(made.suites, read))


def challenge_over_all(suites: Sequence[SuiteResult], read: ChallengedCampaign) -> CampaignChallenge:
    """See CampaignChallenge; `suites` are all of the report's."""
    results = {suite.name: suite for suite in suites}
    return CampaignChallenge(
        report=read.report,
        sha256=read.sha256,
        title=read.title,
        reported=read.headline,
        challenger=read.challenger,
        suites=tuple(_suite(one, results[one.name]) for one in read.suites),
    )


def _suite(one: ChallengedSuite, result: SuiteResult) -> SuiteChallenge:
    own = None if result.comparison is None else result.comparison.challenge
    return SuiteChallenge(
        suite=one.name,
        left_out=one.left_out,
        missing=result.missing if result.comparison is None and not one.left_out else "",
        again=() if own is None else own.again,
        absent=dict(one.absent if own is None else own.absent),
        reported=() if one.missing else _headline_of(one),
        had_no_figures=one.missing,
        has_figures=result.comparison is not None,
    )


def _headline_of(one: ChallengedSuite) -> tuple[str, ...]:
    comparison = one.data.get("comparison")
    lines = comparison.get("headline") if isinstance(comparison, dict) else None
    return tuple(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ()
