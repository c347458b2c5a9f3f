"""What a foreign file says, before it is a run.

Required is what means something by itself: who was measured under which load, how much was done, and in which time.
What a tool does not state is left out, never made up: there is no plan, no histogram and nothing about the generator,
unless a file has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bakeoff.core.errors import PlanError
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY, Summary


@dataclass(frozen=True)
class Sample:
    """One contender at one number of clients, measured once: what was done in `length_s` seconds.

    `workload` is what the kind of suite tells of its trials (`kinds/NAME/figures.py`), `service` the times of
    single operations, where the file has them. `errors` are None where the tool states none.
    """

    clients: int
    length_s: float
    operations: int
    bytes_in: int
    bytes_out: int
    errors: Mapping[str, int] | None = None
    service: Summary = EMPTY_SUMMARY
    workload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Foreign:
    """One file: figures of one contender. `tool` is the tool's own name with its version, `kind` the kind of suite
    that its figures are of, `began` an ISO moment if the file has one, `stated` what it says of the way of
    measuring.
    """

    tool: str
    kind: str
    samples: tuple[Sample, ...]
    began: str | None = None
    stated: Mapping[str, str] = field(default_factory=dict)


class Importer(Protocol):
    """What the module of an importer has."""

    def read(self, text: str) -> Foreign:
        """A file's content. Raises PlanError that names the line at fault; never believes what it cannot tell."""


def refuse(line: int, what: str) -> PlanError:
    """The error for a line (from 1) that cannot be read."""
    return PlanError(f"line {line}: {what}")
