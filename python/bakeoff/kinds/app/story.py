"""What the suite of application servers asks, in prose."""

from __future__ import annotations

from bakeoff.core.units import format_size
from bakeoff.kinds.app.plan import app_settings
from bakeoff.report.layout.context import Context


def narrative(context: Context) -> tuple[str, ...]:
    """What a transaction is, and what the score is made of."""
    settings = app_settings(context.run.planned.settings)
    up, down, record = settings.upload_bytes, settings.download_bytes, settings.record_bytes
    sizes = (
        f"upload sends {format_size(up)} to the server, download asks for {format_size(down)}, processor has it "
        f"compute {settings.rounds:,} rounds, read and write move records of "
        f"{format_size(record)} anywhere in the client's own data segment"
    )
    return (
        f"A transaction is one request and its reply, of five kinds: {sizes}. Each client has one outstanding.",
        "A fixed number of server threads takes requests from one queue. A transaction's time is the sum of queue, "
        "service and network; the reply carries the first two. Clients check written data when they read it, and "
        "read it again after the trial. Seeds of processor work are fresh, and clients work out a sample of results.",
        "What decides is the harmonic mean of the clients' rates times their number: a client that is starved weighs "
        "on it. The weighted mean of the suite as published stands beside it.",
    )
