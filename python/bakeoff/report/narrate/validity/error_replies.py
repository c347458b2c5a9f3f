"""HTTP errors counted as success, in words."""

from __future__ import annotations

from bakeoff.compare.failures.error_replies import ErrorReplies
from bakeoff.report.narrate import wording


def error_replies_text(away: ErrorReplies) -> str:
    """`all with 5xx`, `12 % with 4xx or 5xx`."""
    share = "all" if away.share >= 1.0 else wording.percent(away.share)
    return f"{share} with {' or '.join(sorted(away.statuses))}"
