"""The words of the shape of a run: what its headline says beside the verdicts. A module of a shape has the name that
the shape has in `compare/shapes/`.
"""

from bakeoff.compare.model.comparison import Comparison
from bakeoff.core.composed import composed
from bakeoff.report.narrate.shapes.loop import ShapeWords


def shape_words(found: Comparison) -> ShapeWords:
    """The words of the shape that was compared."""
    return composed(__name__, found.shape, ShapeWords)
