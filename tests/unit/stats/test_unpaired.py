"""Ratios of what was not measured in the same blocks."""

import math

import numpy as np
import pytest
from scipy import stats as reference

from bakeoff.stats import unpaired_from_logs, unpaired_ratio


def test_it_is_welchs_interval_on_logarithms() -> None:
    below, above = [100.0, 104.0, 97.0, 101.0], [151.0, 139.0, 149.0, 160.0, 155.0]
    made = unpaired_ratio(below, above)
    known = reference.ttest_ind(np.log(above), np.log(below), equal_var=False).confidence_interval(0.95)
    assert made.blocks == (4, 5)
    assert [made.low, made.high] == pytest.approx([math.exp(known.low), math.exp(known.high)])
    assert made.ratio == pytest.approx(math.exp(np.log(above).mean() - np.log(below).mean()))


def test_what_has_no_spread_of_its_own_has_no_interval() -> None:
    assert math.isnan(unpaired_ratio([100.0], [200.0, 201.0]).low)
    assert unpaired_ratio([100.0], [200.0]).ratio == pytest.approx(2.0)
    assert math.isnan(unpaired_ratio([math.nan, 0.0], [200.0]).ratio)
    assert unpaired_ratio([100.0, 100.0], [200.0, 200.0]).high == pytest.approx(2.0)


def test_it_holds_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    held = 0
    for _ in range(2000):
        below, above = np.exp(random.normal(0.0, 0.05, 5)), np.exp(random.normal(0.1, 0.02, 8))
        made = unpaired_ratio(below, above)
        held += made.low <= math.exp(0.1) <= made.high
    assert 0.93 < held / 2000 < 0.97


def test_an_interval_beyond_all_numbers_is_infinite() -> None:
    """Two wild blocks by a few quiet ones, held to many pairs at once."""
    made = unpaired_from_logs([0.0, 20.0], [0.0, 1e-6], level=1.0 - 0.05 / 4950)
    assert (made.low, made.high) == (0.0, math.inf) and made.ratio == pytest.approx(math.exp(-10.0))
