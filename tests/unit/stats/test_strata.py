"""Weighted means over strata, against SciPy and against truths that are known."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from bakeoff.stats import Stratum, over_strata, ratio_by_signs, ratios_by_row, stratum_of

BELOW, ABOVE = [0.10, 0.14, 0.12, 0.09], [0.30, 0.22, 0.41, 0.28, 0.25]


def test_two_strata_are_what_welch_says() -> None:
    found = over_strata([stratum_of(BELOW, -1.0), stratum_of(ABOVE, 1.0)])
    welch = scipy_stats.ttest_ind(ABOVE, BELOW, equal_var=False)
    low, high = welch.confidence_interval(0.95)
    assert (found.mean, found.low, found.high) == pytest.approx((np.mean(ABOVE) - np.mean(BELOW), low, high))
    assert (found.p, found.freedom) == pytest.approx((welch.pvalue, welch.df))


def test_one_stratum_is_a_t_interval() -> None:
    found = over_strata([stratum_of([*ABOVE, math.nan], 1.0)])
    assert found.p == pytest.approx(scipy_stats.ttest_1samp(ABOVE, 0.0).pvalue) and found.freedom == pytest.approx(4)


def test_weighted_intervals_cover_the_truth() -> None:
    random, inside = np.random.default_rng(20), 0
    for _ in range(2_000):
        draws = [random.normal(mean, sd, blocks) for mean, sd, blocks in ((0.1, 0.05, 6), (-0.3, 0.01, 8))]
        found = over_strata([stratum_of(draws[0], 0.75), stratum_of(draws[1], 0.25)])
        inside += found.low <= 0.75 * 0.1 - 0.25 * 0.3 <= found.high
    assert 0.93 < inside / 2_000 < 0.97


def test_beyond_a_margin() -> None:
    exact = over_strata([Stratum(1.0, 0.02, 0.0, 5)])
    assert (exact.p, exact.p_beyond(0.05), exact.p_beyond(0.01)) == (0.0, 0.0, 1.0)
    near = over_strata([Stratum(1.0, 0.02, 0.01, 5)])
    assert near.p_beyond(0.05) == pytest.approx(scipy_stats.t.sf(3.0, 5))


def test_a_stratum_of_one_tells_no_error() -> None:
    found = over_strata([stratum_of([0.1], 0.5), stratum_of(ABOVE, 0.5)])
    assert found.mean == pytest.approx((0.1 + np.mean(ABOVE)) / 2)
    assert all(map(math.isnan, (found.low, found.high, found.p, found.p_beyond(0.05))))


def test_rows_with_losses_are_judged_by_signs() -> None:
    logs = [[2.3, 2.3, 0.1, 2.3, 0.2, 2.3], [0.1, 0.2, 0.1, 0.2, 0.1, 0.2]]
    plain, rows = ratios_by_row(logs), ratios_by_row(logs, by_signs=[True, False])
    by_signs = ratio_by_signs(logs[0])
    assert (rows.low[0], rows.high[0], rows.p[0]) == (by_signs.low, by_signs.high, by_signs.p_t)
    assert (rows.low[1], rows.p[1]) == (plain.low[1], plain.p[1]) and rows.low[0] != plain.low[0]
