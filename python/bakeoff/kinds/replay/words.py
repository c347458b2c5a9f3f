"""Words for replayed logs."""

from __future__ import annotations

from bakeoff.kinds.web.words import MANNER_WORDS
from bakeoff.report.narrate.kind import WordsPart

PART = WordsPart(
    manner_words=MANNER_WORDS,
)
