"""The shape of a run: how its load was laid out, which decides what a comparison of it has."""

from bakeoff.compare.shapes.loop import Shape
from bakeoff.compare.shapes.search import Search
from bakeoff.store.records.run_records import RunRecord

__all__ = ["Shape", "shape_of"]


def shape_of(run: RunRecord) -> Shape:
    """The shape of a run: a search for capacities, or planned loads."""
    return Shape() if run.planned.capacity is None else Search()
