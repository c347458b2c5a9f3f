"""Each processor of the machine that a contender runs on, part of the section on resources."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bakeoff.compare.resources.telemetry_model import EachProcessor, ResourceUse
from bakeoff.core.thresholds import PROCESSOR_FULL
from bakeoff.report.blocks.tree import Block, Column, Table
from bakeoff.report.layout.context import Context
from bakeoff.report.narrate import wording

# So many have columns of their own.
MOST_COLUMNS = 16
FULL = wording.percent(PROCESSOR_FULL)
SUMMARY_COLUMNS = ("processors", "least %", "median %", "most %", f"over {FULL}")
NOTE = "Share of the window in which each processor worked, without time that a hypervisor took; mean over trials."


def processors_table(context: Context, name: str, uses: Sequence[ResourceUse]) -> list[Block]:
    """A column for each processor, or for many their middle and ends; nothing of a machine with one, or where they
    were not told apart.
    """
    known = [(use, one) for use in uses if (one := use.each_processor) is not None]
    most = max((len(one.shares) or one.processors for _, one in known), default=0)
    if most < 2:
        return []
    apart = most <= MOST_COLUMNS
    titles = tuple(f"CPU {number}" for number in range(most)) if apart else SUMMARY_COLUMNS
    cells = tuple((f"{use.load_step}", *(_apart(one, most) if apart else _of_many(one))) for use, one in known)
    columns = (Column(context.load_step_title), *(Column(title) for title in titles))
    title = f"Each processor where {name} runs" + (", %" if apart else "")
    return [Table(title, columns, cells, NOTE)]


def _apart(one: EachProcessor, most: int) -> list[str]:
    return [_percent(share) for share in (*one.shares, *[math.nan] * most)[:most]]


def _of_many(one: EachProcessor) -> list[str]:
    ends = (one.lowest_share, one.median_share, one.highest_share)
    return [f"{one.processors:,}", *map(_percent, ends), f"{one.full:,}"]


def _percent(share: float) -> str:
    return wording.figures(100.0 * share, 3) if math.isfinite(share) else wording.MISSING
