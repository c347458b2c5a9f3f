"""What samples a contender, by the words of `--watch`."""

from __future__ import annotations

from pathlib import Path

from bakeoff.telemetry import where
from bakeoff.telemetry.readers.exporter import Exporter
from bakeoff.telemetry.readers.local_contender import WatchedGroup, WatchedPidFile, WatchedProcess
from bakeoff.telemetry.readers.over_ssh import OverSsh
from bakeoff.telemetry.reading import Source


def source_of(place: where.Where) -> Source:
    """Nothing is sampled yet."""
    if place.sort == where.PID:
        return WatchedProcess(int(place.what))
    if place.sort == where.PIDFILE:
        return WatchedPidFile(Path(place.what))
    if place.sort == where.CGROUP:
        return WatchedGroup(place.what)
    return OverSsh(place) if place.sort == where.SSH else Exporter(place.what)
