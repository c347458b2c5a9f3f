"""Samples something about once a second in a thread of its own, and knows what that costs.

A sample that fails is a gap, and never anything else: no trial waits for one longer than a moment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bakeoff.core.times import s_of
from bakeoff.telemetry.intervals import Intervals
from bakeoff.telemetry.model import MOST_GAPS, MOST_TEXT, Cost, Gap, Telemetry
from bakeoff.telemetry.reading import Reading, SampleError, Source

# What a sample may take, and how long the end of a trial waits for the last one.
SAMPLE_S, PATIENCE_S = 2.0, 2.5
# A tick that comes after so much of the time between two samples is one.
_MOST_EARLY = 0.8
# After so many failures in a row nobody samples again in this trial.
MOST_FAILURES = 3
Clock = Callable[[], float]


@dataclass
class _Seen:
    """What the thread fills, by its monotonic clock."""

    intervals: Intervals = field(default_factory=Intervals)
    gaps: list[tuple[float, float, str]] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)
    samples: int = 0
    cpu_s: float = 0.0
    remote_s: tuple[float, float] | None = None


class Sampler:
    """Samples from its making until `finish`, whenever somebody `tick`s: in a thread of its own, or not `alone` in the
    thread of who does. Whoever samples by the same source later shares its `turn`: a sample that hangs outlives its
    trial.
    """

    def __init__(
        self,
        source: Source,
        every_s: float,
        clock: Clock = time.monotonic,
        turn: threading.Lock | None = None,
        alone: bool = True,
    ) -> None:
        self._source, self._every_s, self._clock, self._turn = source, every_s, clock, turn or threading.Lock()
        self._over, self._seen, self._is_dropped = threading.Event(), _Seen(), False
        self._began_s = self._last_good_s = clock()
        self._traffic, self._helper_s = source.traffic(), source.helper_cpu_s()
        self._wanted, self._due_s = threading.Event(), self._began_s + _MOST_EARLY * every_s
        self._thread = threading.Thread(target=self._watch, name="bakeoff-telemetry", daemon=True) if alone else None
        if self._thread is None:
            self._sample()
        else:
            self._thread.start()

    def tick(self) -> None:
        """It is time for a sample, unless one was made just now."""
        now_s = self._clock()
        if now_s < self._due_s or self._over.is_set():
            return
        self._due_s = now_s + _MOST_EARLY * self._every_s
        if self._thread is None:
            self._sample()
        else:
            self._wanted.set()

    def stop(self) -> None:
        """No more samples; what was seen so far can still be had."""
        self._over.set()
        self._wanted.set()

    def drop(self) -> None:
        """Nobody wants what was seen: no sample begins any more, also none that waits for its turn."""
        self._is_dropped = True
        self.stop()

    def finish(self, role: str, name: str, source: str, traffic_s: float, window_s: tuple[float, float]) -> Telemetry:
        """What was seen. Traffic began at `traffic_s` of the clock, its window is told from there."""
        self.stop()
        if self._thread is None:
            self._sample()
        else:
            self._thread.join(PATIENCE_S)
        self._is_dropped = True
        seen, ended_s = self._seen, self._clock()
        cpu_s = max(seen.cpu_s, self._spent_s())
        is_late = self._thread is not None and self._thread.is_alive()
        late = [(self._began_s, ended_s, "it did not answer in time")] if is_late else []
        if late and seen.intervals.at_s:
            late = [(seen.intervals.at_s[-1] + seen.intervals.width_s[-1], ended_s, late[0][2])]
        gaps = [
            Gap(from_s=_ms(from_s - traffic_s), to_s=_ms(to_s - traffic_s), why=why[:MOST_TEXT])
            for from_s, to_s, why in [*list(seen.gaps)[: MOST_GAPS - 1], *late]
        ]
        sent, received = self._source.traffic()
        remote_s = None if seen.remote_s is None else max(0.0, seen.remote_s[1] - seen.remote_s[0])
        processors = seen.intervals.each_processor(traffic_s + window_s[0], traffic_s + window_s[1])
        return Telemetry.model_validate(
            {
                "role": role,
                "name": name,
                "source": source,
                "window_s": window_s,
                "at_s": tuple(_ms(at_s - traffic_s) for at_s in seen.intervals.at_s),
                "width_s": tuple(_ms(width_s) for width_s in seen.intervals.width_s),
                "series": seen.intervals.series(),
                "facts": seen.facts | ({"resets": seen.intervals.resets} if seen.intervals.resets else {}),
                "processor_shares": processors.each,
                "busiest_share": processors.busiest,
                "gaps": gaps,
                "cost": Cost(
                    samples=seen.samples,
                    cpu_s=cpu_s + max(0.0, self._source.helper_cpu_s() - self._helper_s),
                    remote_cpu_s=remote_s,
                    out_bytes=max(0, sent - self._traffic[0]),
                    in_bytes=max(0, received - self._traffic[1]),
                ),
            }
        )

    def _spent_s(self) -> float:
        """Processor time of the thread, that of a sample that hangs among it; 0 when it has ended, or nobody tells."""
        if self._thread is None:
            return 0.0
        try:
            text = Path(f"/proc/self/task/{self._thread.native_id}/schedstat").read_text()
        except OSError:
            return 0.0
        return s_of(int(text.split()[0]))

    def _watch(self) -> None:
        failures = 0
        while failures < MOST_FAILURES:
            failures = 0 if self._sample() else failures + 1
            if self._over.is_set():
                return
            self._wanted.wait()
            self._wanted.clear()
            if self._over.is_set() and failures:
                return
        self._over.wait()
        self._gap(self._clock(), "it did not answer before")

    def _sample(self) -> bool:
        cpu_s = time.thread_time()
        try:
            with self._turn:
                if self._is_dropped:
                    return False
                began_s = self._clock()
                reading = self._source.sample(SAMPLE_S)
        except Exception as error:  # whatever it is, the trial goes on
            self._gap(self._clock(), str(error) if isinstance(error, SampleError) else repr(error))
            self._seen.intervals.broken()
            return False
        finally:
            self._seen.cpu_s += time.thread_time() - cpu_s
        self._take((began_s + self._clock()) / 2, reading)
        return True

    def _take(self, at_s: float, reading: Reading) -> None:
        seen = self._seen
        if seen.gaps and seen.gaps[-1][0] == self._last_good_s:  # it is over
            seen.gaps[-1] = (self._last_good_s, at_s, seen.gaps[-1][2])
        seen.samples += 1
        seen.facts |= reading.facts
        seen.intervals.add(at_s, reading)
        self._last_good_s = at_s
        if reading.remote_cpu_s is not None:
            first_s = reading.remote_cpu_s if seen.remote_s is None else seen.remote_s[0]
            seen.remote_s = (min(first_s, reading.remote_cpu_s), reading.remote_cpu_s)

    def _gap(self, at_s: float, why: str) -> None:
        """Nothing is known since the last sample that was good."""
        seen, since_s = self._seen, self._last_good_s
        if seen.gaps and seen.gaps[-1][0] == since_s:
            seen.gaps[-1] = (since_s, at_s, seen.gaps[-1][2])
        elif len(seen.gaps) < MOST_GAPS:
            seen.gaps.append((since_s, at_s, why))


def _ms(seconds: float) -> float:
    return round(seconds, 4)
