"""What httperf's options ask, in prose."""

from __future__ import annotations

from bakeoff.core.units import format_duration
from bakeoff.kinds.httperf.plan import httperf_settings
from bakeoff.load.load_step import Clients
from bakeoff.report.layout.context import Context

BY_THE_CLOCK = "begin by the clock of httperf's options, whether or not the server keeps up"
IN_TURN = "begin one after the other, each when the one before is over: a server that is slow is asked less"


def narrative(context: Context) -> tuple[str, ...]:
    """When connections begin, what a reply is, and what is given up."""
    settings = httperf_settings(context.run.planned.settings)
    in_turn = all(isinstance(load_step, Clients) for load_step in context.comparison.run.load_steps)
    timeout_s = settings.timeout_s
    given_up = (
        f"; what makes no progress for {format_duration(timeout_s)} is given up and counted as an error"
        if timeout_s
        else ""
    )
    failing = settings.failure_status
    fails = f", but that {failing} fails its session" if failing else ""
    return (
        f"Connections, or sessions of several bursts, {IN_TURN if in_turn else BY_THE_CLOCK}. A reply is one that came "
        f"whole, whatever its status{fails}{given_up}.",
    )
