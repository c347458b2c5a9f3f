"""The processors of a contender's machine apart: a server with one thread fills one of them, whatever the mean says."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bakeoff.compare.resources.telemetry_model import BusiestProcessor, EachProcessor, ResourceUse
from bakeoff.core.thresholds import PROCESSOR_FULL
from bakeoff.telemetry.model import Telemetry

# More than these are told by their middle and their ends.
MOST_REPORTED = 64
# A thread that goes from one processor to another leaves each of them this much idler than the busiest.
MOVED = 0.1


def each_processor(seen: Sequence[Telemetry]) -> EachProcessor | None:
    """Means over trials of each processor; None where nobody told them apart."""
    known = [one.processor_shares for one in seen if one.processor_shares]
    if not known:
        return None
    count = max(map(len, known))
    by_number = [[v for shares in known if (v := (*shares, *[None] * count)[n]) is not None] for n in range(count)]
    means = [_mean(values) for values in by_number]
    ordered = sorted(mean for mean in means if math.isfinite(mean))
    if not ordered:
        return None
    return EachProcessor(
        processors=len(ordered),
        busiest_share=_mean([one.busiest_share for one in seen if one.busiest_share is not None]),
        highest_share=ordered[-1],
        median_share=(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2,
        lowest_share=ordered[0],
        full=sum(mean >= PROCESSOR_FULL for mean in ordered),
        shares=tuple(means) if len(means) <= MOST_REPORTED else (),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def busiest_processor(name: str, uses: Sequence[ResourceUse], shares_machine: bool) -> BusiestProcessor | None:
    """How busy a processor was at most, and all of them then; None where they were not told apart."""
    known = [(one.busiest_share, use, one) for use in uses if (one := use.each_processor) is not None]
    known = [(share, use, one) for share, use, one in known if math.isfinite(share) and one.processors > 1]
    if not known:
        return None
    # Of load steps that read alike, the one where the others were busiest, too.
    share, use, one = max(known, key=lambda each: (round(each[0], 2), each[1].processor_share))
    highest = one.highest_share if one.highest_share < share - MOVED else math.nan
    where = use.load_step, len(uses) > 1
    return BusiestProcessor(name, *where, share, one.processors, use.processor_share, highest, shares_machine)
