"""Shapes of a run: a name in one list, and a module of that name in each layer where it differs from a closed loop."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bakeoff
from bakeoff.compare.shapes import Shape, shape_of
from bakeoff.core.composed import composed
from bakeoff.load.arrivals import Constant
from bakeoff.load.load_step import Rate
from bakeoff.load.shapes import SHAPES
from bakeoff.report.sections import SECTIONS
from bakeoff.report.shapes import shape_report
from bakeoff.run.shapes import run_shape
from tests.unit.compare.synthetic import run

PACKAGE = Path(bakeoff.__file__).parent
LAYERS = ("plan", "run", "compare", "report/narrate", "report", "cli")


@pytest.mark.parametrize("layer", LAYERS)
def test_a_module_has_the_name_of_a_shape_and_its_part(layer: str) -> None:
    folder = PACKAGE / layer / "shapes"
    names = {path.stem for path in folder.glob("*.py")} - {"__init__", "loop"}
    assert names and names <= set(SHAPES)
    assert all("\nPART = " in (folder / f"{name}.py").read_text() for name in names)


def test_the_comparison_knows_all_shapes() -> None:
    """It says which of them a run has: the words and the report go by these names."""
    assert {path.stem for path in (PACKAGE / "compare/shapes").glob("*.py")} - {"__init__", "loop"} == set(SHAPES)


def test_a_soak_at_rates_is_compared_as_rates_and_has_intervals() -> None:
    shape = composed("bakeoff.compare.shapes", ("soak", "rates"), Shape)
    names = [each.__name__ for each in type(shape).__mro__]
    assert names == ["Shape", "SoakRun", "Rates", "Shape", "object"]
    assert shape.names == ("soak", "rates") and not shape.goes_on
    assert type(composed("bakeoff.compare.shapes", (), Shape)) is Shape


def test_a_shape_fits_or_is_not_there() -> None:
    record = run()
    assert shape_of(record).names == ()
    at_rates = replace(record, load_steps=(Rate(100.0, Constant(), 10),))
    assert shape_of(at_rates).names == ("rates",)
    clock = record.planned.settings.model_copy(update={"interval_s": 60.0})
    soak = record.planned.model_copy(update={"settings": clock})
    assert soak.shape.names == ("soak",) and soak.shape.alone and run_shape(soak).names == ("soak",)


@pytest.mark.parametrize("name", SHAPES)
def test_what_a_shape_hides_is_a_section(name: str) -> None:
    context: Any = SimpleNamespace(of_cells=True, cells_alone=True, searched_by_rate=True)
    hidden = shape_report((name,)).hides(context)
    assert hidden <= {section.id for section in SECTIONS}
    assert bool(hidden) == (name != "soak")
