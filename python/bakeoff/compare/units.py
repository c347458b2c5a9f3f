"""What a run offers and counts a second, in words."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.capacity_model import CapacityComparison
from bakeoff.errors import PlanError, RunFileError
from bakeoff.mix import Mix, Rate
from bakeoff.plan.kind import plan_part
from bakeoff.plan.stored import stored_plan
from bakeoff.plan.unit import OPERATIONS, Unit
from bakeoff.store.records import RunRecord


def unit_of(run: RunRecord) -> Unit:
    """By the plan; operations where that cannot be read any more."""
    if run.imported_from is not None:
        return OPERATIONS
    try:
        return plan_part(run.kind).unit(stored_plan(run).settings)
    except (PlanError, RunFileError):
        return OPERATIONS


def units_sentence(run: RunRecord, mixes: Sequence[Mix], capacity: CapacityComparison | None) -> str:
    """ "67 sessions/s are 201 requests/s: a session has 3 requests." of what was offered, or carried."""
    loads = [mix.per_s for mix in mixes if isinstance(mix, Rate)]
    if capacity is not None:
        loads = sorted(c.capacity for c in capacity.contenders if c.blocks) if capacity.by == "rate" else []
    return unit_of(run).sentence(loads) if loads else ""
