"""What the suite of block sizes and patterns does, in prose."""

from __future__ import annotations

from bakeoff.compare.model import settings
from bakeoff.core.units import format_duration, format_size
from bakeoff.kinds.file_blocks.plan import block_settings
from bakeoff.report.layout.context import Context
from bakeoff.report.narrate import wording


def narrative(context: Context) -> tuple[str, ...]:
    """What a cell is, and how long it is measured."""
    asked = block_settings(context.run.planned.settings)
    reads, random = asked.mixed_read, asked.mixed_random
    common = settings.common(context.run.plan)
    direct = " past the page cache (O_DIRECT)" if common.get("direct") is True else " through the page cache"
    if any(option.setting == "direct" for option in context.comparison.client_options):
        direct = ""  # the sentence on what contenders have otherwise says it
    depth = asked.outstanding[0] if len(asked.outstanding) == 1 else 1
    deep = f", each client with {depth} transfers outstanding" if depth > 1 else ""
    return (
        f"A file of {format_size(asked.region)} on each server is read and written{direct}, in blocks of one size and "
        f"one pattern after the other; each such cell is measured for {format_duration(asked.cell_time_s)}{deep}.",
        "Sequential blocks follow each other; random ones begin at any multiple of their size; mixed are "
        f"{wording.percent(reads / 100)} reads and {wording.percent(random / 100)} random.",
    )
