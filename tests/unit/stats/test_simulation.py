"""Promises kept under simulation, seeded: false alarms, coverage, equivalence error, joint bands.

Run-to-run spread is log-normal; a block effect shared by both contenders must cancel out.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from bakeoff import stats

RUNS = 2000
# Three standard errors of a share near 5 % in RUNS runs.
SLACK = 3.0 * math.sqrt(0.05 * 0.95 / RUNS)


def pairs(
    seed: int, blocks: int, spread: float, ratio: float = 1.0
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    random = np.random.default_rng(seed)
    made = []
    for _ in range(RUNS):
        level = 1000.0 * np.exp(random.normal(0.0, 0.1, blocks))
        made.append(
            (
                level * ratio * np.exp(random.normal(0.0, spread, blocks)),
                level * np.exp(random.normal(0.0, spread, blocks)),
            )
        )
    return made


def outcome(numerator: NDArray[np.float64], denominator: NDArray[np.float64], delta: float) -> str:
    found = stats.paired_log_ratio(numerator, denominator)
    tost = stats.equivalence_p(found.log_mean, found.log_sd, found.blocks, delta)
    return stats.decide(found, delta, found.p_t, tost).outcome


@pytest.mark.parametrize("spread", [0.005, 0.01, 0.02, 0.05])
@pytest.mark.parametrize("blocks", [6, 8])
def test_equal_contenders_are_rarely_called_better(spread: float, blocks: int) -> None:
    """Even with delta 0, where only the tests stand between noise and a verdict."""
    calls = [outcome(a, b, 0.0) for a, b in pairs(11, blocks, spread)]
    assert sum(call in ("higher", "lower") for call in calls) / RUNS <= 0.05 + SLACK
    with_delta = [outcome(a, b, 0.05) for a, b in pairs(11, blocks, spread)]
    assert sum(call in ("higher", "lower") for call in with_delta) / RUNS <= 0.05


@pytest.mark.parametrize(
    ("blocks", "spread", "ratio"), [(6, 0.005, 1.0), (8, 0.03, 1.0), (8, 0.05, 1.2), (20, 0.02, 0.7)]
)
def test_intervals_cover(blocks: int, spread: float, ratio: float) -> None:
    hits = 0
    for numerator, denominator in pairs(12, blocks, spread, ratio):
        found = stats.paired_log_ratio(numerator, denominator)
        hits += found.low <= ratio <= found.high
    assert 0.93 <= hits / RUNS <= 0.97


def test_equivalence_is_rarely_claimed_at_the_margin() -> None:
    calls = [outcome(a, b, 0.05) for a, b in pairs(13, 8, 0.02, 1.05)]
    assert sum(call == "equivalent" for call in calls) / RUNS <= 0.05 + SLACK


def test_equal_contenders_are_usually_called_equivalent_when_quiet() -> None:
    calls = [outcome(a, b, 0.05) for a, b in pairs(14, 8, 0.01)]
    assert sum(call == "equivalent" for call in calls) / RUNS >= 0.95


def test_a_real_difference_is_found_at_the_promised_power() -> None:
    blocks = stats.blocks_for_difference(math.sqrt(2.0) * 0.05, math.log(1.10))
    assert blocks is not None
    calls = [outcome(a, b, 0.0) for a, b in pairs(15, blocks, 0.05, 1.10)]
    assert sum(call == "higher" for call in calls) / RUNS >= 0.75


@pytest.mark.parametrize(("load_steps", "blocks", "shared"), [(3, 6, 0.0), (16, 6, 0.5), (16, 8, 0.9), (8, 5, 0.5)])
def test_bands_cover_all_load_steps_together(load_steps: int, blocks: int, shared: float) -> None:
    random = np.random.default_rng(16)
    hits = 0
    runs = 800
    for _ in range(runs):
        together = random.normal(0.0, math.sqrt(shared), (1, blocks))
        logs = 0.1 + 0.03 * (together + random.normal(0.0, math.sqrt(1.0 - shared), (load_steps, blocks)))
        bands = stats.simultaneous_bands(logs)
        hits += bool(((bands.log_low <= 0.1) & (bands.log_high >= 0.1)).all())
    assert hits / runs >= 0.95 - 3.0 * math.sqrt(0.05 * 0.95 / runs)


def test_benjamini_hochberg_keeps_false_discoveries_down() -> None:
    random = np.random.default_rng(17)
    shares = []
    for _ in range(300):
        z = random.normal(size=128)
        z[:16] += 4.0
        p = np.array([math.erfc(abs(value) / math.sqrt(2.0)) for value in z])
        picked = stats.benjamini_hochberg(p) <= 0.05
        shares.append(picked[16:].sum() / max(1, picked.sum()))
    assert float(np.mean(shares)) <= 0.05 + 0.01
