"""What was at its limit at each load step: one rule for every suite."""

from __future__ import annotations

import math

from bakeoff.core.thresholds import DISK_FULL, MEMORY_PRESSURE, PROCESSOR_FULL

GENERATOR, LINK, PROCESSOR, ONE, DISK, MEMORY = "generator", "link", "processor", "one processor", "disk", "memory"
# Full processors that are not the contender's doing, or of which nobody knows whose doing they are.
OTHERS, UNKNOWN = "others", "unknown"
FULL = (PROCESSOR, OTHERS, UNKNOWN)
NOTHING = ""
# Of full processors a server is bound that took so much of what was used itself.
ITS_OWN = 0.5
# A process that uses one of several processors whole, and no more at any higher load step, has one thread that does it
# all.
ONE_FROM, ONE_TO = 0.9, 1.05
# A full processor is a limit of its own while the others do no more than this, and no higher load step makes all of
# them together do more than so many times as much.
OTHERS_IDLE, MORE = 0.5, 1.1


def bound(
    processor_share: float,
    disk_share: float,
    own_processors: float = math.nan,
    processors: int = 0,
    memory_pressure: float = math.nan,
    generator: bool = False,
    link: bool = False,
    one_thread: bool = True,
    busiest_share: float = math.nan,
) -> str:
    """What is at its limit. Shares are NaN where nobody knows them; not `one_thread`: at higher load steps it
    used more than one processor. `busiest_share` is that of one processor, where no other machine's work can be in it.
    """
    if generator:
        return GENERATOR
    if link:
        return LINK
    processor_full, disk_full = processor_share >= PROCESSOR_FULL, disk_share >= DISK_FULL
    if disk_full and not (processor_full and processor_share >= disk_share):
        return DISK
    if processor_full:
        return _whose(own_processors / processors if processors else math.nan, processor_share)
    if processors > 1 and (
        (one_thread and ONE_FROM <= own_processors <= ONE_TO)
        or _one_is_full(busiest_share, processor_share, processors)
    ):
        return ONE
    return MEMORY if memory_pressure >= MEMORY_PRESSURE else NOTHING


def _whose(own_share: float, processor_share: float) -> str:
    """Whose full processors they are: a server is not bound by what others took."""
    if not math.isfinite(own_share):
        return UNKNOWN
    return PROCESSOR if own_share >= ITS_OWN * processor_share else OTHERS


def _one_is_full(busiest_share: float, processor_share: float, processors: int) -> bool:
    """Whether one processor has nothing left while the others have."""
    others = (processor_share * processors - busiest_share) / (processors - 1)
    return busiest_share >= PROCESSOR_FULL and others <= OTHERS_IDLE
