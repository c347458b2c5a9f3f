"""The shape of a run: how its load was laid out, which decides what a comparison of it has.

To add one: a module here, whose `PART` is a class that derives from `Shape`, and its name in `SHAPES`. What reports and
words have for it is a module of the same name in `report/shapes/` and `report/narrate/shapes/`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from bakeoff.compare.shapes.loop import Shape
from bakeoff.store.records.run_records import RunRecord

__all__ = ["SHAPES", "Shape", "shape_of"]

# What decides how a run is compared stands first: a soak at rates is compared as a run at rates is.
SHAPES = ("search", "soak", "stated", "rates", "cells")


def shape_of(run: RunRecord) -> Shape:
    """The shape of a run: one of those above, several of them (a soak at rates), or, of clients without a plan of their
    own, `Shape` itself.
    """
    return _of(tuple(name for name in SHAPES if _part(name).fits(run)))()


@cache
def _of(names: tuple[str, ...]) -> type[Shape]:
    """The class that has all of these: each adds to what the next one says."""
    parts = tuple(map(_part, names))
    return type("Shape", (*parts, Shape), {"names": names}) if parts else Shape


@cache
def _part(name: str) -> type[Shape]:
    part: type[Shape] = import_module(f"{__name__}.{name}").PART
    return part
