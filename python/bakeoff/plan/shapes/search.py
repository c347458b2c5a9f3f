"""A plan that searches: it makes its loads as it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.load.capacity.objective import Objective
from bakeoff.plan.shapes.loop import PlanShape

if TYPE_CHECKING:
    from bakeoff.load.load_step import LoadStep
    from bakeoff.plan.model import Plan
    from bakeoff.plan.rules.capacity import CapacityPlan


class SearchPlan(PlanShape):
    steps = False
    alone = "a search for capacities, each at loads of its own"

    @classmethod
    def fits(cls, plan: Plan) -> bool:
        return plan.capacity is not None

    def goal(self, plan: Plan) -> Objective:
        return _of(plan).goal

    def load_steps(self, plan: Plan) -> tuple[LoadStep, ...]:
        return ()

    def trials(self, plan: Plan) -> int:
        return _of(plan).usual_trials(plan.blocks)

    def most_trials(self, plan: Plan) -> int:
        return _of(plan).most_trials * plan.blocks


def _of(plan: Plan) -> CapacityPlan:
    assert plan.capacity is not None
    return plan.capacity


PART = SearchPlan
