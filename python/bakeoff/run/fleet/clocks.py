"""What the clocks of several machines show at one moment, so that all of them can begin at it.

Only monotonic clocks are compared: a wall clock may be set, and changes nothing.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

ROUNDS = 20
MARGIN_NS = 100_000_000  # until the start: all know it then, and their virtual users are made, on busy machines, too
BARRIER_NS = 50_000_000  # the same in the middle of a trial, where everything is ready
ROUND_TRIPS = 20  # the same, where machines are far away


@dataclass(frozen=True)
class ClockCheck:
    """An agent's clock against the one here: it shows `offset_ns` more, give or take half of `round_trip_ns`."""

    offset_ns: int
    round_trip_ns: int

    @property
    def error_ns(self) -> int:
        """How far off it may be."""
        return self.round_trip_ns // 2

    def there(self, here_ns: int) -> int:
        """What its clock shows at a moment of the one here."""
        return here_ns + self.offset_ns

    def here(self, there_ns: int) -> int:
        """When, by the clock here, its clock shows this."""
        return there_ns - self.offset_ns


def check_clock(ask: Callable[[], int], now_ns: Callable[[], int] = time.monotonic_ns) -> ClockCheck:
    """Ask an agent's clock some times and take the shortest answer: it can be off by half of that at most."""
    checks: list[ClockCheck] = []
    for _ in range(ROUNDS):
        before_ns = now_ns()
        shown_ns = ask()
        after_ns = now_ns()
        checks.append(ClockCheck(shown_ns - (before_ns + after_ns) // 2, after_ns - before_ns))
    return min(checks, key=lambda check: check.round_trip_ns)


def common_start(checks: Sequence[ClockCheck], now_ns: int, margin_ns: int = MARGIN_NS) -> int:
    """The moment by the clock here at which all begin."""
    return now_ns + max([margin_ns, *(ROUND_TRIPS * check.round_trip_ns for check in checks)])
