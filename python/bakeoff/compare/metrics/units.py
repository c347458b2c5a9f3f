"""What a run offers and counts a second."""

from __future__ import annotations

from bakeoff.core.errors import PlanError, RunFileError
from bakeoff.plan.design.unit import OPERATIONS, LoadUnit
from bakeoff.plan.input.stored import stored_plan
from bakeoff.plan.kind import plan_part
from bakeoff.store.records.run_records import RunRecord


def unit_of(run: RunRecord) -> LoadUnit:
    """By the plan; operations where that cannot be read any more."""
    if run.imported_from is not None:
        return OPERATIONS
    try:
        return plan_part(run.kind).unit(stored_plan(run).settings)
    except (PlanError, RunFileError):
        return OPERATIONS
