"""From samples to intervals: how much was done between two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bakeoff.telemetry.model import MOST_INTERVALS, MOST_SERIES
from bakeoff.telemetry.names import counter_doc
from bakeoff.telemetry.readers.processors import ProcessorShares, Spent, in_window
from bakeoff.telemetry.reading import Reading

# So many figures of a value are kept.
FIGURES = 9


@dataclass
class Intervals:
    """Of one trial; moments are those of a monotonic clock, s. Memory is bounded: where there are too many intervals,
    two neighbours become one, and of those that gaps keep apart one is forgotten.
    """

    at_s: list[float] = field(default_factory=list)
    width_s: list[float] = field(default_factory=list)
    values: list[dict[str, float]] = field(default_factory=list)
    processors: list[Spent | None] = field(default_factory=list)
    resets: int = 0
    _last: tuple[float, Reading] | None = None

    def add(self, at_s: float, reading: Reading) -> None:
        """A sample at this moment."""
        if self._last is not None and at_s > self._last[0]:
            began_s, before = self._last
            self.at_s.append(began_s)
            self.width_s.append(at_s - began_s)
            self.values.append(self._grown(before, reading))
            now, earlier = reading.processors, before.processors
            self.processors.append(None if now is None or earlier is None else now.since(earlier))
            if len(self.values) >= MOST_INTERVALS:
                self._halve()
        self._last = at_s, reading

    def broken(self) -> None:
        """A sample failed: the next one begins again."""
        self._last = None

    def _grown(self, before: Reading, after: Reading) -> dict[str, float]:
        grown = {}
        for name, value in after.counters.items():
            was = before.counters.get(name)
            if was is None:
                continue
            if value < was:  # what counted was started again: nobody knows how far it had come
                self.resets += 1
                continue
            grown[name] = value - was
        return grown | after.gauges

    def _halve(self) -> None:
        at_s, width_s, values, processors = [], [], [], []
        for place in range(0, len(self.values) - 1, 2):
            whole_s = self.at_s[place + 1] + self.width_s[place + 1] - self.at_s[place]
            joined = self.width_s[place] + self.width_s[place + 1]
            if whole_s > joined * 1.001:  # a gap lies between them
                at_s += self.at_s[place : place + 2]
                width_s += self.width_s[place : place + 2]
                values += self.values[place : place + 2]
                processors += self.processors[place : place + 2]
                continue
            at_s.append(self.at_s[place])
            width_s.append(whole_s)
            values.append(_joined(self.values[place], self.values[place + 1]))
            one, other = self.processors[place : place + 2]
            processors.append(None if one is None or other is None else one.with_(other))
        # Those that gaps keep apart do not become one: of too many each second one is forgotten, a wider gap.
        step = 2 if len(values) > MOST_INTERVALS * 3 // 4 else 1
        self.at_s, self.width_s, self.values, self.processors = (
            at_s[::step],
            width_s[::step],
            values[::step],
            processors[::step],
        )

    def each_processor(self, begin_s: float, end_s: float) -> ProcessorShares:
        """Of a window by the same clock."""
        spans = zip(list(self.at_s), list(self.width_s), list(self.processors), strict=False)
        return in_window(spans, begin_s, end_s)

    def series(self) -> dict[str, tuple[float | None, ...]]:
        """Values of each interval by name, without parts that never did anything."""
        names = sorted({name for values in self.values for name in values})
        idle = _idle(names, self.values)
        kept = [name for name in names if name.rpartition("/")[0] not in idle][:MOST_SERIES]
        return {name: tuple(_short(values.get(name)) for values in self.values) for name in kept}


def _joined(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Growth adds up where both know it; of the rest the later value holds."""
    joined = {}
    for name, value in other.items():
        doc = counter_doc(name)
        if doc is None or not doc.counted:
            joined[name] = value
        elif name in one:
            joined[name] = one[name] + value
    return joined


def _idle(names: list[str], values: list[dict[str, float]]) -> set[str]:
    """Disks and links that did nothing: `disk/sda`."""
    parts = {name.rpartition("/")[0] for name in names if "/" in name}
    busy = {name.rpartition("/")[0] for each in values for name, value in each.items() if value and "/" in name}
    return parts - busy


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{FIGURES}g}")
