"""Whether groups differ: golden numbers of SciPy, and how often it sees a difference where there is none."""

import math

import numpy as np
import pytest
from scipy import stats

from bakeoff.stats import groups_differ


def test_it_is_the_analysis_of_variance_of_scipy() -> None:
    rng = np.random.default_rng(3)
    groups = [rng.normal(1.0 + 0.05 * i, 0.1, 5 + i) for i in range(4)]
    assert groups_differ(groups) == pytest.approx(stats.f_oneway(*groups).pvalue, rel=1e-9)


def test_equal_groups_differ_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(7)
    hits = sum(groups_differ(list(rng.normal(1.0, 0.1, (4, 10)))) < 0.05 for _ in range(4_000))
    assert 0.04 < hits / 4_000 < 0.06


@pytest.mark.parametrize(
    ("groups", "p"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], 1.0),
        ([[1.0, 1.0], [2.0, 2.0]], 0.0),
    ],
)
def test_without_any_spread_it_is_sure(groups: list[list[float]], p: float) -> None:
    assert groups_differ([np.array(group) for group in groups]) == p


@pytest.mark.parametrize("groups", [[], [[1.0, 2.0]], [[1.0], [2.0]], [[], [1.0, 2.0]]])
def test_what_cannot_be_told(groups: list[list[float]]) -> None:
    assert math.isnan(groups_differ([np.array(group) for group in groups]))
