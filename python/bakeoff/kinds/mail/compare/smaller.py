"""Whether a server took the small messages and put the large ones off: its messages per second are of smaller mail."""

from __future__ import annotations

from collections.abc import Iterable

from bakeoff.kinds.mail.figures import MailFigures
from bakeoff.store.records.run_records import TrialRecord

# Mail that is smaller by more than this share of the mean size is other work.
SMALLER = 0.05


def shortfall(trials: Iterable[TrialRecord]) -> float:
    """By how much of the mean size of all messages offered those that were not put off are smaller on average.

    0 to 1; 0 when none was put off, or only small ones were; NaN never. Over all trials together: what a single short
    trial puts off is few messages.
    """
    offered = put_off = offered_bytes = put_off_bytes = 0.0
    for flow in (trial.figures(MailFigures).flowing for trial in trials):
        counts = (flow.offered.messages, flow.offered.bytes, flow.put_off.messages, flow.put_off.bytes)
        if all(count >= 0 for count in counts):
            offered, offered_bytes = offered + counts[0], offered_bytes + counts[1]
            put_off, put_off_bytes = put_off + counts[2], put_off_bytes + counts[3]
    taken, taken_bytes = offered - put_off, offered_bytes - put_off_bytes
    if taken <= 0 or offered_bytes <= 0:
        return 0.0  # nothing was taken, which has no size
    return max(0.0, 1.0 - (taken_bytes / taken) / (offered_bytes / offered))
