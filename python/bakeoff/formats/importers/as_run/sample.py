"""One sample of a foreign file, as a trial will have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bakeoff.load.load_step import LoadStep

# Figures of a trial's record by the sample's own that they come from.
_FIGURES = {
    "length_s": ("window_s",),
    "operations": ("operations", "operations_per_s"),
    "bytes_in": ("bytes_in", "bytes_per_s"),
    "bytes_out": ("bytes_out",),
}


@dataclass(frozen=True)
class Sample:
    """One contender at one load, measured once; `file` is the position of its file. What is None is not stated.
    `workload` is what is told of a trial beside its counts (`store/records/figures.py`).
    """

    contender: str
    load_step: LoadStep
    file: int
    length_s: float | None = None
    operations: int | None = None
    bytes_in: int | None = None
    bytes_out: int | None = None
    errors: Mapping[str, int] | None = None
    workload: Mapping[str, Any] = field(default_factory=dict)

    def not_stated(self) -> list[str]:
        """The figures of a trial's record that nobody states."""
        missing = {name for own, names in _FIGURES.items() if getattr(self, own) is None for name in names}
        return sorted(missing | ({"operations_per_s", "bytes_per_s"} if not self.length_s else set()))
