"""What comparisons know of a kind of workload."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ComparePart:
    """The part of a kind for comparisons; the defaults do for any kind."""


DEFAULT = ComparePart()
