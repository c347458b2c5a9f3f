"""Zeros, missing values, few blocks, curves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bakeoff import stats
from bakeoff.stats.intervals.bands import BONFERRONI, MAX_T

NAN = math.nan


def test_zero_and_missing_pairs_are_left_out() -> None:
    found = stats.paired_log_ratio([2.0, 0.0, NAN, 8.0, 5.0], [1.0, 1.0, 1.0, 4.0, -1.0])
    assert found.blocks == 2
    assert found.ratio == pytest.approx(2.0)


def test_one_pair_has_no_interval_and_none_has_no_ratio() -> None:
    one = stats.paired_log_ratio([2.0], [1.0])
    assert one.ratio == pytest.approx(2.0)
    assert math.isnan(one.low)
    assert math.isnan(one.p_t)
    assert math.isnan(stats.paired_log_ratio([0.0], [1.0]).ratio)


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="one shape"):
        stats.paired_log_ratio([1.0, 2.0], [1.0])


def test_values_without_spread() -> None:
    same = stats.paired_log_ratio([3.0] * 6, [3.0] * 6)
    assert (same.ratio, same.p_t, same.p_flip) == (1.0, 1.0, 1.0)
    assert stats.equivalence_p(same.log_mean, same.log_sd, 6, 0.05) == 0.0
    double = stats.paired_log_ratio([6.0] * 6, [3.0] * 6)
    assert double.p_t < 1e-30
    assert double.p_flip == 2.0 / 64.0


def test_large_sign_flip_is_repeatable_and_never_zero() -> None:
    logs = np.full(20, 0.1)
    assert 0.0 < stats.sign_flip_p(logs) < 0.001
    assert stats.sign_flip_p(logs) == stats.sign_flip_p(logs)


@pytest.mark.parametrize(
    ("logs", "outcome"),
    [
        ([0.20, 0.22, 0.18, 0.21, 0.19, 0.20], "higher"),
        ([-0.20, -0.22, -0.18, -0.21, -0.19, -0.20], "lower"),
        ([0.010, -0.012, 0.004, -0.003, 0.006, -0.002], "equivalent"),
        ([0.30, -0.25, 0.10, 0.05, -0.20, 0.15], "inconclusive"),
        ([0.020, 0.021, 0.019, 0.020, 0.022, 0.018], "equivalent"),
        ([0.20, 0.22, 0.18, 0.21, 0.19], "too_few"),
    ],
)
def test_the_verdicts(logs: list[float], outcome: str) -> None:
    found = stats.ratio_from_logs(logs)
    tost = stats.equivalence_p(found.log_mean, found.log_sd, found.blocks, 0.05)
    decision = stats.decide(found, 0.05, found.p_t, tost)
    assert decision.outcome == outcome
    if outcome == "too_few":
        assert decision.more_blocks == 1
    if outcome == "inconclusive":
        assert decision.more_blocks is not None
        assert decision.more_blocks >= 1


def test_a_correction_that_fails_takes_the_verdict_away() -> None:
    found = stats.ratio_from_logs([0.20, 0.22, 0.18, 0.21, 0.19, 0.20])
    assert stats.decide(found, 0.05, found.p_t, 1.0).outcome == "higher"
    assert stats.decide(found, 0.05, 0.051, 1.0, comparisons=3).outcome == "inconclusive"


def test_the_sign_flip_test_can_take_a_verdict_away() -> None:
    """Six pairs of which one goes the other way: the t test is convinced, the flips are not."""
    found = stats.ratio_from_logs([0.30, 0.28, 0.33, 0.29, 0.31, -0.002])
    assert found.low > 1.0
    assert found.p_flip > 0.05
    assert stats.decide(found, 0.05, found.p_t, 1.0).outcome == "inconclusive"


def test_an_effect_at_the_margin_needs_no_promised_number() -> None:
    logs = math.log(1.05) - 1e-9 + np.array([0.03, -0.03, 0.04, -0.04, 0.02, -0.02])
    found = stats.ratio_from_logs(logs)
    assert stats.decide(found, 0.05, 1.0, 1.0).more_blocks is None


def test_bands_hold_the_plain_interval_and_fall_back() -> None:
    random = np.random.default_rng(3)
    logs = random.normal(0.1, 0.02, size=(4, 8))
    joint = stats.simultaneous_bands(logs)
    assert joint.method == MAX_T
    for row, low, high in zip(logs, joint.log_low, joint.log_high, strict=True):
        plain = stats.ratio_from_logs(row)
        assert low < math.log(plain.low) < math.log(plain.high) < high
    assert stats.simultaneous_bands(logs[:, :5]).method == BONFERRONI
    logs[1, 2] = NAN
    holed = stats.simultaneous_bands(logs)
    assert holed.method == BONFERRONI
    assert holed.blocks.tolist() == [8, 7, 8, 8]
    logs[0, :] = NAN
    assert math.isnan(stats.simultaneous_bands(logs).log_low[0])


def test_one_load_step_has_the_plain_interval() -> None:
    logs = [0.1, 0.12, 0.09, 0.11, 0.1, 0.13]
    plain, band = stats.ratio_from_logs(logs), stats.simultaneous_bands([logs])
    assert math.exp(band.log_low[0]) == pytest.approx(plain.low)


def test_weights_of_the_load_steps() -> None:
    assert stats.trapezoid_weights([8]).tolist() == [1.0]
    assert stats.trapezoid_weights([1, 4, 16]) == pytest.approx([0.25, 0.5, 0.25])
    with pytest.raises(ValueError, match="rise"):
        stats.trapezoid_weights([4, 1])


def test_peak_knee_and_collapse() -> None:
    means = [100.0, 380.0, 395.0, 400.0, NAN, 300.0]
    found = stats.saturation(means)
    assert found is not None
    assert (found.peak, found.knee) == (3, 1 if 380.0 >= 400.0 * 0.95 else 2)
    noise = np.array([0.99, 1.0, 1.01, 1.0, 0.995, 1.005])
    rates = np.array(means)[:, None] * noise[None, :]
    collapse = stats.collapse_after_peak(rates)
    assert collapse is not None
    assert collapse.shown
    assert collapse.ratio.ratio == pytest.approx(0.75)
    assert stats.collapse_after_peak(rates[:4]) is None
    assert stats.saturation([NAN, NAN]) is None


def test_fairness_and_littles_law() -> None:
    assert stats.jain_index([5.0, 5.0, 5.0]) == pytest.approx(1.0)
    assert stats.jain_index([9.0, 0.0, 0.0]) == pytest.approx(1.0 / 3.0)
    assert math.isnan(stats.jain_index([0.0, 0.0]))
    assert stats.littles_law_clients(1000.0, 0.004, 0.006) == pytest.approx(10.0)


def test_false_coverage_level() -> None:
    assert stats.fcr_level(4, 100) == pytest.approx(0.998)
    assert stats.fcr_level(0, 100) == pytest.approx(0.95)
