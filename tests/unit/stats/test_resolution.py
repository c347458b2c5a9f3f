"""What a search's step and the unit of a count leave open is in every interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bakeoff.stats import equivalence_p, geometric_interval, ratio_between, ratio_from_logs

BLOCKS, RUNS = 8, 400


def bracket(truth: float, start: float, width: float) -> tuple[float, float]:
    """The last load that met, and the first that missed, of a search by steps of a share from `start` up."""
    steps = math.floor(math.log(truth / start) / math.log1p(width) + 1e-12)
    return start * (1.0 + width) ** steps, start * (1.0 + width) ** (steps + 1)


@pytest.mark.parametrize("spread", [0.0, 0.002, 0.02])
@pytest.mark.parametrize("width", [0.005, 0.02, 0.05])
def test_the_step_of_a_search_is_in_the_interval(spread: float, width: float) -> None:
    """Whatever the true ratio, on a grid that is the same in each block: the interval holds it at least as often as it
    says, and the test that nothing differs errs in no more than it says.
    """
    random = np.random.default_rng(7)
    covered, called, equal = 0, 0, 0
    for _ in range(RUNS):
        ratio = 1.0 if random.random() < 0.25 else math.exp(random.uniform(-0.1, 0.1))
        base = math.exp(random.uniform(6.0, 8.0))
        low, high = np.empty(BLOCKS), np.empty(BLOCKS)
        for block in range(BLOCKS):
            one, other = (x * math.exp(random.normal(0.0, spread)) for x in (base, base * ratio))
            (met, missed), (met_b, missed_b) = bracket(one, 10.0, width), bracket(other, 10.0, width)
            low[block], high[block] = math.log(met_b / missed), math.log(missed_b / met)
        found = ratio_between(low, high)
        covered += found.low <= ratio * (1 + 1e-12) and ratio <= found.high * (1 + 1e-12)
        if ratio == 1.0:
            equal += 1
            called += found.p_t < 0.05
    assert covered >= 0.95 * RUNS
    assert called <= 0.05 * equal + 3.0 * math.sqrt(0.05 * equal)


def test_capacities_of_a_thousand_and_five_per_cent_more() -> None:
    """1,000 and 1,050/s, searched in steps of 1 %: the truth is inside, and equality is not."""
    logs = [
        (math.log(b[0] / a[1]), math.log(b[1] / a[0])) for a, b in [(bracket(1000, 7, 0.01), bracket(1050, 7, 0.01))]
    ]
    found = ratio_between([logs[0][0]] * 6, [logs[0][1]] * 6)
    assert found.low < 1.05 < found.high and found.low > 1.0 and found.p_t < 0.05
    narrow = ratio_between([logs[0][0] - 0.06] * 6, [logs[0][1]] * 6)
    assert narrow.low < 1.0 and narrow.p_t == 1.0 and narrow.p_flip == 1.0


def test_counts_that_agree_in_every_block_still_have_a_width() -> None:
    """335 and 334 answers in each block: one more or less is what a count tells."""
    logs = [math.log(334 / 335)] * 8
    exact, counted = ratio_from_logs(logs), ratio_from_logs(logs, resolution=1 / 335 + 1 / 334)
    assert exact.low == pytest.approx(exact.high) and exact.p_t == 0.0
    assert counted.low < 1.0 < counted.high and counted.p_t > 0.05
    assert equivalence_p(counted.log_mean, counted.log_sd, 8, 0.05) < 0.01
    mean = geometric_interval([3097.0] * 6, resolution=1 / 3097)
    assert mean.low == pytest.approx(3096, abs=0.01) and mean.high == pytest.approx(3098, abs=0.01)


def test_a_spread_that_is_wider_than_the_resolution_is_left_alone() -> None:
    logs = np.random.default_rng(1).normal(0.05, 0.02, 8)
    assert ratio_from_logs(logs) == ratio_from_logs(logs, resolution=0.001)
