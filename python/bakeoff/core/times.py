"""Times from one unit to another: what is measured is stored in nanoseconds, and read in milliseconds or seconds.

No other module divides or multiplies a time by a million or a thousand million.
"""

import math
from typing import overload


@overload
def ms_of(time_ns: float) -> float: ...
@overload
def ms_of(time_ns: float | None) -> float | None: ...
def ms_of(time_ns: float | None) -> float | None:
    """Milliseconds of nanoseconds; of a time that is not known neither."""
    return None if time_ns is None else time_ns / 1e6


def ms_or_nan(time_ns: float | None) -> float:
    """The same, where NaN stands for what is not known."""
    return math.nan if time_ns is None else time_ns / 1e6


def s_of(time_ns: float) -> float:
    """Seconds of nanoseconds."""
    return time_ns / 1e9


def ns_of(time_s: float) -> float:
    """Nanoseconds of seconds."""
    return time_s * 1e9


def ns_of_ms(time_ms: float) -> float:
    """Nanoseconds of milliseconds."""
    return time_ms * 1e6


def s_of_us(time_us: float) -> float:
    """Seconds of the microseconds in which kernels count."""
    return time_us / 1e6


def us_of(time_s: float) -> float:
    """Microseconds of seconds."""
    return time_s * 1e6
