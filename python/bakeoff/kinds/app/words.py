"""Words for application servers."""

from __future__ import annotations

from bakeoff.report.narrate.kind import WordsPart

PART = WordsPart(
    step_words={
        "network": "the network and the ends of the connection",
        "queue": "the wait in the queue of the server",
        "service": "the work of the server itself",
    },
)
