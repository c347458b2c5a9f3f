"""The shape of a run in comparisons: its view of trials, and what decides. See `bakeoff.load.shapes`."""

from __future__ import annotations

from bakeoff.compare.shapes.loop import Shape
from bakeoff.core.composed import fitting
from bakeoff.load.shapes import SHAPES
from bakeoff.store.records.run_records import RunRecord

__all__ = ["Shape", "shape_of"]


def shape_of(run: RunRecord) -> Shape:
    """The shape of a run: one of `SHAPES`, several of them (a soak at rates), or, of a plain closed loop, none."""
    return fitting(__name__, SHAPES, Shape, run)
