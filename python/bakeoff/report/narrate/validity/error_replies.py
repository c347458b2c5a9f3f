"""Replies that say no, in words."""

from __future__ import annotations

from bakeoff.compare.failures.error_replies import TurnedAway
from bakeoff.report.narrate import wording


def turned_away_words(away: TurnedAway) -> str:
    """`all with 5xx`, `12 % with 4xx or 5xx`."""
    share = "all" if away.share >= 1.0 else wording.percent(away.share)
    return f"{share} with {' or '.join(sorted(away.statuses))}"
