"""Growth over rows: golden numbers, and how often it sees a trend where there is none."""

import math

import numpy as np
import pytest
from scipy import stats

from bakeoff.stats.series.trend import growth, queue_growth


def test_a_line_without_noise_is_found_to_the_digit() -> None:
    at = [0.5 + hour for hour in range(28)]
    found = growth(at, [100.0 * 1.03 ** (hour / 28) for hour in at], 28.0)
    assert found is not None
    assert (found.factor, found.low, found.high) == pytest.approx((1.03, 1.03, 1.03), rel=1e-9)


def test_the_slope_and_its_interval_are_those_of_scipy_where_rows_are_not_correlated() -> None:
    """Residuals that change sign from row to row are worth no fewer rows; `theilslopes` has the same order statistics,
    but for rounding them inwards.
    """
    at = np.arange(40.0)
    values = np.exp(0.01 * at + 0.05 * (-1.0) ** np.arange(40) * (1 + np.arange(40) % 7))
    found = growth(list(at), list(values), 1.0)
    assert found is not None and found.independent == 40
    slope, _, low, high = stats.theilslopes(np.log(values), at, 0.95)
    assert math.log(found.factor) == pytest.approx(slope, rel=1e-12)
    assert math.log(found.low) == pytest.approx(low, abs=5e-4) and math.log(found.high) == pytest.approx(high, abs=5e-4)


def test_thousands_of_rows_are_taken_together() -> None:
    at = np.arange(10_000) + 0.5
    found = growth(list(at), list(np.exp(at / 10_000 + 0.1 * np.random.default_rng(1).normal(size=10_000))), 10_000.0)
    assert found is not None and found.low < math.e < found.high and found.high / found.low < 1.02


def test_one_bad_row_moves_nothing() -> None:
    at = np.arange(28) + 0.5
    values = 100 * np.exp(0.001 * np.random.default_rng(1).normal(size=28))
    values[27] = 1e6
    found = growth(list(at), list(values), 28.0)
    assert found is not None and found.factor == pytest.approx(1.0, abs=0.01)


def test_fewer_than_six_rows_have_no_trend() -> None:
    assert growth([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], 5.0) is None


def test_what_stays_the_same_has_not_grown() -> None:
    found = growth(range(9), [7.0] * 9, 9.0)
    assert found is not None and (found.factor, found.low, found.high) == pytest.approx((1.0, 1.0, 1.0))


def test_a_drift_that_slows_down_is_seen() -> None:
    rng, seen = np.random.default_rng(3), 0
    for _ in range(200):
        at = np.arange(28) + 0.5
        found = growth(list(at), list(np.sqrt(1 + 20 * at) * np.exp(0.1 * rng.normal(size=28))), 28.0)
        seen += found is not None and found.low > 1.0
    assert seen >= 180


@pytest.mark.parametrize(("correlation", "most"), [(0.0, 0.07), (0.3, 0.08), (0.6, 0.11)])
def test_noise_is_rarely_called_a_trend(correlation: float, most: float) -> None:
    """28 rows whose noise is correlated, seeded."""
    rng, tries, seen = np.random.default_rng(1), 1000, 0
    for _ in range(tries):
        noise = np.empty(28)
        noise[0] = rng.normal() / math.sqrt(1 - correlation**2)
        for row in range(1, 28):
            noise[row] = correlation * noise[row - 1] + rng.normal()
        found = growth(list(np.arange(28) + 0.5), list(np.exp(5 + 0.02 * noise)), 28.0)
        assert found is not None
        seen += not found.low <= 1.0 <= found.high
    assert seen / tries <= most


STRETCHES = np.arange(51) / 50


def queue_of(pause: tuple[float, float] = (0.0, 0.0), speed: float = 1.5, window_s: float = 10.0) -> list[int]:
    """The queue of a server under 1,000/s that could answer `speed` times as many, and pauses from one moment to
    another, s.
    """
    length, lengths = 0.0, []
    for at_s in STRETCHES * window_s:
        lengths.append(round(length))
        able = 0.0 if pause[0] <= at_s < pause[1] else speed
        length = max(0.0, length + (1.0 - able) * 1000.0 * window_s / 50)
    return lengths


def test_a_queue_grows_that_grows_all_through_the_window_and_no_other() -> None:
    assert queue_growth(queue_of(speed=0.95)) == pytest.approx(500, abs=1)
    assert queue_growth(queue_of(speed=0.995)) == pytest.approx(50, abs=1)
    assert queue_growth(queue_of(speed=1.0)) == 0.0
    for begin_s in (0.0, 4.0, 7.0, 9.0):
        assert queue_growth(queue_of((begin_s, begin_s + 1.0), 1.5)) == 0.0, begin_s
    assert queue_of((9.0, 11.0))[-1] == 1000
    # One that drains more slowly than it fills has a queue at most moments, and not a longer one at the end.
    every = [length for _ in range(3) for length in queue_of((0.0, 1.0), 1.15)[:-1]]
    assert queue_growth(every) == 0.0


def test_chance_is_no_growth_and_does_not_hide_one() -> None:
    """In 400 windows of a queue that is about as long all the time growth may be seen in one in forty."""
    rng = np.random.default_rng(1)
    steady = [queue_growth(list(rng.poisson(20.0, 51))) for _ in range(400)]
    assert sum(grown > 0.0 for grown in steady) <= 25
    growing = [queue_growth(list(rng.poisson(10.0 + 40.0 * STRETCHES))) for _ in range(50)]
    assert np.mean(growing) == pytest.approx(40.0, rel=0.1) and min(growing) > 20.0


def test_a_queue_that_fills_at_first_does_not_grow() -> None:
    """Replies take a second, and the window begins before the first is there."""
    lengths = [round(100 * min(1.0, 0.4 + 1.7 * at)) for at in STRETCHES]
    assert queue_growth(lengths, 1.0 / 1.7) == 0.0 and queue_growth([1, 2, 3]) == 0.0
