"""What the order of trials does to calls, of servers on a machine that wanders: a seeded simulation, no clock."""

import numpy as np
import pytest
from scipy import stats

from bakeoff.plan.design.order import order_trials
from bakeoff.stats import trapezoid_weights
from tests.unit.plan.test_order import plan

RUNS, BLOCKS, LEVEL = 2000, 8, 0.045
LOAD_STEPS = (1, 4, 8)


def share_called(order: str, difference: float) -> float:
    """How many runs call two contenders different that are apart by a logarithm of `difference`. What a trial finds has
    noise of 1 % of its own, and the machine wanders by 2 % from each trial to the next.
    """
    rng, share, called = (
        np.random.default_rng(20261122),
        dict(zip(LOAD_STEPS, trapezoid_weights(LOAD_STEPS), strict=True)),
        0,
    )
    for seed in range(10):
        trials = order_trials(plan(2, BLOCKS, seed, order))
        signs = np.array([1.0 if trial.contender == "c0" else -1.0 for trial in trials])
        weights = np.array([share[trial.load_step.clients] for trial in trials])
        blocks = np.array([trial.block for trial in trials])
        wander = rng.normal(0.0, 0.02, (RUNS // 10, len(trials))).cumsum(axis=1)
        seen = wander + rng.normal(0.0, 0.01, wander.shape) + (signs > 0) * difference
        ratios = np.stack([(seen * signs * weights)[:, blocks == b].sum(axis=1) for b in range(1, BLOCKS + 1)], axis=1)
        called += int((stats.ttest_1samp(ratios, 0.0, axis=1).pvalue < LEVEL).sum())
    return called / RUNS


@pytest.mark.parametrize("order", ["load_steps", "contenders"])
def test_equals_on_a_machine_that_wanders_are_called_different_in_five_percent_at_most(order: str) -> None:
    # Of 2,000 runs at a level of 4.5 % more than 137 are a chance of one in a million.
    assert share_called(order, 0.0) <= 137 / 2000


def test_back_to_back_a_difference_of_three_percent_is_called_far_more_often() -> None:
    load_steps, slots = share_called("load_steps", 0.03), share_called("contenders", 0.03)
    assert load_steps > 0.97 and slots < 0.75, (load_steps, slots)
