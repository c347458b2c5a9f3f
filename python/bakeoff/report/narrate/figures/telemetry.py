"""What contenders needed and what was at its limit, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bakeoff.compare.resources import telemetry_limits as limits
from bakeoff.compare.resources.telemetry_model import BusiestProcessor, LimitsSeen, NoProcessorTime, Resources
from bakeoff.core.thresholds import BUSY_SHARE, DISK_FULL, MEMORY_PRESSURE, PROCESSOR_FULL
from bakeoff.load.load_step import LoadStep
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence

WORDS = {
    limits.GENERATOR: "generator-bound",
    limits.LINK: "network-bound",
    limits.PROCESSOR: "processor-bound",
    limits.OTHERS: "processors full, mostly by others",
    limits.UNKNOWN: "processors of its machine full",
    limits.ONE: "bound by one processor",
    limits.DISK: "disk-bound",
    limits.MEMORY: "memory-bound",
    limits.NOTHING: "nothing seen at its limit",
}
NO_PROCESSOR_TIME = {
    "shared": "its machine sends the load, too, and the two processor times cannot be separated: watch its processes",
    "unwaited": "it starts processes that none of its own waits for, so samples miss their time: watch its control "
    "group (cgroup:…)",
    "unseen": "its processor time was never seen",
}
RULE = (
    "Generator-bound, or network-bound: most trials are marked so (a load thread, or the link to the contender, was "
    f"over {wording.percent(BUSY_SHARE)} busy), or a link of the watched machine carried more than that share of its "
    f"stated speed in one direction. Processor-bound: processors busy for {wording.percent(PROCESSOR_FULL)} of the "
    f"window or more, of what a hypervisor left of them, and {wording.percent(limits.ITS_OWN)} or more of that by the "
    "server's own processes; else other or unknown processes filled them. Bound by one processor: the server itself "
    f"used {limits.ONE_FROM:g} to {limits.ONE_TO:g} of one, of several, and no more at a higher load step; or the "
    f"busiest processor of its machine was busy for {wording.percent(PROCESSOR_FULL)} or more, by whatever, the others "
    f"for {wording.percent(limits.OTHERS_IDLE)} or less, and all together do less than {limits.MORE:g} times as much "
    "at any higher load step (not shown where the machine sends the load, too). Disk-bound: the busiest disk had "
    f"something in flight for {wording.percent(DISK_FULL)} or more; a disk that works in parallel may do more. "
    f"Memory-bound: something waited for memory for {wording.percent(MEMORY_PRESSURE)} or more (pressure). The first "
    "rule that holds is shown; of processor and disk the fuller one."
)


@sentence.register
def _(none: NoProcessorTime) -> str:
    return NO_PROCESSOR_TIME[none.why]


@sentence.register
def _(found: Resources) -> str:
    return RULE


@sentence.register
def _(found: LimitsSeen) -> str:
    own = f"; of all processor time it used {wording.percent(found.own_share)} itself at most"
    itself = "" if math.isnan(found.own_share) else own
    shared = f" (processors and disks that it shares with the load generator{itself})" if found.shared else ""
    return limit_sentence(found.contender, [(each.load_step, WORDS[each.bound]) for each in found.bounds], shared)


@sentence.register
def _(found: BusiestProcessor) -> str:
    where = f"at {found.load_step.words}{', the load step where it was busiest' if found.several else ''}"
    text = (
        f"The busiest processor where {found.contender} runs was {wording.percent(found.share)} busy {where}; "
        f"{'both' if found.processors == 2 else f'all {found.processors}'} together "
        f"{wording.percent(found.processor_share)}"
    )
    # The mean over all is no more than the highest of them: another share of time was told of it.
    if found.highest_share >= found.processor_share:
        none = f"none was over {wording.percent(found.highest_share)}"
        text += f" (in each second another one may be the busiest: {none})"
    return f"{text}{', with what the load generator needs' if found.shares_machine else ''}."


def way(bounds: Sequence[tuple[LoadStep, str]]) -> str:
    """Over rising load steps: "processor-bound up to 8 clients, disk-bound from 40 clients on"."""
    stretches: list[tuple[str, list[LoadStep]]] = []
    for load_step, what in bounds:
        if stretches and stretches[-1][0] == what:
            stretches[-1][1].append(load_step)
        else:
            stretches.append((what, [load_step]))
    if len(stretches) == 1:
        return (
            f"{stretches[0][0]} at every load step" if len(bounds) > 1 else f"{stretches[0][0]} at {bounds[0][0].words}"
        )
    last = len(stretches) - 1
    parts = enumerate(stretches)
    return ", ".join(f"{what} {_where(load_steps, place == 0, place == last)}" for place, (what, load_steps) in parts)


def limit_sentence(name: str, bounds: Sequence[tuple[LoadStep, str]], more: str = "") -> str:
    """The same as a sentence on a contender."""
    return f"What is at its limit: {name}: {way(bounds)}{more}."


def _where(load_steps: list[LoadStep], is_first: bool, is_last: bool) -> str:
    if is_last:
        return f"from {load_steps[0].words} on" if len(load_steps) > 1 else f"at {load_steps[0].words}"
    if len(load_steps) == 1:
        return f"at {load_steps[0].words}"
    return f"up to {load_steps[-1].words}" if is_first else f"from {load_steps[0].number} to {load_steps[-1].words}"
