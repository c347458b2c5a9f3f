"""The shape of a run while it is carried out. See `bakeoff.load.shapes`."""

from bakeoff.core.composed import composed
from bakeoff.plan.model import Plan
from bakeoff.run.shapes.loop import RunShape

__all__ = ["RunShape", "run_shape"]


def run_shape(plan: Plan) -> RunShape:
    """How the trials of a plan are carried out."""
    return composed(__name__, plan.shape.names, RunShape)
