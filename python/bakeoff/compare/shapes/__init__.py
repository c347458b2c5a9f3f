"""The shape of a run: how its load was laid out, which decides what a comparison of it has.

To add one: a module here, whose `PART` is a class that derives from `Shape`, and its name in `SHAPES`. What reports and
words have for it is a module of the same name in `report/shapes/` and `report/narrate/shapes/`.
"""

from __future__ import annotations

from bakeoff.compare.shapes.loop import Shape
from bakeoff.core.composed import composed, part
from bakeoff.store.records.run_records import RunRecord

__all__ = ["SHAPES", "Shape", "shape_of"]

# What decides how a run is compared stands first: a soak at rates is compared as a run at rates is.
SHAPES = ("search", "soak", "stated", "rates", "cells")


def shape_of(run: RunRecord) -> Shape:
    """The shape of a run: one of those above, several of them (a soak at rates), or, of a plain closed loop, `Shape`
    itself.
    """
    names = tuple(name for name in SHAPES if part(__name__, name, Shape).fits(run))
    return composed(__name__, names, Shape)()
