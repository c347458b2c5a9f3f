"""HTTP errors counted as success, as a plan may ask for: statuses 4xx and 5xx.

A server that refuses every request is quick, and its errors are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bakeoff.store.records.run_records import TrialRecord

# Two contenders are asked for the same: one may have so many such replies more than the other, as a share of all.
MORE = 0.01
ERROR_STATUSES = ("4xx", "5xx")
# What no plan asks for: a reader is told of it in any case.
BROKEN = ("5xx",)


@dataclass(frozen=True)
class ErrorReplies:
    """Of so many `replies` that counted as answered, those of statuses 4xx and 5xx, by status."""

    replies: int
    statuses: dict[str, int]

    @property
    def share(self) -> float:
        """All of them, of all replies."""
        return sum(self.statuses.values()) / self.replies if self.replies else 0.0


def error_replies(trials: Iterable[TrialRecord], statuses: Sequence[str]) -> ErrorReplies:
    """Those of all trials together. Where such statuses are failures there are none."""
    replies, counts = 0, Counter[str]()
    for trial in trials:
        replies += trial.operations
        no = {status: trial.statuses.get(status, 0) for status in statuses}
        # Statuses are told of failed operations, too: what is more than those, was taken for an answer.
        if sum(no.values()) > trial.errors.get("wrong_status", 0):
            counts.update(no)
    return ErrorReplies(replies, {status: count for status, count in counts.items() if count})
