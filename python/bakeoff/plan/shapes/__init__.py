"""The shape of a run in its plan: how many trials there are, and at which loads. See `bakeoff.load.shapes`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.core.composed import fitting
from bakeoff.load.shapes import SHAPES
from bakeoff.plan.shapes.loop import PlanShape

if TYPE_CHECKING:
    from bakeoff.plan.model import Plan

__all__ = ["PlanShape", "plan_shape"]


def plan_shape(plan: Plan) -> PlanShape:
    """The shape that a plan has by what it says itself."""
    return fitting(__name__, SHAPES, PlanShape, plan)
