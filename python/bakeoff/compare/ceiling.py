"""How much the generator could have asked at most: what it asks of a server on loopback that does nothing."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.store.records import CEILING, RunRecord


@dataclass(frozen=True)
class Ceiling:
    """Operations a second of all machines that sent load, and how they asked: `words`."""

    operations_per_s: float
    words: str


def ceiling_of(run: RunRecord) -> Ceiling | None:
    """The ceiling of a run; None where it was not measured against a server."""
    words = run.environment.get(CEILING)
    if run.null_operations_per_s is None or not isinstance(words, str):
        return None
    return Ceiling(run.null_operations_per_s, words)
