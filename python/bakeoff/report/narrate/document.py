"""A comparison as JSON: its data, and beside each value that is told the words for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bakeoff.compare.collections.campaign_model import CampaignComparison
from bakeoff.compare.model.cell import CellPair
from bakeoff.compare.model.comparison import Advisory, Audit, Comparison
from bakeoff.compare.model.plain import as_dict, nulled
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.collections.headlines import headline
from bakeoff.report.narrate.figures import cells
from bakeoff.report.narrate.sentences import Sentence, is_reported, sentence
from bakeoff.report.narrate.validity.audits import ruled


def to_dict(found: Comparison | CampaignComparison) -> dict[str, Any]:
    """Plain dictionaries, lists, strings and numbers; NaN and infinity become None."""
    plain = found.to_dict(words_of)
    if isinstance(found, CampaignComparison):
        for one, suite in zip(plain["suites"], found.suites, strict=True):
            one["comparison"] = suite.comparison and to_dict(suite.comparison)
    return plain | _by_kind(headline(found))


def to_json(found: Comparison | CampaignComparison, indent: int | None = None) -> str:
    """The same as text."""
    return json.dumps(to_dict(found), indent=indent, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> dict[str, Any]:
    """The same of any dataclass."""
    found: dict[str, Any] = nulled(as_dict(value, words_of))
    return found


def _by_kind(sentences: Sequence[Sentence]) -> dict[str, list[str]]:
    return {"headline": [one.text for one in sentences], "headline_kinds": [one.kind for one in sentences]}


def words_of(value: Any) -> Mapping[str, Any]:
    """The words for a value; none where nobody has any."""
    if isinstance(value, Advisory):
        return dict(zip(("text", "advice"), advised(value.about), strict=True))
    if isinstance(value, Audit):
        return dict(zip(("what", "tolerance"), ruled(value.rule), strict=True))
    if isinstance(value, CellPair):
        return {"summary": list(cells.pair_summary(value)), "sentences": list(cells.sentences_of_tests(value))}
    return {"text": sentence(value)} if is_reported(type(value)) else {}
