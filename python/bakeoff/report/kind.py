"""What reports know of a kind of workload."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReportPart:
    """The part of a kind for reports; the defaults do for any kind."""


DEFAULT = ReportPart()
