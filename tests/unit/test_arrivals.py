"""Shapes of arrivals as values: JSON that loses nothing, text, and how many starts each implies."""

from typing import Any

import pytest

from bakeoff.load.arrivals import (
    SHAPES,
    Arrivals,
    Burst,
    Constant,
    OnOff,
    Poisson,
    Ramp,
    Replay,
    Steps,
    Uniform,
    arrivals_from_json,
    arrivals_to_json,
)

EACH: list[tuple[Arrivals, str]] = [
    (Constant(), "constant"),
    (Poisson(), "poisson"),
    (Uniform(), "uniform"),
    (Ramp(0.2, 1.8), "ramp:0.2-1.8"),
    (Steps(((0.5, 10.0), (2.0, 5.0))), "steps:0.5x10s,2x5s"),
    (Burst(10), "burst:10"),
    (OnOff(1.0, 4.0), "on-off:1s/4s"),
    (Replay((0.0, 0.5, 0.5, 2.0)), "file"),
]


@pytest.mark.parametrize(("arrivals", "text"), EACH)
def test_a_shape_comes_back_from_its_json(arrivals: Arrivals, text: str) -> None:
    stored = arrivals_to_json(arrivals)
    assert arrivals_from_json(stored) == arrivals
    assert (stored["shape"], str(arrivals)) == (arrivals.shape, text)
    assert hash(arrivals) == hash(arrivals_from_json(stored))


def test_every_shape_is_tried() -> None:
    assert {arrivals.shape for arrivals, _ in EACH} == set(SHAPES)


@pytest.mark.parametrize(
    ("arrivals", "begin_s", "end_s", "starts"),
    [
        (Constant(), 10.0, 30.0, 2000.0),
        (Ramp(0.0, 2.0), 0.0, 100.0, 10_000.0),
        (Ramp(0.0, 2.0), 0.0, 50.0, 2_500.0),
        (Ramp(2.0, 0.0), 50.0, 100.0, 2_500.0),
        (Steps(((0.5, 10.0), (2.0, 5.0))), 0.0, 15.0, 1_500.0),
        (Steps(((0.5, 10.0), (2.0, 5.0))), 8.0, 12.0, 500.0),
        (Steps(((0.5, 10.0), (2.0, 5.0))), 14.0, 17.0, 300.0),
        (OnOff(1.0, 4.0), 0.0, 5.0, 500.0),
        (OnOff(1.0, 4.0), 1.0, 5.0, 0.0),
        (OnOff(1.0, 4.0), 0.5, 5.5, 500.0),
        (Burst(10), 0.0, 10.0, 1_000.0),
        (Replay((0.0, 0.5, 0.5, 2.0)), 0.5, 2.0, 2.0),
    ],
)
def test_what_a_shape_plans_between_two_moments(
    arrivals: Arrivals, begin_s: float, end_s: float, starts: float
) -> None:
    assert arrivals.planned(100.0, begin_s, end_s, 100.0) == pytest.approx(starts)


def test_chance_has_a_part_in_two_of_them() -> None:
    by_chance = {arrivals.shape for arrivals, _ in EACH if arrivals.deviation(300.0)}
    assert by_chance == {"poisson", "uniform"}
    assert (Poisson().deviation(300.0), Uniform().deviation(300.0)) == (pytest.approx(300**0.5), 10.0)


def test_the_highest_rate_of_a_shape() -> None:
    assert [arrivals.peak for arrivals, _ in EACH] == [1.0, 1.0, 1.0, 1.8, 2.0, 1.0, 5.0, 1.0]


@pytest.mark.parametrize(
    "value",
    [
        "constant",
        {},
        {"shape": "often"},
        {"shape": 7},
        {"shape": "constant", "size": 1},
        {"shape": "ramp", "from": 1.0},
        {"shape": "ramp", "from": 0, "to": 0},
        {"shape": "ramp", "from": -1, "to": 1},
        {"shape": "ramp", "start": 1, "end": 1},
        {"shape": "steps", "steps": []},
        {"shape": "steps", "steps": [[0.0, 1.0]]},
        {"shape": "steps", "steps": [[1.0, 0.0]]},
        {"shape": "steps", "steps": [[1.0]]},
        {"shape": "burst", "size": 0},
        {"shape": "burst", "size": "3"},
        {"shape": "burst", "size": 2.5},
        {"shape": "on_off", "on_s": 0, "off_s": 1},
        {"shape": "replay", "at_s": [2.0, 1.0]},
        {"shape": "replay", "at_s": [float("nan")]},
        {"shape": "replay", "at_s": [-1.0]},
        {"shape": "replay", "at_s": [True]},
    ],
)
def test_what_cannot_be_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        arrivals_from_json(value)
