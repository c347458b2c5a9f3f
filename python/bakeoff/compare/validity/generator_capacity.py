"""How much the generator could have asked at most: what it asks of the null server on loopback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bakeoff.core.thresholds import is_capacity
from bakeoff.store.records.run_records import CAPACITY_WHY_NOT, GENERATOR_CAPACITIES, RunRecord


@dataclass(frozen=True)
class GeneratorCapacity:
    """Operations a second of all machines that sent load, and how they asked: `words`. `busy_share` is how much of that
    time their load threads worked, None where it was not looked at.
    """

    operations_per_s: float
    words: str
    busy_share: float | None = None

    @property
    def is_floor(self) -> bool:
        """Whether the generator could have asked more: the server was slower than it, or it had no processor."""
        return not is_capacity(self.busy_share)

    @property
    def at_least(self) -> str:
        """What stands before the number."""
        return "at least " if self.is_floor else ""


def generator_capacities(run: RunRecord) -> Mapping[str, GeneratorCapacity]:
    """By contender the generator capacity of the way in which it is asked; without those of whom it was not measured
    against a
    server.
    """
    stored = run.environment.get(GENERATOR_CAPACITIES)
    if not isinstance(stored, dict):
        return {}
    known = {c.name: _read(stored.get(c.name)) for c in run.contenders}
    return {name: capacity for name, capacity in known.items() if capacity is not None}


def unmeasured_capacities(run: RunRecord) -> Mapping[str, str]:
    """By contender why its generator capacity could not be measured where there is a server for its way of asking."""
    stored = run.environment.get(GENERATOR_CAPACITIES)
    if not isinstance(stored, dict):
        return {}
    why = {name: each.get(CAPACITY_WHY_NOT) for name, each in stored.items() if isinstance(each, dict)}
    return {name: reason for name, reason in why.items() if isinstance(reason, str)}


def common_capacity(run: RunRecord) -> GeneratorCapacity | None:
    """The one of all contenders; None where they have none, or several."""
    found = generator_capacities(run)
    same = len(set(found.values())) == 1 and all(c.name in found for c in run.contenders)
    return next(iter(found.values())) if same else None


def _read(stored: object) -> GeneratorCapacity | None:
    per_s, words = (stored.get("operations_per_s"), stored.get("words")) if isinstance(stored, dict) else (None, None)
    if not isinstance(per_s, int | float) or not isinstance(words, str):
        return None
    busy = stored.get("busy_share") if isinstance(stored, dict) else None
    return GeneratorCapacity(float(per_s), words, float(busy) if isinstance(busy, int | float) else None)
