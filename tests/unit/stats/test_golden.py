"""Numbers of the statistics module against scipy 1.17.1 and statsmodels 0.15.0.

The expected values were printed once by `ttest_rel(...).confidence_interval`, `permutation_test`
(samples, all permutations), `ttost_paired(transform=np.log)`, `multipletests` (holm, fdr_bh),
`t.interval` and `gmean` on the arrays below.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from bakeoff import stats

FAST = np.array([1180.0, 1215.0, 1172.0, 1201.0, 1190.0, 1226.0, 1169.0, 1211.0])
SLOW = np.array([1010.0, 1032.0, 990.0, 1041.0, 1003.0, 1019.0, 1022.0, 1008.0])
SMALL = np.array([0.02, -0.01, 0.03, 0.015, -0.005, 0.04, 0.01])
P_VALUES = [0.01, 0.04, 0.03, 0.005, 0.2, 0.0004]


def test_paired_ratio_matches_scipy() -> None:
    found = stats.paired_log_ratio(FAST, SLOW)
    assert found.blocks == 8
    assert found.ratio == pytest.approx(1.1770812214891326, rel=1e-12)
    assert found.low == pytest.approx(1.1594846737184135, rel=1e-12)
    assert found.high == pytest.approx(1.194944817630965, rel=1e-12)
    assert found.p_t == pytest.approx(3.5503664807547484e-08, rel=1e-9)
    assert found.p_flip == 0.0078125


def test_swapping_the_contenders_mirrors_the_interval() -> None:
    one, other = stats.paired_log_ratio(FAST, SLOW), stats.paired_log_ratio(SLOW, FAST)
    assert one.low == pytest.approx(1.0 / other.high, rel=1e-12)
    assert one.p_t == pytest.approx(other.p_t, rel=1e-12)


def test_sign_flip_matches_scipy() -> None:
    assert stats.sign_flip_p(SMALL) == 0.109375
    assert stats.ratio_from_logs(SMALL).p_t == pytest.approx(0.07914275945114385, rel=1e-9)


def test_equivalence_matches_statsmodels() -> None:
    found = stats.ratio_from_logs(SMALL)
    p = stats.equivalence_p(found.log_mean, found.log_sd, found.blocks, 0.05)
    assert p == pytest.approx(0.0011091964057746003, rel=1e-9)


def test_corrections_match_statsmodels() -> None:
    assert stats.holm(P_VALUES) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.2, 0.0024])
    assert stats.benjamini_hochberg(P_VALUES) == pytest.approx([0.02, 0.048, 0.045, 0.015, 0.2, 0.0024])


def test_corrections_leave_unknown_cells_out() -> None:
    padded = [*P_VALUES, math.nan]
    assert stats.holm(padded)[:-1] == pytest.approx(stats.holm(P_VALUES))
    assert math.isnan(stats.benjamini_hochberg(padded)[-1])


def test_intervals_of_means_match_scipy() -> None:
    mean = stats.mean_interval(FAST)
    assert (mean.centre, mean.low, mean.high) == pytest.approx((1195.5, 1177.8896149622833, 1213.1103850377167))
    geometric = stats.geometric_interval(FAST)
    assert (geometric.centre, geometric.low, geometric.high) == pytest.approx(
        (1195.3377185864347, 1177.86574156, 1213.06886775)
    )


@pytest.mark.parametrize(
    ("spread", "correlation", "effect", "blocks"),
    [
        (0.01, 0.0, 0.01, 18),
        (0.03, 0.0, 0.01, 145),
        (0.03, 0.5, 0.02, 20),
        (0.05, 0.0, 0.05, 19),
        (0.05, 0.5, 0.03, 25),
    ],
)
def test_power_reproduces_the_planning_table(spread: float, correlation: float, effect: float, blocks: int) -> None:
    log_sd = math.sqrt(2.0 * (1.0 - correlation)) * spread
    assert stats.blocks_for_difference(log_sd, math.log1p(effect)) == blocks


@pytest.mark.parametrize(("delta", "blocks"), [(0.02, 22), (0.03, 11), (0.05, 5)])
def test_equivalence_power_reproduces_the_planning_table(delta: float, blocks: int) -> None:
    assert stats.blocks_for_equivalence(0.03, delta) == blocks


@pytest.mark.parametrize(("alpha", "blocks"), [(0.05, 6), (0.05 / 3, 7), (0.05 / 6, 8)])
def test_fewest_blocks_for_a_sign_flip(alpha: float, blocks: int) -> None:
    assert stats.blocks_for_sign_flip(alpha) == blocks
    assert stats.smallest_sign_flip_p(blocks) <= alpha < stats.smallest_sign_flip_p(blocks - 1)
