"""The shape of a run for `bakeoff plan`: what it would do. See `bakeoff.load.shapes`."""

from bakeoff.cli.shapes.loop import PlanWords
from bakeoff.core.composed import composed
from bakeoff.plan.model import Plan


def plan_words(plan: Plan) -> PlanWords:
    """What is said of the shape of a plan."""
    return composed(__name__, plan.shape.names, PlanWords)
