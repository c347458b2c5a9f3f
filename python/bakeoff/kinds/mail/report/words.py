"""Mail in words and cells of tables."""

from __future__ import annotations

import math

from bakeoff.compare import wording
from bakeoff.compare.model import Comparison
from bakeoff.kinds.mail.compare.books import LOSSES
from bakeoff.kinds.mail.compare.summary import SATURATED_S, MailSummary

CLASSES = (
    "accepted",
    "delivered",
    "late",
    "lost",
    "unchecked",
    "duplicate",
    "corrupt",
    "misdelivered",
    "ghost",
    "resurrected",
    "bounced",
    "unknown",
    "unknown_seen",
    "unknown_corrupt",
    "temporary",
    "permanent",
    "not_sent",
    "stale",
    "foreign",
)
WORDS = {
    **LOSSES,
    "unchecked": "could not be checked",
    "late": "delivered late",
    "stale": "of an earlier trial",
}
# Metrics of a mail run with the titles of their columns; times are shown in seconds.
COLUMNS = {
    "rate": "delivered/s",
    "accepted": "accepted/s",
    "read": "read/s",
    "backlog": "backlog",
    "mean": "response, s",
    "response": "without empty polls, s",
    "visible_after": "visible after, s",
    "visible_by": "visible by, s",
}
SECONDS = ("mean", "response", "visible_after", "visible_by")


def class_words(kind: str) -> str:
    """ "could not be checked"."""
    return WORDS.get(kind, kind.replace("_", " "))


def _shown(comparison: Comparison) -> list[str]:
    measured = {curve.metric for curve in comparison.curves}
    # Files of runs that did not count messages have steps for their rate.
    return [key for key in COLUMNS if key in measured and (key != "rate" or "accepted" in measured)]


def columns_of(comparison: Comparison) -> tuple[str, ...]:
    """Titles of the cells that `mail_cells` gives."""
    return tuple(COLUMNS[key] for key in _shown(comparison))


def mail_cells(comparison: Comparison, contender: str, mix_index: int) -> list[str]:
    """Each figure of a contender at a mix, with half of its 95 % interval."""
    cells = []
    for key in _shown(comparison):
        point = comparison.curve(key, contender).points[mix_index]
        scale = 1e-3 if key in SECONDS else 1.0
        offset = 1.0 if key == "backlog" else 0.0  # the metric is one more
        half = (point.high - point.low) / 2 * scale
        spread = f" ± {wording.figures(half, 2)}" if point.blocks > 1 and math.isfinite(half) else ""
        cells.append(wording.figures(point.centre * scale - offset) + spread)
    return cells


def saturation_words(comparison: Comparison) -> list[str]:
    """A sentence for each contender and side that takes too long, with the load from which on."""
    if not isinstance(comparison.own, MailSummary):
        return []
    sentences: dict[tuple[str, str], str] = {}
    for at in comparison.own.saturation:
        for side in at.sides:
            seconds = at.sending_s if side == "sending" else at.reading_s
            sentences.setdefault(
                (at.contender, side),
                f"{at.contender} is saturated in {side} from {at.mix.words} on: a step takes "
                f"{wording.figures(seconds, 3)} s on average ({SATURATED_S:g} s or more), without EHLO, QUIT and empty "
                "polls.",
            )
    return list(sentences.values())
