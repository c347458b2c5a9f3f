"""Percentiles over all that was tried: failures are the slowest. A server that resets its slow requests has a p99
without them, and none that stands for what its users had.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import Summary, missing_of

if TYPE_CHECKING:
    from bakeoff.compare.kind import ComparePart

SHARES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999), ("max", 1.0))


def all_attempts_ns(kind: ComparePart, trial: TrialRecord, figure: str) -> float:
    """A percentile of the response time over all tried operations, ns; infinite where it lies among the failed ones,
    NaN where nothing was measured.
    """
    times, missing = kind.response(trial), missing_of(trial)
    if not missing or not times.count:
        value = getattr(times, f"{figure}_ns")
        return math.nan if value is None else float(value)
    if trial.tried is not None and times == (trial.response or trial.service):
        value = getattr(trial.tried, f"{figure}_ns")
        return math.inf if value is None else float(value)
    return _shifted(times, dict(SHARES)[figure] * (1.0 + missing / times.count))


def all_attempts_service_ns(kind: ComparePart, trial: TrialRecord, figure: str) -> float:
    """The same of service time, over all that was begun."""
    times, failed = kind.service(trial), trial.errors_total
    value = getattr(times, f"{figure}_ns")
    if failed and times.count:
        return _shifted(times, dict(SHARES)[figure] * (1.0 + failed / times.count))
    return math.nan if value is None else float(value)


def _shifted(times: Summary, share: float) -> float:
    """The time that `share` of the answers kept, ns, read between the percentiles that are known: of times that have no
    histogram of their own.
    """
    if share > 1.0:
        return math.inf
    known = [(at, value) for name, at in SHARES if (value := getattr(times, f"{name}_ns")) is not None and value > 0]
    above = [(at, value) for at, value in known if at >= share]
    below = [(at, value) for at, value in known if at < share]
    if not above:
        return math.nan
    if not below or above[0][0] >= 1.0:
        return float(above[0][1])
    (low, low_ns), (high, high_ns) = below[-1], above[0]
    part = math.log((1.0 - low) / (1.0 - share)) / math.log((1.0 - low) / (1.0 - high))
    return float(low_ns * (high_ns / low_ns) ** part)
