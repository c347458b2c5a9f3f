"""What one who asks for an audit says of the machines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Given:
    """Speeds in bytes a second and memory in bytes; None for what was not said."""

    link_bytes_per_s: float | None = None
    bus_bytes_per_s: float | None = None
    memory_bytes_per_s: float | None = None
    memory_bytes: float | None = None


NOTHING = Given()
