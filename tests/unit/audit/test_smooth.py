"""A number's distance from the curve of its neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from bakeoff.audit.smooth import Curve, curve_along


def curve(values: np.ndarray) -> Curve:
    found = curve_along(np.arange(1.0, len(values) + 1), values)
    assert found is not None
    return found


def test_a_curve_of_third_degree_has_no_residues_and_a_number_beside_it_has_its_distance() -> None:
    along = np.log(np.arange(1.0, 13))
    values = np.exp(2 + along - 0.3 * along**2 + 0.01 * along**3)
    assert np.abs(curve(values).residues[0]).max() < 1e-9
    values[6] *= 1.5
    assert curve(values).residues[0][6] == pytest.approx(np.log(1.5))


@pytest.mark.parametrize("place", [0, 1, 5, 18, 19])
def test_residues_without_a_number_are_those_of_a_curve_that_was_mended(place: int) -> None:
    values = np.random.default_rng(3).uniform(1, 2, 20)
    values[place] *= 3
    rough = curve(values)
    mended = values.copy()
    mended[place] /= np.exp(rough.residues[0][place])
    assert rough.residues_without(place) == pytest.approx(curve(mended).residues[0])
    assert abs(rough.residues_without(place)[place]) < 1e-9 < abs(rough.residues[0][place])
