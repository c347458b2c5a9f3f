"""Mixes as values: how each is shown, what it implies, and that its JSON loses nothing."""

from typing import Any

import pytest

from bakeoff.mix import Clients, Mix, Rate, mix_from_json

RATE = Rate(1500.0, "exponential", 64)


@pytest.mark.parametrize(
    ("mix", "label", "words", "unit", "x", "clients"),
    [
        (Clients(1), "1", "1 client", "clients", 1, 1),
        (Clients(1200), "1200", "1,200 clients", "clients", 1200, 1200),
        (RATE, "1500", "1,500 operations/s", "offered/s", 1500, 64),
        (Rate(0.5, "fixed", 1), "0.5", "0.5 operations/s", "offered/s", 0.5, 1),
    ],
)
def test_a_mix_knows_how_it_is_shown(mix: Mix, label: str, words: str, unit: str, x: float, clients: int) -> None:
    assert (str(mix), mix.words, mix.unit, mix.x, mix.clients) == (label, words, unit, x, clients)


def test_a_mix_knows_what_it_implies() -> None:
    assert (Clients(8).sessions(threads=2), Clients(8).offered(window_s=10)) == (16, None)
    assert (RATE.sessions(threads=2), RATE.offered(window_s=10)) == (None, 15_000)


@pytest.mark.parametrize("mix", [Clients(7), RATE])
def test_a_mix_comes_back_from_its_json(mix: Mix) -> None:
    assert mix_from_json(mix.to_json()) == mix_from_json(mix) == mix


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
        {"crowd": 1},
        {"rate": 5},
        {"rate": {"per_s": 0, "arrivals": "fixed", "most_clients": 1}},
        {"rate": {"per_s": float("nan"), "arrivals": "fixed", "most_clients": 1}},
        {"rate": {"per_s": 1, "arrivals": "often", "most_clients": 1}},
        {"rate": {"per_s": 1, "arrivals": "fixed", "most_clients": 0}},
        {"rate": {"per_s": 1, "arrivals": "fixed", "most_clients": 1.5}},
        {"rate": {"per_s": 1, "arrivals": "fixed"}},
    ],
)
def test_what_is_no_mix_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        mix_from_json(value)


def test_mixes_of_a_sort_rise() -> None:
    assert sorted([Clients(10), Clients(9)]) == [Clients(9), Clients(10)]
    assert sorted([Rate(10, "fixed", 1), Rate(9, "fixed", 1)])[0].per_s == 9
