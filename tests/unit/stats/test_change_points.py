"""Known answers of change points: series with and without changes, by simulation and by hand."""

import numpy as np
import pytest

from bakeoff.stats import change_points

SERIES = 200


def noise(random: np.random.Generator, runs: int, tails: bool) -> np.ndarray:
    return 0.03 * (random.standard_t(3, runs) / np.sqrt(3.0) if tails else random.normal(0.0, 1.0, runs))


@pytest.mark.parametrize("tails", [False, True])
@pytest.mark.parametrize("runs", [8, 20, 60])
def test_a_steady_series_shows_a_change_seldom(runs: int, tails: bool) -> None:
    """At 1 % nominal; 4 % of 200 series is what chance hardly ever reaches."""
    random = np.random.default_rng(7)
    found = sum(bool(change_points(np.exp(noise(random, runs, tails)))) for _ in range(SERIES))
    assert found <= 0.04 * SERIES


@pytest.mark.parametrize(("runs", "at"), [(9, 6), (20, 12), (60, 50)])
@pytest.mark.parametrize("factor", [0.85, 1.18])
def test_a_step_of_five_standard_deviations_is_found_where_it_is(runs: int, at: int, factor: float) -> None:
    random = np.random.default_rng(8)
    hits, ratios = 0, []
    for _ in range(SERIES):
        logs = noise(random, runs, tails=False)
        logs[at:] += np.log(factor)
        found = change_points(1000.0 * np.exp(logs))
        hits += len(found) == 1 and abs(found[0].first - at) <= 1
        ratios += [one.ratio for one in found]
    assert hits >= 0.85 * SERIES
    assert np.median(ratios) == pytest.approx(factor, rel=0.02)


def test_two_steps_are_two_changes_with_their_own_ratios() -> None:
    logs = 0.01 * np.random.default_rng(1).normal(0.0, 1.0, 30)
    logs[10:] += np.log(0.8)
    logs[20:] += np.log(1.25)
    found = change_points(np.exp(logs))
    assert [one.first for one in found] == [10, 20]
    assert [one.ratio for one in found] == pytest.approx([0.8, 1.25], rel=0.02)
    assert all(one.low < one.ratio < one.high and one.p < 0.01 for one in found)


def test_one_bad_run_and_what_is_too_short_or_too_small_are_no_change() -> None:
    level = np.exp(0.01 * np.random.default_rng(2).normal(0.0, 1.0, 20))
    level[9] /= 4.0
    assert change_points(level) == ()
    assert change_points([100.0, 100.0, 100.0, 50.0, 50.0]) == ()
    assert change_points([100.0] * 10 + [100.5] * 10) == ()
    assert change_points([]) == ()


def test_an_exact_step_without_noise_is_certain() -> None:
    (found,) = change_points([100.0] * 5 + [50.0] * 5)
    assert found.first == 5 and found.p < 1e-12
    assert found.ratio == pytest.approx(0.5)


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_what_has_no_logarithm_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="positive finite"):
        change_points([1.0, bad, 2.0])
