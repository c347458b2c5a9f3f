"""What telemetry says of the measured window of a trial. An interval at its edge counts by its share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bakeoff.store.records.run_records import TrialRecord
from bakeoff.telemetry.model import CONTENDER, GENERATOR, Telemetry

# So much of a window must have been seen for a figure of it.
SEEN_SHARE = 0.95


def of_contender(trial: TrialRecord) -> Telemetry | None:
    """What was seen of the contender of a trial; None where nobody looked."""
    return next((seen for seen in trial.telemetry if seen.role == CONTENDER), None)


def of_generators(trial: TrialRecord) -> tuple[Telemetry, ...]:
    """What was seen of the machines that sent it."""
    return tuple(seen for seen in trial.telemetry if seen.role == GENERATOR)


def growth(seen: Telemetry, series: Sequence[str]) -> float:
    """How much these series together grew in the window; NaN where too little of it was seen."""
    begin_s, end_s = seen.window_s
    if end_s <= begin_s or any(name not in seen.series for name in series):
        return math.nan
    total = covered_s = 0.0
    for place, share in _inside(seen):
        values = [seen.series[name][place] for name in series]
        if any(value is None for value in values):
            continue
        total += share * sum(value or 0.0 for value in values)
        covered_s += share * seen.width_s[place]
    whole_s = end_s - begin_s
    return total * whole_s / covered_s if covered_s >= SEEN_SHARE * whole_s else math.nan


def per_s(seen: Telemetry, series: Sequence[str]) -> float:
    """The same by the window's length."""
    return growth(seen, series) / (seen.window_s[1] - seen.window_s[0]) if is_whole(seen) else math.nan


def level(seen: Telemetry, name: str) -> float:
    """The mean of what is not counted, over the window; NaN where nobody knows."""
    values = seen.series.get(name, ())
    total = length_s = 0.0
    for place, share in _inside(seen):
        value = values[place] if values else None
        if value is not None:
            total += value * share * seen.width_s[place]
            length_s += share * seen.width_s[place]
    return total / length_s if length_s > 0 else math.nan


def highest(seen: Telemetry, name: str) -> float:
    """The highest value in the window; NaN where nobody knows."""
    values = seen.series.get(name, ())
    inside = [value for place, _ in _inside(seen) if place < len(values) and (value := values[place]) is not None]
    return max(inside, default=math.nan)


def is_whole(seen: Telemetry) -> bool:
    """Whether the window was seen."""
    covered_s = sum(share * seen.width_s[place] for place, share in _inside(seen))
    return covered_s >= SEEN_SHARE * (seen.window_s[1] - seen.window_s[0]) > 0


def parts(seen: Telemetry, sort: str) -> tuple[str, ...]:
    """The names of its disks (`disk`) or links (`net`) that did anything."""
    return tuple(dict.fromkeys(name.split("/")[1] for name in seen.series if name.startswith(f"{sort}/")))


def _inside(seen: Telemetry) -> Iterator[tuple[int, float]]:
    """Intervals that lie in the window, with the share of each that does."""
    begin_s, end_s = seen.window_s
    for place, (at_s, width_s) in enumerate(zip(seen.at_s, seen.width_s, strict=True)):
        inside_s = min(end_s, at_s + width_s) - max(begin_s, at_s)
        if inside_s > 0 and width_s > 0:
            yield place, min(1.0, inside_s / width_s)
