"""Steadiness with known answers: what is made up is found, and noise alone hardly ever is anything."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from bakeoff.load.steadiness import FEWEST_SECONDS
from bakeoff.stats.series import stationarity
from bakeoff.stats.series.stationarity import Steadiness, effective_rows, mser5, steadiness

RUNS = 150
Logs = NDArray[np.float64]


def ar(random: np.random.Generator, rows: int, kept: float, spread: float) -> Logs:
    """AR(1) with `spread` as its own standard deviation."""
    logs = np.empty(rows + 50)
    logs[0] = 0.0
    for at, shock in enumerate(random.normal(0.0, spread * math.sqrt(1.0 - kept**2), rows + 49), 1):
        logs[at] = kept * logs[at - 1] + shock
    return logs[50:]


def judged(course: Logs, seed: int, kept: float = 0.0, spread: float = 0.03) -> list[Steadiness]:
    """Of seeded noise upon a course of logarithms."""
    random = np.random.default_rng(seed)
    found = [steadiness(1000.0 * np.exp(course + ar(random, course.size, kept, spread))) for _ in range(RUNS)]
    return [each for each in found if each is not None]


def share(found: list[bool]) -> float:
    return sum(found) / RUNS


@pytest.mark.parametrize(("rows", "kept", "most"), [(20, 0.0, 0.01), (60, 0.0, 0.01), (20, 0.5, 0.04), (60, 0.5, 0.03)])
def test_noise_is_steady(rows: int, kept: float, most: float) -> None:
    for spread in (0.03, 0.15):
        found = judged(np.zeros(rows), 65, kept, spread)
        assert share([not each.is_steady for each in found]) <= most


@pytest.mark.parametrize("warm_up", [3, 5, 10, 20])
def test_a_warm_up_of_so_many_seconds_is_found(warm_up: int) -> None:
    course = np.where(np.arange(60) < warm_up, math.log(0.7), 0.0)
    found = judged(course, 66)
    assert share([each.settled > 0 for each in found]) >= 0.99
    assert np.median([each.settled for each in found]) == pytest.approx(warm_up, abs=2)
    assert np.median([each.early for each in found]) == pytest.approx(0.7, abs=0.06)
    assert share([bool(each.changes) or each.growth != 1.0 for each in found]) <= 0.03


def test_a_slow_warm_up_is_cut_where_it_is_over() -> None:
    """Half of the rate is missing at first, a time of five seconds, so that after ten 7 % are, and after twenty 1 %."""
    found = judged(np.log1p(-0.5 * np.exp(-np.arange(60) / 5.0)), 67)
    assert share([each.settled > 0 for each in found]) >= 0.99
    assert 8 <= np.median([each.settled for each in found]) <= 22


def test_a_change_in_the_middle_is_found_where_it_is() -> None:
    found = judged(np.where(np.arange(60) < 40, 0.0, math.log(0.9)), 68)
    places = [each.changes[0] for each in found if len(each.changes) == 1]
    assert len(places) >= 0.97 * RUNS
    assert np.median([at for at, _ in places]) == 40.0
    assert np.median([by for _, by in places]) == pytest.approx(0.9, abs=0.01)


def test_a_drift_is_a_drift_and_no_staircase() -> None:
    found = judged(np.linspace(0.0, math.log(0.92), 60), 69, spread=0.02)
    assert share([each.growth < 1.0 for each in found]) >= 0.97
    assert np.median([each.growth for each in found]) == pytest.approx(0.92, abs=0.01)


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.6, 0.8])
def test_correlated_rows_are_worth_as_many_as_theory_says(kept: float) -> None:
    random = np.random.default_rng(70)
    found = [effective_rows(ar(random, 1000, kept, 1.0)) for _ in range(60)]
    assert np.median(found) == pytest.approx(1000 * (1.0 - kept) / (1.0 + kept), rel=0.15)


def test_mser_5_cuts_off_what_is_not_yet_steady() -> None:
    random = np.random.default_rng(71)
    values = random.normal(100.0, 3.0, 200)
    values[:40] += 60.0 * np.exp(-np.arange(40) / 12.0)
    assert 15 <= mser5(values) <= 60 and mser5(values) % 5 == 0
    assert mser5([1.0] * 9) == 0


def test_a_pause_of_one_second_is_no_change_and_odd_input_no_error() -> None:
    values = 1000.0 * np.exp(np.random.default_rng(72).normal(0.0, 0.03, 60))
    values[30] = 0.0
    found = steadiness(values)
    assert found is not None and found.is_steady
    assert steadiness(values[:19]) is None and steadiness(np.zeros(60)) is None and steadiness([]) is None
    even = steadiness(np.full(30, 500.0))
    assert even is not None and even.is_steady and even.effective == 30.0
    assert FEWEST_SECONDS == stationarity.FEWEST_ROWS
