"""Words for replayed logs."""

from __future__ import annotations

from bakeoff.kinds.web.words import CLIENT_OPTION_WORDS
from bakeoff.report.narrate.kind import WordsPart

PART = WordsPart(
    client_option_words=CLIENT_OPTION_WORDS,
)
