"""What is found of a collection of 1 … n runs, in sentences."""

from __future__ import annotations

from bakeoff.compare.collections.campaign_model import CampaignComparison
from bakeoff.compare.model.comparison import Comparison
from bakeoff.report.narrate.collections import campaign
from bakeoff.report.narrate.sentences import Sentence
from bakeoff.report.narrate.verdict import headline as run


def headline(found: Comparison | CampaignComparison) -> tuple[Sentence, ...]:
    """All of it."""
    return run.headline(found) if isinstance(found, Comparison) else campaign.headline(found)


def result(found: Comparison | CampaignComparison) -> tuple[str, ...]:
    """The sentences to read when only a few are read."""
    return run.result(found) if isinstance(found, Comparison) else campaign.result(found)
