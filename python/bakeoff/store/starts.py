"""What a trial, or an agent's share of it, tells of the starts that a rate planned, as JSON in a run file and back."""

from typing import Any

from bakeoff.store.fields import DamagedError, Fields
from bakeoff.store.trial_parts import FATES, START_COUNTS, FatesRecord, StartsRecord, Summary

# Before the names of fates among the counts.
FATE = "fate_"


def counts_of(starts: StartsRecord) -> dict[str, Any]:
    """The counts by name, and the queue, where it was counted; how late starts were stands elsewhere."""
    counts = {name: getattr(starts, name) for name in START_COUNTS}
    if starts.fates is not None:
        counts |= {f"{FATE}{name}": getattr(starts.fates, name) for name in FATES}
    return counts | ({"queue": list(starts.queue)} if starts.queue else {})


def from_counts(row: Fields, late: Summary) -> StartsRecord:
    """What `counts_of` told, in the column `starts`. Raises DamagedError."""
    counts, queue = row.counts_and_list("starts", "queue")
    told = {name: counts.pop(f"{FATE}{name}") for name in FATES if f"{FATE}{name}" in counts}
    if set(counts) != set(START_COUNTS) or (told and set(told) != set(FATES)):
        raise DamagedError("a trial at a rate does not tell its starts")
    return StartsRecord(**counts, late=late, queue=queue, fates=FatesRecord(**told) if told else None)
