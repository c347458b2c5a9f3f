"""Which of several machines was slow or away."""

from __future__ import annotations

import math
from statistics import median

from bakeoff.compare.advice.advice_model import AgentSlow, AgentsWeak, FleetChanged
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.resources.fleet_model import Machines

# A machine that does less than this share of what the others do without a server is named.
SLOW_SHARE = 0.75


def fleet_advice(machines: Machines | None, are_floors: bool) -> list[Fact]:
    """What a reader must know of machines that were slower than the others, or away; nothing of a single one. Where
    their capacities `are_floors`, no more than lower bounds, a low one says nothing of a machine.
    """
    if machines is None:
        return []
    return [*map(FleetChanged, machines.changes), *_uneven(machines), *([] if are_floors else _weak(machines))]


def _uneven(machines: Machines) -> list[Fact]:
    """Clients of one machine got less than those of another: with every contender it is the machine, else a server."""
    unfair = [one for one in machines.ranges if one.unfair]
    if not unfair:
        return []
    worst = min(unfair, key=lambda one: one.ratio)
    contenders = {one.contender for one in machines.ranges if one.agents > 1}
    of_it = sorted({one.contender for one in unfair if one.slowest == worst.slowest})
    return [AgentSlow(worst, tuple(of_it), len(contenders))]


def _weak(machines: Machines) -> list[Fact]:
    capacities = {m.name: m.null_operations_per_s for m in machines.agents if math.isfinite(m.null_operations_per_s)}
    if len(capacities) < 2:
        return []
    usual = median(capacities.values())
    weak = sorted(name for name, capacity in capacities.items() if capacity < SLOW_SHARE * usual)
    return [AgentsWeak(tuple(weak), min(capacities[name] for name in weak) / usual)] if weak else []
