"""What the mix of office file operations does, in prose."""

from __future__ import annotations

from bakeoff.compare import settings
from bakeoff.report.context import Context
from bakeoff.units import format_size


def story(context: Context) -> tuple[str, ...]:
    """What a client does in its folder, and what is counted."""
    plan = context.run.plan
    counted = "An operation counts with the time of its call; throughput is what was read and written."
    given = plan.get("settings")
    if isinstance(given, dict) and given.get("loadfile"):
        return (f"Each client replays a recorded loadfile in a folder of its own on the share. {counted}",)
    space = settings.number(plan, "workspace", 0.0)
    return (
        "Each client works like eight office applications in a folder of its own"
        f"{f' of {format_size(space)}' if space else ''} on the share: it opens, looks up, reads, writes, renames and "
        "deletes files, and most of these operations move no data.",
        f"{counted} What is read is held against what was written.",
    )
