"""One-sided tests against a limit: golden numbers, and simulated rates of error at the limit itself."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from bakeoff import stats

RUNS = 4000
ALPHA = 0.045
LIMIT = math.log(0.97)
# Four standard errors of a share near 2.25 % in RUNS runs.
SLACK = 4.0 * math.sqrt(0.0225 * 0.9775 / RUNS)


def logs(seed: int, blocks: int, spread: float, ratio: float, runs: int = RUNS) -> NDArray[np.float64]:
    """Paired log-ratios, shape (runs, blocks)."""
    return np.random.default_rng(seed).normal(math.log(ratio), spread, (runs, blocks))


def judged(values: NDArray[np.float64], alpha: float = ALPHA, limit: float = LIMIT) -> list[stats.AgainstLimit]:
    return [stats.against_limit(float(row.mean()), float(row.std(ddof=1)), row.size, limit, alpha) for row in values]


def test_golden() -> None:
    row = np.array([-0.011, 0.002, -0.024, 0.009, -0.003, -0.017])
    found = judged(row[None, :])[0]
    assert found.p_within == pytest.approx(scipy_stats.ttest_1samp(row, LIMIT, alternative="greater").pvalue, rel=1e-9)
    assert found.p_beyond == pytest.approx(scipy_stats.ttest_1samp(row, LIMIT, alternative="less").pvalue, rel=1e-9)
    ends = scipy_stats.ttest_1samp(row, 0.0).confidence_interval(1.0 - ALPHA)
    assert (found.low, found.high) == pytest.approx((math.exp(ends.low), math.exp(ends.high)), rel=1e-9)


def test_interval_and_tests_agree() -> None:
    for found in judged(logs(1, 6, 0.03, 0.98, 500)):
        assert (found.p_within < ALPHA / 2.0) == (found.low > 0.97)
        assert (found.p_beyond < ALPHA / 2.0) == (found.high < 0.97)


@pytest.mark.parametrize(("blocks", "spread"), [(6, 0.005), (6, 0.05), (8, 0.02), (20, 0.1)])
def test_at_the_limit_either_error_is_as_rare_as_promised(blocks: int, spread: float) -> None:
    found = judged(logs(2, blocks, spread, 0.97))
    passed = sum(each.p_within <= ALPHA / 2.0 for each in found) / RUNS
    worse = sum(each.p_beyond <= ALPHA / 2.0 for each in found) / RUNS
    assert abs(passed - ALPHA / 2.0) <= SLACK
    assert abs(worse - ALPHA / 2.0) <= SLACK


def test_blocks_that_are_added_do_not_let_more_through() -> None:
    """Whoever analyses, adds as many blocks when it is open, and analyses again is held to stricter levels."""
    eight, sixteen = stats.nominal_levels((8, 16), (0.045, 0.0475))
    values = logs(3, 16, 0.02, 0.97)
    first, second = judged(values[:, :8]), judged(values)
    passed = worse = naive = 0
    for early, late in zip(first, second, strict=True):
        settled = min(early.p_within, early.p_beyond) <= eight / 2.0
        within, beyond = (early, eight) if settled else (late, sixteen)
        passed += within.p_within <= beyond / 2.0
        worse += within.p_beyond <= beyond / 2.0
        naive += (early if settled else late).p_within <= 0.025
    assert passed / RUNS <= 0.025 + SLACK
    assert worse / RUNS <= 0.025 + SLACK
    assert naive > passed


@pytest.mark.parametrize("ratio", [1.0, 0.93])
def test_the_number_of_blocks_settles_it_in_four_of_five_cases(ratio: float) -> None:
    blocks = stats.blocks_for_limit(math.log(ratio), 0.05, LIMIT, ALPHA)
    assert blocks is not None
    found = judged(logs(4, blocks, 0.05, ratio))
    settled = sum((each.p_within if ratio > 0.97 else each.p_beyond) <= ALPHA / 2.0 for each in found) / RUNS
    assert 0.77 <= settled <= 0.86


def test_edges() -> None:
    assert math.isnan(stats.against_limit(0.0, math.nan, 1, LIMIT, ALPHA).p_within)
    assert math.isnan(stats.against_limit(math.nan, 0.1, 6, LIMIT, ALPHA).p_within)
    same = stats.against_limit(0.0, 0.0, 6, LIMIT, ALPHA)
    assert (same.p_within, same.p_beyond, same.low, same.high) == (0.0, 1.0, 1.0, 1.0)
    below = stats.against_limit(-0.1, 0.0, 6, LIMIT, ALPHA)
    assert (below.p_within, below.p_beyond) == (1.0, 0.0)
    at = stats.against_limit(LIMIT, 0.0, 6, LIMIT, ALPHA)
    assert (at.p_within, at.p_beyond) == (1.0, 1.0)
    assert stats.blocks_for_limit(LIMIT, 0.1, LIMIT, ALPHA) is None
    assert stats.blocks_for_limit(0.0, math.nan, LIMIT, ALPHA) is None


def test_the_how_to_has_the_numbers_of_blocks() -> None:
    page = Path(__file__).parents[3] / "docs/how-to/ci.md"
    rows = re.findall(r"^\| (\d+) % \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", page.read_text(), re.MULTILINE)
    assert len(rows) == 4
    for spread, *one in rows:
        for limit, blocks in zip((2, 3, 5, 10), one, strict=True):
            needed = stats.blocks_for_limit(0.0, int(spread) / 100.0, math.log1p(-limit / 100.0), ALPHA)
            assert needed is not None
            assert max(6, needed) == int(blocks)
