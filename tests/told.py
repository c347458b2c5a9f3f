"""What a comparison says in sentences, for tests that are about words."""

from collections.abc import Iterable
from typing import Any

from bakeoff.compare.collections.campaign_model import CampaignComparison
from bakeoff.compare.model.comparison import Comparison
from bakeoff.report.narrate.collections.campaign import headline as over_all
from bakeoff.report.narrate.sentences import Sentence, sentence
from bakeoff.report.narrate.verdict.headline import headline


def headline_of(found: Comparison | CampaignComparison) -> tuple[str, ...]:
    """The sentences of its headline."""
    return tuple(one.text for one in _headline(found))


def kinds_of(found: Comparison | CampaignComparison) -> tuple[str, ...]:
    """What sort of sentence each of them is."""
    return tuple(one.kind for one in _headline(found))


def _headline(found: Comparison | CampaignComparison) -> tuple[Sentence, ...]:
    return headline(found) if isinstance(found, Comparison) else over_all(found)


def texts_of(values: Iterable[Any]) -> tuple[str, ...]:
    """The words of each."""
    return tuple(map(sentence, values))
