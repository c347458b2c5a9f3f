"""What a trial of an application server tells."""

from __future__ import annotations

from bakeoff.store.figures import Count, Figures, Number, Shape


class Server(Shape):
    """What the server used, by its own word, in `watched_s` seconds of the window."""

    cpu_share: Number | None = None
    watched_s: Number | None = None
    disk_read_bytes: Count | None = None
    disk_written_bytes: Count | None = None


class AppFigures(Figures):
    """`server` is there when the server told anything of itself."""

    server: Server | None = None


MODEL = AppFigures
