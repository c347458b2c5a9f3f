"""Why a contender lost a trial or a cell, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SomeClients:
    """These of so many clients, by number."""

    clients: tuple[int, ...]
    of: int
