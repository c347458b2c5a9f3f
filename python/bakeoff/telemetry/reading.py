"""One sample of a machine or a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from bakeoff.telemetry.readers.processors import Spent


class SampleError(Exception):
    """Nothing could be seen; the text says why, in a few words."""


@dataclass
class Reading:
    """`counters` grow as long as a machine or a process lives, `gauges` are what holds just now, by the names of
    `bakeoff.telemetry.names`; `facts` do not change. `processors` is what each of them has spent. `remote_cpu_s` is
    what all samples so far have cost there.
    """

    counters: dict[str, float] = field(default_factory=dict)
    gauges: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    remote_cpu_s: float | None = None
    processors: Spent | None = None

    def with_(self, other: Reading) -> Reading:
        """Both in one; what stands in both is the other's."""
        return Reading(
            {**self.counters, **other.counters},
            {**self.gauges, **other.gauges},
            {**self.facts, **other.facts},
            self.remote_cpu_s if other.remote_cpu_s is None else other.remote_cpu_s,
            self.processors if other.processors is None else other.processors,
        )


class Source(Protocol):
    """Where samples come from. Used by one thread at a time."""

    def sample(self, deadline_s: float) -> Reading:
        """What can be seen now, in `deadline_s` at most. Raises SampleError."""

    def traffic(self) -> tuple[int, int]:
        """Bytes sent and received for all samples so far; both 0 where none leave the machine."""

    def helper_cpu_s(self) -> float:
        """Processor time of a helper process here that samples, so far."""

    def close(self) -> None:
        """No more samples. Raises nothing."""


class QuietSource:
    """A source on this machine, which sends nothing and needs no helper: to be derived from."""

    def traffic(self) -> tuple[int, int]:
        return 0, 0

    def helper_cpu_s(self) -> float:
        return 0.0

    def close(self) -> None:
        pass
