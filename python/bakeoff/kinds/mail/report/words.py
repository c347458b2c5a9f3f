"""Mail in words and cells of tables."""

from __future__ import annotations

import math

from bakeoff.compare.model.comparison import Comparison
from bakeoff.kinds.mail.compare.summary import SIDES, MailSummary, Saturated
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.validity.faults import FAULTS, FaultWords

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
# What must not happen to mail that a server has accepted.
LOSSES = {
    "lost": "lost",
    "duplicate": "delivered more than once",
    "corrupt": "damaged",
    "unknown_corrupt": "damaged when the connection was lost before the reply",
    "misdelivered": "put into a mailbox it was not for",
    "ghost": "refused and delivered all the same",
    "resurrected": "back after its deletion was confirmed",
}
FAULTS["mail"] = FaultWords("did not keep its mail", "accepted", LOSSES)
WORDS = {
    **LOSSES,
    "unchecked": "could not be checked",
    "late": "delivered late",
    "stale": "of an earlier trial",
}
# Metrics of a mail run with the titles of their columns; times are in milliseconds, as they are.
COLUMNS = {
    "delivered": "delivered/s",
    "rate": "delivered/s",
    "accepted": "accepted/s",
    "read": "read/s",
    "backlog": "backlog",
    "mean": "response, ms",
    "response": "without empty polls, ms",
    "visible_after": "visible after, ms",
    "visible_by": "visible by, ms",
}
# Half of an interval is told alone where its middle is this near to the mean, as a share of that half.
EVEN = 0.1


def class_words(kind: str) -> str:
    """ "could not be checked"."""
    return WORDS.get(kind, kind.replace("_", " "))


def _shown(comparison: Comparison) -> list[str]:
    measured = {curve.metric for curve in comparison.curves}
    # Files of runs that did not count messages have steps for their rate.
    counted = {"delivered"} if "delivered" in measured else {"rate"} if "accepted" in measured else set[str]()
    return [key for key in COLUMNS if key in measured and (key not in ("rate", "delivered") or key in counted)]


def columns_of(comparison: Comparison) -> tuple[str, ...]:
    """Titles of the cells that `mail_cells` gives."""
    return tuple(COLUMNS[key] for key in _shown(comparison))


def mail_cells(comparison: Comparison, contender: str, load_step_index: int) -> list[str]:
    """Each figure of a contender at a load step, with half of its 95 % interval; with both ends of one that is
    lopsided, as those on logarithms are when they are wide, or that reaches below 0: what is counted cannot be less.
    """
    cells = []
    for key in _shown(comparison):
        point = comparison.curve(key, contender).points[load_step_index]
        offset = 1.0 if key in ("backlog", "visible_after") else 0.0  # the metric is one more
        half = (point.high - point.low) / 2
        spread = ""
        if point.blocks > 1 and math.isfinite(half):
            ends = (wording.figures(max(0.0, end - offset), 3) for end in (point.low, point.high))
            is_even = point.low >= offset and abs((point.high + point.low) / 2 - point.centre) <= EVEN * half
            spread = f" ± {wording.figures(half, 2)}" if is_even else f" ({' – '.join(ends)})"
        cells.append(wording.figures(point.centre - offset) + spread)
    return cells


def saturation_words(summary: MailSummary) -> list[str]:
    """A sentence for each contender and side that takes too long, with the load from which on."""
    words = {"together": "sending and reading together"}
    return [
        f"{one.contender} is saturated by response time in {words.get(one.side, one.side)} from {one.load_step.words} "
        f"on{_but(one)}: a step of {one.protocol} takes {wording.figures(one.mean_s, 3)} s on average "
        f"({summary.saturated_at_s:g} s or more), "
        "without empty polls, and with EHLO and QUIT only where these take longer."
        for one in summary.saturated
    ]


def _but(one: Saturated) -> str:
    return f", but for {wording.several(list(one.below_again))}" if one.below_again else ""


def unsaturated_words(summary: MailSummary, names: tuple[str, ...]) -> list[str]:
    """A sentence for each contender that is not saturated on any side, with how near it came."""
    texts = []
    for name in names:
        own = [one for one in summary.saturation if one.contender == name and math.isfinite(one.together_s)]
        unknown = [one.load_step for one in summary.saturation if one.contender == name and math.isnan(one.together_s)]
        if any(one.contender == name for one in summary.saturated) or not own:
            continue
        steps = [
            (value, side, one.load_step) for one in own for side in SIDES[:2] if (value := one.mean_s(side)) >= 0.0
        ]
        longest, side, load_step = max(steps, key=lambda step: step[0])
        unseen = f"; of {wording.several(unknown)} nothing is known" if unknown else ""
        texts.append(
            f"{name} is not saturated by response time at any load step: a step takes {wording.figures(longest, 3)} s "
            f"on average at most ({side} at {load_step.words}), and {summary.saturated_at_s:g} s would be "
            f"saturated{unseen}. From where on more clients bring no more messages is another question, which Result "
            "answers."
        )
    return texts
