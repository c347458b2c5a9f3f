"""Load steps as values: how each is shown, what it implies, and that its JSON loses nothing."""

from typing import Any

import pytest

from bakeoff.load.arrivals import Constant, Poisson
from bakeoff.load.load_step import Clients, InFlight, LoadStep, Rate, load_step_from_json, load_steps_from_json

RATE = Rate(1500.0, Poisson(), 64)
EVEN = {"shape": "constant"}


@pytest.mark.parametrize(
    ("load_step", "label", "words", "unit", "x", "clients"),
    [
        (Clients(1), "1", "1 client", "clients", 1, 1),
        (Clients(1200), "1200", "1,200 clients", "clients", 1200, 1200),
        (RATE, "1500", "1,500/s", "offered/s", 1500, 64),
        (InFlight(2, 16), "2 × 16", "2 × 16 in flight", "clients × in flight", 32, 2),
        (Rate(0.5, Constant(), 1), "0.5", "0.5/s", "offered/s", 0.5, 1),
    ],
)
def test_a_load_step_knows_how_it_is_shown(
    load_step: LoadStep, label: str, words: str, unit: str, x: float, clients: int
) -> None:
    assert (str(load_step), load_step.words, load_step.unit, load_step.x, load_step.clients) == (
        label,
        words,
        unit,
        x,
        clients,
    )


def test_a_load_step_knows_what_it_implies() -> None:
    assert (Clients(8).sessions(virtual_users=2), RATE.sessions(virtual_users=2)) == (16, None)


def test_what_a_contender_is_asked_for_stands_in_the_live_line() -> None:
    assert (Clients(8).asked, RATE.asked) == ("8 clients", "1,500/s offered")


@pytest.mark.parametrize("load_step", [Clients(7), InFlight(2, 16), RATE])
def test_a_load_step_comes_back_from_its_json(load_step: LoadStep) -> None:
    assert load_step_from_json(load_step.to_json()) == load_step_from_json(load_step) == load_step


@pytest.mark.parametrize(
    "value",
    [
        4,
        None,
        {},
        {"clients": 0},
        {"clients": "4"},
        {"clients": True},
        {"clients": 1, "rate": {}},
        {"clients": 1, "outstanding": 0},
        {"clients": 1, "outstanding": "4"},
        {"clients": True, "outstanding": 4},
        {"outstanding": 4},
        {"crowd": 1},
        {"rate": 5},
        {"rate": {"per_s": 0, "arrivals": EVEN, "most_connections": 1}},
        {"rate": {"per_s": float("nan"), "arrivals": EVEN, "most_connections": 1}},
        {"rate": {"per_s": 1, "arrivals": {"shape": "often"}, "most_connections": 1}},
        {"rate": {"per_s": 1, "arrivals": EVEN, "most_connections": 0}},
        {"rate": {"per_s": 1, "arrivals": EVEN, "most_connections": 1.5}},
        {"rate": {"per_s": 1, "arrivals": EVEN}},
        {"rate": {"per_s": 1, "arrivals": "constant", "most_connections": 1}},
        {"rate": {"per_s": 1e8, "arrivals": EVEN, "most_connections": 1}},
    ],
)
def test_what_is_no_load_step_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        load_step_from_json(value)


def test_load_steps_of_a_sort_rise() -> None:
    assert sorted([Clients(10), Clients(9)]) == [Clients(9), Clients(10)]
    assert sorted([InFlight(1, 16), InFlight(2, 4)]) == [InFlight(2, 4), InFlight(1, 16)]
    assert sorted([Rate(10, Constant(), 1), Rate(9, Constant(), 1)])[0].per_s == 9


def test_a_depth_is_no_matter_of_the_load_and_load_steps_are_of_one_sort() -> None:
    assert InFlight(2, 16).load == Clients(2) and RATE.load is RATE
    with pytest.raises(ValueError, match="of one sort"):
        load_steps_from_json([{"clients": 1}, {"clients": 1, "outstanding": 4}])
