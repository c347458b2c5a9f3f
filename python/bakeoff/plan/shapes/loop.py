"""Loads that are planned beforehand. Other shapes say what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from bakeoff.load.capacity.objective import Objective, parse_objective

if TYPE_CHECKING:
    from bakeoff.load.load_step import LoadStep
    from bakeoff.plan.model import Plan


class PlanShape:
    """What a plan comes to as its load is laid out: derive from it, and override what differs.

    `names` are those of `SHAPES` that the plan has. The loads of one with `steps` are planned, so that other runs can
    have the same. Where `alone` is not empty no other run file can be told of with one of such a run: it says what that
    is.
    """

    names: ClassVar[tuple[str, ...]] = ()
    steps: ClassVar[bool] = True
    alone: ClassVar[str] = ""

    @classmethod
    def fits(cls, plan: Plan) -> bool:
        """Whether a plan has this shape; any can be a closed loop."""
        return True

    def goal(self, plan: Plan) -> Objective | None:
        """What trials are held to."""
        return parse_objective(plan.objective) if plan.objective else None

    def load_steps(self, plan: Plan) -> tuple[LoadStep, ...]:
        """The load steps that are planned beforehand."""
        return plan.settings.load_steps

    def trials(self, plan: Plan) -> int:
        """Number of trials of each contender, as usual."""
        return len(plan.settings.load_steps) * plan.blocks

    def most_trials(self, plan: Plan) -> int:
        """The same at most."""
        return self.trials(plan)
