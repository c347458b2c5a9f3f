"""Arithmetic of intervals against every value inside them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bakeoff.audit.interval import Interval, most_common, sum_of

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3))


@st.composite
def inside(draw: st.DrawFn) -> tuple[Interval, float]:
    """An interval, and a value of it."""
    low, width = draw(NUMBERS), draw(st.floats(0, 100))
    return Interval.of(low, low + width), low + width * draw(st.floats(0, 1))


@given(inside(), inside())
def test_what_is_calculated_holds_what_values_give(one: tuple[Interval, float], other: tuple[Interval, float]) -> None:
    (a, x), (b, y) = one, other
    for interval, value in ((a + b, x + y), (a - b, x - y), (a * b, x * y)):
        slack = 1e-9 * max(1.0, abs(value))
        assert interval.low - slack <= value <= interval.high + slack
    quotient = a / b
    if float(b.low) > 0 or float(b.high) < 0:
        assert quotient.low - 1e-6 * abs(x / y) - 1e-9 <= x / y <= quotient.high + 1e-6 * abs(x / y) + 1e-9
    else:
        assert not quotient.known


def test_intervals_meet_where_they_share_a_value() -> None:
    digits = Interval.of(238.565, 238.575)
    assert digits.meets(238.57) and digits.meets(238.575) and digits.meets(Interval.of(238.575, 240))
    assert not digits.meets(238.58) and digits.is_below(238.58) and not digits.is_below(238.57)
    assert math.isclose(float(digits.gap(240.0)), 1.425 / 240)
    assert float(digits.gap(238.57)) == 0.0


def test_nothing_is_said_of_what_is_not_known() -> None:
    unknown = Interval.of(np.nan)
    assert unknown.meets(3.0) and not unknown.is_below(3.0) and not unknown.known
    assert not (unknown + 1.0).known and not (Interval.of(1.0) / Interval.of(-1.0, 1.0)).known


def test_the_value_that_most_intervals_have() -> None:
    value, times = most_common(Interval.of([1.0, 1.5, 1.8, 9.0, np.nan], [2.0, 2.5, 2.1, 9.5, np.nan]))
    assert times == 3 and 1.8 <= value <= 2.0
    assert most_common(Interval.of([np.nan]))[1] == 0
    touching, times = most_common(Interval.of([1.0, 2.0], [2.0, 3.0]))
    assert times == 2 and touching == 2.0


def test_sums() -> None:
    total = sum_of([Interval.of(1.0, 2.0), Interval.of(3.0, 3.5)])
    assert (float(total.low), float(total.high)) == (4.0, 5.5)
