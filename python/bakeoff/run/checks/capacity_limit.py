"""How much a generator can ask at most, as it was measured, and what that says of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bakeoff.core.thresholds import CAPACITY_FRACTION, is_capacity


@dataclass(frozen=True)
class GeneratorCapacity:
    """Operations a second that all agents asked at most, and each of them. `busy_share` is how much of that time their
    load threads worked, of the agent whose did least; None where nobody knows.
    """

    per_s: float
    by_agent: Mapping[str, float] = field(default_factory=dict)
    busy_share: float | None = None

    def of(self, agent: str) -> GeneratorCapacity | None:
        """That of one agent."""
        return replace(self, per_s=self.by_agent[agent]) if agent in self.by_agent else None

    def is_near(self, per_s: float, busy_share: float) -> bool:
        """Whether a trial with this rate, and with a load thread so busy, may be the generator's. Above what is no more
        than a lower bound only a thread that is busy says so.
        """
        if not self.per_s or per_s <= CAPACITY_FRACTION * self.per_s:
            return False
        return is_capacity(self.busy_share) or busy_share > CAPACITY_FRACTION
