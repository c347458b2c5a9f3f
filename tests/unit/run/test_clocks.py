"""One moment on machines whose clocks know nothing of each other."""

from collections.abc import Callable

import pytest

from bakeoff.run.fleet.clocks import MARGIN_NS, ROUND_TRIPS, ROUNDS, ClockCheck, check_clock, common_start

HOUR_NS = 3_600_000_000_000


class Far:
    """A clock that is `ahead_ns` ahead and gains `gain` on the one here; `ways` are question and answer, ns."""

    def __init__(self, ahead_ns: int, ways: Callable[[int], tuple[int, int]], gain: float = 0.0) -> None:
        self.now_ns, self.asked = 10 * HOUR_NS, 0
        self._ahead_ns, self._ways, self._gain = ahead_ns, ways, gain

    def shows(self) -> int:
        return round(self.now_ns * (1 + self._gain)) + self._ahead_ns

    def ask(self) -> int:
        there_ns, back_ns = self._ways(self.asked)
        self.asked += 1
        self.now_ns += there_ns
        shown_ns = self.shows()
        self.now_ns += back_ns
        return shown_ns


@pytest.mark.parametrize("ahead_ns", [0, 5 * HOUR_NS, -9 * HOUR_NS, 1])
def test_the_shortest_answer_of_twenty_counts(ahead_ns: int) -> None:
    far = Far(ahead_ns, lambda nth: (40_000, 40_000) if nth == 13 else (60_000 + 1_000 * nth, 5_000_000))
    check = check_clock(far.ask, lambda: far.now_ns)
    assert check == ClockCheck(ahead_ns, 80_000) and far.asked == ROUNDS


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_an_uneven_way_is_wrong_by_half_of_the_round_trip_at_most(share: float) -> None:
    far = Far(HOUR_NS, lambda nth: (round(200_000 * share), round(200_000 * (1 - share))))
    check = check_clock(far.ask, lambda: far.now_ns)
    assert abs(check.offset_ns - HOUR_NS) <= check.round_trip_ns / 2 == 100_000


def test_a_clock_that_drifts_is_right_for_as_long_as_the_start_is_away() -> None:
    """200 ppm is more than a broken crystal has: 100 ms later that is 20 \u00b5s."""
    far = Far(-HOUR_NS, lambda nth: (50_000, 50_000), gain=200e-6)
    check = check_clock(far.ask, lambda: far.now_ns)
    start_ns = common_start([check], far.now_ns)
    far.now_ns = start_ns
    assert abs(far.shows() - check.there(start_ns)) < 25_000


def test_a_moment_there_is_the_same_moment_here() -> None:
    check = ClockCheck(7 * HOUR_NS, 1_000)
    assert check.here(check.there(123)) == 123


def test_the_start_is_as_far_away_as_the_farthest_agent_needs() -> None:
    assert common_start([], 5) == 5 + MARGIN_NS
    assert common_start([ClockCheck(0, 1_000), ClockCheck(-HOUR_NS, 2_000)], 5) == 5 + MARGIN_NS
    far = ClockCheck(0, 30_000_000)
    assert common_start([ClockCheck(0, 1_000), far], 5) == 5 + ROUND_TRIPS * far.round_trip_ns
