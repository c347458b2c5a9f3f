"""What an answer would still take, in words: blocks and hours up to a day, and noise as noise beyond."""

from __future__ import annotations

import math

from bakeoff.compare.verdict.blocks_needed import DAY_S, FARTHEST, Needed
from bakeoff.core.thresholds import BLOCKS_MAX
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence

HOUR_S = 3600.0
NO_NUMBER = "no reasonable number of blocks would settle it"


@sentence.register
def needed_text(found: Needed) -> str:
    """The end of a sentence."""
    if found.fits is not None:
        return f"{_blocks(found.fits, found.block_s)}{_among(found)}"
    if math.isnan(found.log_sd):
        return NO_NUMBER
    margin = wording.percent(found.margin)
    accept = "" if found.accepted is None else f"accept {wording.percent(found.accepted)}"
    if found.near:
        text = f"the ratio is too near to {margin} for any reasonable number of blocks"
        return f"{text}: {accept}" if accept else text
    instead = f", or {accept}" if accept else ""
    return f"{_spread(found.log_sd)}; for {margin} that is {_far(found)}: quiet the machine{instead}"


def _blocks(more: int, block_s: float) -> str:
    """ "about 9 more blocks (45 minutes) needed"."""
    took = "" if math.isnan(block_s) else f" ({duration(more * block_s)})"
    return f"about {wording.plural(more, 'more block', 'more blocks')}{took} needed"


def _among(found: Needed) -> str:
    return f", by Holm over all {found.family:,} {found.of}" if found.family else ""


def _spread(log_sd: float) -> str:
    apart = math.exp(min(log_sd, FARTHEST))
    return f"blocks differ {f'{apart:,.0f}-fold' if apart >= 2.0 else f'by {wording.percent(apart - 1.0)}'} here"


def _far(found: Needed) -> str:
    """ "26 hours", where that is what is too much."""
    if found.more is None or not found.more * found.block_s > DAY_S:
        return f"more than the {BLOCKS_MAX:,} blocks that a run can have"
    return duration(found.more * found.block_s)


def duration(seconds: float) -> str:
    """ "40 s", "25 minutes", "26 hours", "12 days"."""
    for unit, length_s, below_s in (("s", 1.0, 120.0), ("minutes", 60.0, 2 * HOUR_S), ("hours", HOUR_S, 4 * DAY_S)):
        if seconds < below_s:
            return f"{math.ceil(seconds / length_s):,} {unit}"
    return f"{math.ceil(seconds / DAY_S):,} days"
