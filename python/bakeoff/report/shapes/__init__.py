"""The shape of a run in reports: cards, and which general sections say nothing right of it. A module of a shape has the
name that the shape has in `compare/shapes/`.
"""

from bakeoff.core.composed import composed
from bakeoff.report.shapes.loop import ShapeReport

__all__ = ["ShapeReport", "shape_report"]


def shape_report(names: tuple[str, ...]) -> ShapeReport:
    """What reports know of a shape, by its names."""
    return composed(__name__, names, ShapeReport)
