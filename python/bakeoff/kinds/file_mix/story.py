"""What the mix of office file operations does, in prose."""

from __future__ import annotations

from bakeoff.core.system.mounts import is_server
from bakeoff.core.units import format_size
from bakeoff.kinds.file_mix.plan import file_mix_settings
from bakeoff.report.layout.context import Context


def narrative(context: Context) -> tuple[str, ...]:
    """What a client does in its folder, and what is counted."""
    settings = file_mix_settings(context.run.planned.settings)
    counted = "An operation counts with the time of its call; throughput is what was read and written."
    if settings.loadfile:
        return (f"Each client replays a recorded loadfile in a folder of its own on the share. {counted}",)
    by_protocol = any(is_server(contender.address) for contender in context.run.planned.contenders)
    own = ("Each client has a session of its own with a server that is met without a mount: no cache is between.",)
    return (
        "Each client works like eight office applications in a folder of its own"
        f" of {format_size(settings.workspace)} on the share: it opens, looks up, reads, writes, renames and "
        "deletes files, and most of these operations move no data.",
        f"{counted} What is read is held against what was written.",
        *(own if by_protocol else ()),
    )
