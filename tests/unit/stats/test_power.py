"""The blocks that a plan names show what they are named for, as often as they are named for it: by simulation with the
rule of verdicts itself.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from bakeoff import stats

RUNS, ALPHA = 1500, 0.045
# Three standard errors of a share near 80 % in RUNS runs, and what rounding up to whole blocks brings.
SLACK = 3.0 * math.sqrt(0.8 * 0.2 / RUNS)


def outcomes(blocks: int, log_sd: float, log_effect: float, alpha: float, delta: float) -> list[str]:
    random = np.random.default_rng(41)
    made = []
    for _ in range(RUNS):
        found = stats.ratio_from_logs(random.normal(log_effect, log_sd, blocks), 0.95)
        tost = stats.equivalence_p(found.log_mean, found.log_sd, found.blocks, delta)
        made.append(stats.decide(found, delta, found.p_t, tost, alpha).outcome)
    return made


@pytest.mark.parametrize("power", [0.8, 0.9])
@pytest.mark.parametrize(
    ("log_sd", "difference", "alpha"), [(0.04, 0.05, ALPHA), (0.02, 0.03, ALPHA), (0.04, 0.05, ALPHA / 3.0)]
)
def test_a_difference_is_seen_as_often_as_planned(log_sd: float, difference: float, alpha: float, power: float) -> None:
    effect = math.log1p(difference)
    blocks = stats.blocks_with_power(lambda n: stats.power_of_difference(n, log_sd, effect, alpha), power)
    assert blocks is not None and blocks <= 16, "few enough for the exact sign-flip test"
    # With delta below the effect a clear lead is "higher"; near the margin it is seen all the same.
    share = sum(o in ("higher", "near_margin") for o in outcomes(blocks, log_sd, effect, alpha, 0.02)) / RUNS
    assert power - SLACK <= share
    assert share == pytest.approx(stats.power_of_difference(blocks, log_sd, effect, alpha), abs=SLACK)
    one_less = stats.power_of_difference(blocks - 1, log_sd, effect, alpha)
    assert one_less < power, "no fewer would do"


@pytest.mark.parametrize("power", [0.8, 0.9])
def test_equals_are_called_so_as_often_as_planned(power: float) -> None:
    blocks = stats.blocks_with_power(lambda n: stats.power_of_equivalence(n, 0.05, 0.05, ALPHA), power)
    assert blocks is not None
    share = outcomes(blocks, 0.05, 0.0, ALPHA, 0.05).count("equivalent") / RUNS
    assert share >= power - SLACK
    assert share == pytest.approx(stats.power_of_equivalence(blocks, 0.05, 0.05, ALPHA), abs=SLACK)


def test_six_blocks_are_the_fewest_and_what_never_shows_has_no_number() -> None:
    assert stats.blocks_with_power(lambda n: stats.power_of_difference(n, 0.001, 0.05, ALPHA), 0.9) == 6
    assert stats.blocks_with_power(lambda n: stats.power_of_difference(n, 0.0, 0.05, ALPHA), 0.9) == 6
    assert stats.blocks_with_power(lambda n: stats.power_of_difference(n, 9.0, 0.02, ALPHA), 0.8) is None
    assert stats.blocks_with_power(lambda n: stats.power_of_equivalence(n, 0.01, 0.0, ALPHA), 0.8) is None
    assert stats.power_of_difference(5, 0.01, 0.5, ALPHA) == 0.0


def test_power_rises_with_blocks_where_trying_out_gives_way_to_the_formula() -> None:
    powers = [stats.power_of_difference(n, 0.05, 0.05, ALPHA) for n in range(6, 30)]
    assert all(later > earlier - 0.01 for earlier, later in pairwise(powers))


def test_the_spread_of_a_pilot_is_known_within_its_interval() -> None:
    random = np.random.default_rng(5)
    spreads = random.normal(0.0, 0.03, (4000, 6)).std(axis=1, ddof=1)
    held = [low <= 0.03 <= high for low, high in (stats.spread_interval(float(sd), 6) for sd in spreads)]
    assert sum(held) / len(held) == pytest.approx(0.8, abs=0.02)
    assert all(map(math.isnan, stats.spread_interval(0.03, 1)))


@pytest.mark.parametrize("blocks", [6, 8, 20])
def test_the_smallest_difference_that_so_many_blocks_show(blocks: int) -> None:
    effect = stats.difference_with_power(blocks, 0.03, ALPHA, 0.8)
    assert stats.power_of_difference(blocks, 0.03, effect, ALPHA) == pytest.approx(0.8, abs=0.005)
    assert math.isnan(stats.difference_with_power(5, 0.03, ALPHA, 0.8))
