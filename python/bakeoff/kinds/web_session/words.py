"""Words for sessions."""

from __future__ import annotations

from bakeoff.kinds.web.words import CLIENT_OPTION_WORDS
from bakeoff.report.narrate.kind import WordsPart

PART = WordsPart(
    client_option_words=CLIENT_OPTION_WORDS,
    error_words={"wrong_content": "value or text not found"},
)
