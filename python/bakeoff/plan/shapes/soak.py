"""A plan of soaks: one long trial of each contender."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.plan.shapes.loop import PlanShape

if TYPE_CHECKING:
    from bakeoff.plan.model import Plan


class SoakPlan(PlanShape):
    alone = "a soak, whose rows are no blocks"

    @classmethod
    def fits(cls, plan: Plan) -> bool:
        return plan.settings.clock.interval_s is not None


PART = SoakPlan
