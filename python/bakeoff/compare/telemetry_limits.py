"""What was at its limit at each mix: one rule and one wording, for every suite."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bakeoff.mix import Mix
from bakeoff.report.narrate import wording
from bakeoff.thresholds import BUSY_SHARE, DISK_FULL, MEMORY_PRESSURE, PROCESSOR_FULL

GENERATOR, LINK, PROCESSOR, ONE, DISK, MEMORY = "generator", "link", "processor", "one processor", "disk", "memory"
# Full processors that are not the contender's doing, or of which nobody knows whose doing they are.
OTHERS, UNKNOWN = "processors of others", "processors of its machine"
FULL = (PROCESSOR, OTHERS, UNKNOWN)
NOTHING = ""
WORDS = {
    GENERATOR: "generator-bound",
    LINK: "network-bound",
    PROCESSOR: "processor-bound",
    OTHERS: "processors full, mostly by others",
    UNKNOWN: "processors of its machine full",
    ONE: "bound by one processor",
    DISK: "disk-bound",
    MEMORY: "memory-bound",
    NOTHING: "nothing seen at its limit",
}
# Of full processors a server is bound that took so much of what was used itself.
ITS_OWN = 0.5
# A process that uses one of several processors whole, and no more at any higher mix, has one thread that does it all.
ONE_FROM, ONE_TO = 0.9, 1.05
# A full processor is a limit of its own while the others do no more than this, and no higher mix makes all of them
# together do more than so many times as much.
OTHERS_IDLE, MORE = 0.5, 1.1
RULE = (
    "Generator-bound, or network-bound: most trials are marked so (a load thread, or the link to the contender, was "
    f"over {wording.percent(BUSY_SHARE)} busy), or a link of the watched machine carried more than that of the speed "
    "that it states, in one direction. Processor-bound: processors busy for "
    f"{wording.percent(PROCESSOR_FULL)} of the window or more, of what a hypervisor left of them, and "
    f"{wording.percent(ITS_OWN)} or more of that by the server's own processes; else they were full by others, or by "
    "nobody knows whom. Bound by one "
    f"processor: the server itself used {ONE_FROM:g} to {ONE_TO:g} of one, of several, and no more at a higher mix; or "
    f"the busiest processor of its machine was busy for {wording.percent(PROCESSOR_FULL)} or more, by whatever, the "
    f"others for {wording.percent(OTHERS_IDLE)} or less, and all together do less than {MORE:g} times as much at any "
    "higher mix (not told where the machine sends the load, too). "
    f"Disk-bound: the busiest disk had something in flight for {wording.percent(DISK_FULL)} or more; how much more a "
    "disk that works in parallel could do, that does not say. Memory-bound: something waited for memory for "
    f"{wording.percent(MEMORY_PRESSURE)} or more (pressure). The first that holds is told, of processor and disk the "
    "fuller one."
)


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
    """What is at its limit. Shares are NaN where nobody knows them; not `one_thread`: at higher mixes it
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


def way(bounds: Sequence[tuple[Mix, str]]) -> str:
    """Over rising mixes: "processor-bound up to 8 clients, disk-bound from 40 clients on"."""
    stretches: list[tuple[str, list[Mix]]] = []
    for mix, what in bounds:
        if stretches and stretches[-1][0] == what:
            stretches[-1][1].append(mix)
        else:
            stretches.append((what, [mix]))
    if len(stretches) == 1:
        return f"{stretches[0][0]} at every mix" if len(bounds) > 1 else f"{stretches[0][0]} at {bounds[0][0].words}"
    last = len(stretches) - 1
    parts = enumerate(stretches)
    return ", ".join(f"{what} {_where(mixes, place == 0, place == last)}" for place, (what, mixes) in parts)


def said(name: str, bounds: Sequence[tuple[Mix, str]], more: str = "") -> str:
    """The same as a sentence on a contender."""
    return f"What is at its limit: {name}: {way(bounds)}{more}."


def _where(mixes: list[Mix], is_first: bool, is_last: bool) -> str:
    if is_last:
        return f"from {mixes[0].words} on" if len(mixes) > 1 else f"at {mixes[0].words}"
    if len(mixes) == 1:
        return f"at {mixes[0].words}"
    return f"up to {mixes[-1].words}" if is_first else f"from {mixes[0].number} to {mixes[-1].words}"
