"""Slips of a hand, and what mends them."""

import random

import pytest

from bakeoff.audit.repairs import repairs
from tests.unit.audit import made


@pytest.mark.parametrize(
    ("stands", "true", "slip"),
    [
        ("2385.7", "238.57", "point"),
        ("235.87", "238.57", "exchanged"),
        ("2388.57", "238.57", "doubled"),
        ("23.57", "238.57", "lost"),
        ("12606", "123606", "lost"),
        ("238.97", "238.57", "digit"),
    ],
)
def test_the_likeliest_slip_comes_first(stands: str, true: str, slip: str) -> None:
    found = repairs(stands, float(true) - 0.004, float(true) + 0.004)
    assert found[0].slip == slip and float(found[0].text) == float(true)


@pytest.mark.parametrize("factor", [1000.0, 1024.0])
def test_another_unit_is_told_by_its_factor(factor: float) -> None:
    found = repairs(f"{347.3 * factor:.0f}", 347.29, 347.31)
    assert ("unit", factor) in {(one.slip, one.factor) for one in found} or found[0].slip == "point"


def test_nothing_mends_what_no_slip_made() -> None:
    assert repairs("500", 7123.0, 7124.0) == () and repairs("", 1.0, 2.0) == ()
    assert repairs("500", float("nan"), 1.0) == () and repairs("9" * 40, 1.0, 2.0) == ()


@pytest.mark.parametrize("slip", [made.lost, made.doubled, made.exchanged])
def test_every_slip_can_be_mended(slip: made.Slip) -> None:
    for seed in range(200):
        rng = random.Random(seed)
        true = f"{rng.uniform(100, 9999):.2f}"
        stands = slip(rng, true)
        if stands != true:
            assert repairs(stands, float(true) - 0.0049, float(true) + 0.0049), (true, stands)
