"""What the suite of block sizes and patterns does, in prose."""

from __future__ import annotations

from bakeoff.compare import settings, wording
from bakeoff.report.context import Context
from bakeoff.units import format_duration, format_size


def story(context: Context) -> tuple[str, ...]:
    """What a cell is, and how long it is measured."""
    plan = context.run.plan
    region, time_s = settings.number(plan, "region", 0.0), settings.number(plan, "cell_time_s", 0.0)
    reads, random = settings.number(plan, "mixed_read", 50.0), settings.number(plan, "mixed_random", 50.0)
    alike = settings.common(plan)
    direct = " past the page cache (O_DIRECT)" if settings.flag(alike, "direct") else " through the page cache"
    if any(manner.setting == "direct" for manner in context.comparison.manners):
        direct = ""  # the sentence on what contenders have otherwise says it
    depth = settings.number(plan, "outstanding", 1.0)
    deep = f", each client with {depth:.0f} transfers outstanding" if depth > 1.0 else ""
    return (
        f"A file of {format_size(region)} on each server is read and written{direct}, in blocks of one size and one "
        f"pattern after the other; each such cell is measured for {format_duration(time_s)}{deep}.",
        "Sequential blocks follow each other; random ones begin at any multiple of their size; mixed are "
        f"{wording.percent(reads / 100)} reads and {wording.percent(random / 100)} random.",
    )
