"""What a trial, or an agent's share of it, tells of the starts that a rate planned, as JSON in a run file and back."""

from typing import Any

from bakeoff.store.fields import DamagedError, Fields
from bakeoff.store.trial_parts import START_COUNTS, StartsRecord, Summary


def counts_of(starts: StartsRecord) -> dict[str, Any]:
    """The counts by name, and the queue, where it was counted; how late starts were stands elsewhere."""
    counts = {name: getattr(starts, name) for name in START_COUNTS}
    return counts | ({"queue": list(starts.queue)} if starts.queue else {})


def from_counts(row: Fields, late: Summary) -> StartsRecord:
    """What `counts_of` told, in the column `starts`. Raises DamagedError."""
    counts, queue = row.counts_and_list("starts", "queue")
    if set(counts) != set(START_COUNTS):
        raise DamagedError("a trial at a rate does not tell its starts")
    return StartsRecord(**counts, late=late, queue=queue)
