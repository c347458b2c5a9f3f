"""Words for the work of httperf."""

from __future__ import annotations

from bakeoff.report.narrate.kind import WordsPart

PART = WordsPart(
    client_option_words={
        "http_version": {"1.0": "over HTTP/1.0", "1.1": "over HTTP/1.1"},
    },
)
